// The only include of xsimd, with the macros and pragmas that it needs.
#pragma once
#include "tt/config.hpp"

#if __has_include(<xsimd/xsimd.hpp>)
#if !TT_AVX512 && defined(__AVX512F__)  // see TT_ISA in config.hpp
#pragma push_macro("__AVX512F__")
#pragma push_macro("__AVX512CD__")
#pragma push_macro("__AVX512DQ__")
#pragma push_macro("__AVX512BW__")
#undef __AVX512F__
#undef __AVX512CD__
#undef __AVX512DQ__
#undef __AVX512BW__
#include <xsimd/xsimd.hpp>
#pragma pop_macro("__AVX512F__")
#pragma pop_macro("__AVX512CD__")
#pragma pop_macro("__AVX512DQ__")
#pragma pop_macro("__AVX512BW__")
#else
#if defined(__GNUC__) && !defined(__clang__)  // g++ 12 warns falsely inside its AVX-512 intrinsics
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <xsimd/xsimd.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
#else
#error "tt needs xsimd: apt-get install libxsimd-dev (or put its headers on the include path)"
#include <xsimd/config/xsimd_config.hpp>  // ends the compilation; g++ only skips a file that a __has_include asked about
#endif
