// Every macro of the library, and the checks on how it is compiled.
//
// Settings a user may define before the first include (or with -D):
//   TT_MAX_STATIC_NODES   graph nodes a static program may have (600)
//   TT_ALLOW_FAST_MATH    build although -ffast-math removes the guarantee of equal bits
//   TT_DEBUG              a stored expression whose named operand has ended throws tt::Error when it is
//                         evaluated (0). Set it for a whole program: Arrays are other types then
#pragma once
#include <version>

#if __cplusplus < 202002L
#error "tt needs C++20: add -std=c++20"
#endif
#if defined(__FAST_MATH__) && !defined(TT_ALLOW_FAST_MATH)
#ifdef __clang__  // one message is enough
#pragma clang diagnostic ignored "-Wnan-infinity-disabled"
#endif
#error "tt: -ffast-math changes results between paths; remove it, or define TT_ALLOW_FAST_MATH"
#endif

#ifndef TT_MAX_STATIC_NODES
#define TT_MAX_STATIC_NODES 600
#endif

// Types whose layout depends on TT_DEBUG stand between TT_DEBUG_BEGIN and TT_DEBUG_END: with TT_DEBUG their names
// differ, so that files of the two kinds do not link by mistake.
#ifndef TT_DEBUG
#define TT_DEBUG 0
#endif
#if TT_DEBUG
#define TT_DEBUG_BEGIN inline namespace checked {
#define TT_DEBUG_END }
#else
#define TT_DEBUG_BEGIN
#define TT_DEBUG_END
#endif

// On a parameter that the result refers to: clang warns when the result outlives the argument.
#if defined(__clang__)
#define TT_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define TT_LIFETIMEBOUND
#endif

// Op bodies must be inlined into the kernel around them, also in a debug build.
#define TT_ALWAYS_INLINE inline __attribute__((always_inline))
// A function that a device runs is constexpr (nvcc --expt-relaxed-constexpr) or TT_HOST_DEVICE. Not every inline
// function may be: nvcc 13 accepts no function of SIMD registers as a device function.
#if defined(__CUDACC__)
#define TT_HOST_DEVICE __host__ __device__
#else
#define TT_HOST_DEVICE
#endif
// For the functions that a static kernel calls. g++ copies a body once for every level of always_inline; with plain
// inline below one flattened function the same code takes 40 % of the time. clang flattens one level only.
#if defined(__clang__)
#define TT_KERNEL_INLINE TT_ALWAYS_INLINE
#define TT_NOINLINE __attribute__((noinline))
#define TT_LAMBDA_INLINE __attribute__((always_inline))
#define TT_FLATTEN
#else
#define TT_KERNEL_INLINE inline
#define TT_NOINLINE __attribute__((noinline, noclone))  // a clone of a kernel is compiled beside it
#define TT_LAMBDA_INLINE
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TT_FLATTEN  // one large function with checks at every access takes g++ minutes
#else
#define TT_FLATTEN __attribute__((flatten))
#endif
#endif

// Does a sanitizer check accesses beyond the ends of memory?
#if defined(__SANITIZE_ADDRESS__)
#define TT_SANITIZES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TT_SANITIZES_ADDRESSES 1
#endif
#endif
#if !defined(TT_SANITIZES_ADDRESSES)
#define TT_SANITIZES_ADDRESSES 0
#endif

// Kernels stand between TT_KERNELS_BEGIN and TT_KERNELS_END: there clang contracts nothing to fma; only an explicit
// `fma` is one. g++ contracts by default, across functions too; for g++ each product and quotient is marked as rounded
// (ops/carrier.hpp), so that kernels need no compiler flags of their own, with which they could not be inlined into
// their callers. nvcc passes g++'s pragmas on; its warning for each is switched off.
#if defined(__clang__)
#define TT_KERNELS_BEGIN _Pragma("float_control(push)") _Pragma("clang fp contract(off)")
#define TT_KERNELS_END _Pragma("float_control(pop)")
#elif defined(__CUDACC__)
#define TT_KERNELS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
#define TT_KERNELS_END _Pragma("nv_diagnostic pop")
#else
#define TT_KERNELS_BEGIN
#define TT_KERNELS_END
#endif

