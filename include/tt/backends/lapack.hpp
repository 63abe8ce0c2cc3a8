// LAPACK, opened on first use: the file that TT_LAPACK names, else liblapack.so.3 (Debian: libopenblas0; or liblapack3, the reference,
// which takes several times as long). Never linked. Its matrices are column-major: a dense row-major matrix is read as its transpose.
//   const auto& f = backend::Lapack<double>::get();   f.getrf(&m, &n, a, &m, pivots, &info);
// Without LAPACK throws Unavailable, which names the package. Names and arguments are LAPACK's (LAPACK Users' Guide, 3rd edition); integers
// have 32 bits.
#pragma once
#include <dlfcn.h>

#include <cstdlib>

#include "tt/backends/small_lapack.hpp"
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
    TT_THROW(Unavailable(Text("tt::linalg: LAPACK cannot be opened: ") << dlerror() << ". Install libopenblas0 or liblapack3, or name the file in TT_LAPACK?"));
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
  void getrf(const I* m, const I* n, T* a, const I* lda, I* pivots, I* info) const {
    if (detail::is_small(*m, *n)) return detail::small_getrf(*m, *n, a, *lda, pivots, *info);
    library_getrf(m, n, a, lda, pivots, info);
  }
  void getrs(const char* trans, const I* n, const I* nrhs, const T* a, const I* lda, const I* pivots, T* b, const I* ldb, I* info) const {
    if (detail::is_small(*n, *nrhs)) return detail::small_getrs(*trans == 'T', *n, *nrhs, a, *lda, pivots, b, *ldb, *info);
    library_getrs(trans, n, nrhs, a, lda, pivots, b, ldb, info);
  }
  /// Small matrices bypass the library only for the lower triangle.
  void potrf(const char* uplo, const I* n, T* a, const I* lda, I* info) const {
    if (*uplo == 'L' && detail::is_small(*n, *n)) return detail::small_potrf(*n, a, *lda, *info);
    library_potrf(uplo, n, a, lda, info);
    for (I k = 0; *info == 0 && k < *n; ++k)
      if (const T d = a[static_cast<std::size_t>(k) * (static_cast<std::size_t>(*lda) + 1)]; d != d) *info = k + 1;  // NaN, which OpenBLAS does not look for
  }
  void trtrs(const char* uplo, const char* trans, const char* diag, const I* n, const I* nrhs, const T* a, const I* lda, T* b, const I* ldb, I* info) const {
    if (detail::is_small(*n, *nrhs)) return detail::small_trtrs(*uplo == 'U', *trans == 'T', *diag == 'U', *n, *nrhs, a, *lda, b, *ldb, *info);
    library_trtrs(uplo, trans, diag, n, nrhs, a, lda, b, ldb, info);
  }
  void (*sytrf)(const char* uplo, const I* n, T* a, const I* lda, I* pivots, T* work, const I* lwork, I* info);
  void (*sytrs)(const char* uplo, const I* n, const I* nrhs, const T* a, const I* lda, const I* pivots, T* b, const I* ldb, I* info);
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
      find(f.library_getrf, "getrf");
      find(f.library_getrs, "getrs");
      find(f.sytrf, "sytrf");
      find(f.sytrs, "sytrs");
      find(f.library_potrf, "potrf");
      find(f.library_trtrs, "trtrs");
      find(f.geqrf, "geqrf");
      find(f.orgqr, "orgqr");
      find(f.syevd, "syevd");
      find(f.geev, "geev");
      find(f.gesdd, "gesdd");
      return f;
    }();
    return table;
  }

 private:
  void (*library_getrf)(const I*, const I*, T*, const I*, I*, I*);
  void (*library_getrs)(const char*, const I*, const I*, const T*, const I*, const I*, T*, const I*, I*);
  void (*library_potrf)(const char*, const I*, T*, const I*, I*);
  void (*library_trtrs)(const char*, const char*, const char*, const I*, const I*, const T*, const I*, T*, const I*, I*);
};

}  // namespace tt::backend
