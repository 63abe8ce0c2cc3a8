// LAPACK, opened when it is first used: the file TT_LAPACK names, else liblapack.so.3 (Debian: liblapack3, or libopenblas0). Never linked. Matrices are column by
// column there: a dense row-major one is its transpose.
//   const auto& f = backend::Lapack<double>::get();   f.getrf(&m, &n, a, &m, pivots, &info);
// Throws Unavailable, which names the package, without it. Names and arguments are LAPACK's (LAPACK Users' Guide, 3rd edition); integers have 32 bits.
#pragma once
#include <dlfcn.h>

#include <cstdlib>

#include "tt/core/error.hpp"

namespace tt::backend {

namespace detail {
/// The library's handle.
TT_LAZY void* lapack_library();
TT_LAZY void* lapack_function(const char* name);

#if TT_DEFINES(linalg)
TT_LAZY_DEFINITION void* lapack_library() {
  static void* const handle = [] {
    const char* const named = std::getenv("TT_LAPACK");
    for (const char* name : {named ? named : "liblapack.so.3", "libopenblas.so.0"}) {
      if (void* h = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return h;
      if (named) break;
    }
    TT_THROW(Unavailable(Text("tt::linalg: LAPACK cannot be opened: ") << dlerror() << ". Install liblapack3, or name the file in TT_LAPACK?"));
  }();
  return handle;
}
TT_LAZY_DEFINITION void* lapack_function(const char* name) {
  void* const f = dlsym(lapack_library(), name);
  if (!f) TT_THROW(Unavailable(Text("tt::linalg: this LAPACK has no ") << name << ". Install liblapack3?"));
  return f;
}
#endif
}  // namespace detail

template <class T>
struct Lapack {
  using I = int;
  void (*getrf)(const I* m, const I* n, T* a, const I* lda, I* pivots, I* info);
  void (*getrs)(const char* trans, const I* n, const I* nrhs, const T* a, const I* lda, const I* pivots, T* b, const I* ldb, I* info);
  void (*sytrf)(const char* uplo, const I* n, T* a, const I* lda, I* pivots, T* work, const I* lwork, I* info);
  void (*sytrs)(const char* uplo, const I* n, const I* nrhs, const T* a, const I* lda, const I* pivots, T* b, const I* ldb, I* info);
  void (*potrf)(const char* uplo, const I* n, T* a, const I* lda, I* info);
  void (*trtrs)(const char* uplo, const char* trans, const char* diag, const I* n, const I* nrhs, const T* a, const I* lda, T* b, const I* ldb, I* info);
  void (*geqrf)(const I* m, const I* n, T* a, const I* lda, T* tau, T* work, const I* lwork, I* info);
  void (*orgqr)(const I* m, const I* n, const I* k, T* a, const I* lda, const T* tau, T* work, const I* lwork, I* info);
  void (*syevd)(const char* jobz, const char* uplo, const I* n, T* a, const I* lda, T* w, T* work, const I* lwork, I* iwork, const I* liwork, I* info);
  void (*geev)(const char* jobvl, const char* jobvr, const I* n, T* a, const I* lda, T* wr, T* wi, T* vl, const I* ldvl, T* vr, const I* ldvr, T* work, const I* lwork, I* info);
  void (*gesdd)(const char* jobz, const I* m, const I* n, T* a, const I* lda, T* s, T* u, const I* ldu, T* vt, const I* ldvt, T* work, const I* lwork, I* iwork, I* info);

  static const Lapack& get() {
    static const Lapack table = [] {
      Lapack f;
      const auto find = [](auto*& function, const char* name) {
        char full[16] = {sizeof(T) == 4 ? 's' : 'd'};
        std::size_t n = 1;
        while (*name) full[n++] = *name++;
        full[n] = '_';
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(detail::lapack_function(full));
      };
      find(f.getrf, "getrf");
      find(f.getrs, "getrs");
      find(f.sytrf, "sytrf");
      find(f.sytrs, "sytrs");
      find(f.potrf, "potrf");
      find(f.trtrs, "trtrs");
      find(f.geqrf, "geqrf");
      find(f.orgqr, "orgqr");
      find(f.syevd, "syevd");
      find(f.geev, "geev");
      find(f.gesdd, "gesdd");
      return f;
    }();
    return table;
  }
};

}  // namespace tt::backend