// The multiply-add mode of the program: hardware fma, or two roundings. Given explicitly where a file is compiled for a
// processor that the program may or may not run on (src/tile_kernels.cpp).
#if !defined(TT_HAS_FMA)
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define TT_HAS_FMA 1
#else
#define TT_HAS_FMA 0
#endif
#endif

// The instruction set SIMD kernels are built for; part of their names, so that files built with
// other -march flags link into one program. g++ without optimisation cannot build xsimd 8.1's
// AVX-512 (intrinsics are macros then), so debug builds use AVX2.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && \
    defined(__AVX512VL__) && (defined(__OPTIMIZE__) || defined(__clang__))
#define TT_AVX512 1
#if TT_HAS_FMA
#define TT_ISA avx512_fma
#define TT_ISA_NAME "AVX-512"
#else
#define TT_ISA avx512
#define TT_ISA_NAME "AVX-512 without FMA"
#endif
#elif defined(__AVX2__) && TT_HAS_FMA
#define TT_ISA avx2_fma
#define TT_ISA_NAME "AVX2 with FMA"
#elif defined(__AVX2__)
#define TT_ISA avx2
#define TT_ISA_NAME "AVX2"
#elif defined(__AVX__) && TT_HAS_FMA
#define TT_ISA avx_fma
#define TT_ISA_NAME "AVX with FMA"
#elif defined(__AVX__)
#define TT_ISA avx
#define TT_ISA_NAME "AVX"
#elif defined(__SSE2__)
#define TT_ISA sse2
#define TT_ISA_NAME "SSE2"
#elif defined(__ARM_NEON)
#define TT_ISA neon
#define TT_ISA_NAME "NEON"
#else
#error "tt: no SIMD instruction set found; build for x86-64 or 64-bit ARM"
#endif
#ifndef TT_AVX512
#define TT_AVX512 0
#endif

// Functions of the optional compiled build: declared in the header, defined once. src/ has a file for each part, which
// sets TT_BUILD to the part; the definitions that a header has for a part stand in `#if TT_DEFINES(jit)`, which is true
// in every file without the compiled build.
#define TT_PART_core 1
#define TT_PART_graph 2
#define TT_PART_backends 3
#define TT_PART_cpu 4
#define TT_PART_cuda 5
#define TT_PART_eager 6
#define TT_PART_dispatch 7
#define TT_PART_autograd 8
#define TT_PART_jit 9
#define TT_PART_further 10
#define TT_PART_functions 11
#define TT_PART_linalg 12
#if !defined(TT_COMPILED)
#define TT_INLINE inline
#define TT_DEFINES(part) 1
#elif defined(TT_BUILD)
#define TT_INLINE
#define TT_DEFINES(part) (TT_PART_##part == TT_BUILD)
#else
#define TT_INLINE
#define TT_DEFINES(part) 0
#endif
// Functions that few programs call: templates without the compiled build, so that a program that does not call them does not compile them.
//   TT_LAZY Tensor prod(const Tensor& x);        and behind TT_DEFINES:   TT_LAZY_DEFINITION Tensor prod(const Tensor& x) { ... }
#if !defined(TT_COMPILED)
#define TT_LAZY template <class = void>
#define TT_LAZY_DEFINITION template <class>
#else
#define TT_LAZY
#define TT_LAZY_DEFINITION
#endif
// The compiled build has the kernels of all ops, other files have those of the ops that they use.
#if (defined(TT_COMPILED) && TT_DEFINES(cpu)) || defined(TT_TILE_KERNELS)
#define TT_ALL_KERNELS 1
#else
#define TT_ALL_KERNELS 0
#endif

#if defined(__cpp_exceptions)
#define TT_THROW(error) throw error
#else
#define TT_THROW(error) ::tt::abort_with((error).what())
#endif
