# Kernels that a compiled library brings with it (include/tt/backends/cpu/library_kernels.hpp): a program made of the library's own objects writes them as C,
# which is compiled for each instruction set that the library knows. Not where programs of the target cannot run here, nor with sanitizers, which
# are slow with them and look at other things.
if(TT_LIBRARY_KERNELS AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS_DEBUG MATCHES "fsanitize")
  include(CheckLanguage)
  include(CheckCXXSourceRuns)
  check_language(C)
  set(CMAKE_REQUIRED_FLAGS "${TT_ARCH}")
  set(CMAKE_REQUIRED_QUIET ON)
  # What the library is compiled for, this processor may not have.
  check_cxx_source_runs("
    int main() {
    #if defined(__AVX512VL__)
      if (!__builtin_cpu_supports(\"avx512vl\") || !__builtin_cpu_supports(\"avx512dq\") || !__builtin_cpu_supports(\"avx512bw\")) return 1;
    #endif
    #if defined(__AVX512BF16__)
      if (!__builtin_cpu_supports(\"avx512bf16\")) return 1;
    #endif
    #if defined(__AVX2__)
      if (!__builtin_cpu_supports(\"avx2\")) return 1;
    #endif
      return 0;
    }" TT_ARCH_RUNS_HERE)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_QUIET)
  if(CMAKE_C_COMPILER AND TT_ARCH_RUNS_HERE)
    enable_language(C)
    set(tt_has_library_kernels ON)
  else()
    message(STATUS "no C compiler, or a library for another processor: tt::compiled brings no kernels, eager softmax, norms and losses are interpreted")
  endif()
endif()

# tt_read_host_flags(RESULT FLAGS...): those of backends/cpu/host_compiler.hpp, where they are written down, without what is another matter here: the
# processor, and that a shared object is made of C text.
function(tt_read_host_flags result)
  file(READ "${PROJECT_SOURCE_DIR}/include/tt/backends/cpu/host_compiler.hpp" text)
  string(REGEX MATCH "host_flags\\[\\] = {[^;]*" text "${text}")
  string(REGEX MATCHALL "\"-[^\"]+\"" flags "${text}")
  string(REPLACE "\"" "" flags "${flags}")
  if(NOT "-ffp-contract=off" IN_LIST flags)
    message(FATAL_ERROR "host_flags of host_compiler.hpp cannot be read: cmake/tt_library_kernels.cmake")
  endif()
  list(REMOVE_ITEM flags -march=native -fPIC -shared -x)
  tt_flags_define(x86 __x86_64__ ${ARGN})
  if(NOT x86)
    list(REMOVE_ITEM flags -mprefer-vector-width=512)
  endif()
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

# tt_add_library_kernels(LIBRARY FLAGS...): with all its objects, which are compiled with these flags.
function(tt_add_library_kernels library)
  if(NOT tt_has_library_kernels)
    return()
  endif()
  target_compile_definitions(${library}_objects PRIVATE TT_LIBRARY_KERNELS)
  get_target_property(objects ${library} SOURCES)
  get_target_property(libraries ${library} LINK_LIBRARIES)
  get_target_property(sets ${library} TT_SETS)
  set(sets own ${sets})
  list(FILTER sets EXCLUDE REGEX "NOTFOUND")
  set(emitter ${library}_emitter)
  add_executable(${emitter} src/emitter/library_kernels.cpp ${objects})
  set_target_properties(${emitter} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_definitions(${emitter} PRIVATE TT_COMPILED)
  target_compile_options(${emitter} PRIVATE ${ARGN} -O1)
  target_link_libraries(${emitter} PRIVATE ${libraries})
  # As programs compile such text, but for the processor that the rest of the library is compiled for.
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
  separate_arguments(machine UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${${flags_of_type}}")
  list(FILTER machine INCLUDE REGEX "^-m")
  tt_read_host_flags(host ${ARGN})
  set(flags ${machine} ${ARGN} ${host})
  set(folder "${PROJECT_BINARY_DIR}/${library}_kernels")
  file(MAKE_DIRECTORY "${folder}")
  set(parts 0 1 2 3)
  list(LENGTH parts count)
  set(texts "${folder}/tables.cpp")
  foreach(set IN LISTS sets)
    set(files ${parts})
    list(TRANSFORM files REPLACE "(.+)" "${folder}/${set}_\\1.c")
    list(APPEND texts ${files})
    set(kernels ${library}_${set}_c)
    add_library(${kernels} OBJECT ${files})
    set_target_properties(${kernels} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
    target_compile_options(${kernels} PRIVATE ${flags} ${tt_${set}_flags} -ffunction-sections)
    add_dependencies(${kernels} ${library}_texts)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${kernels}>)
  endforeach()
  tt_add_objects(${library}_tables "${folder}/tables.cpp" ${ARGN})
  add_dependencies(${library}_tables ${library}_texts)
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_tables>)
  # Texts that stay as they were are not written, so their time says nothing.
  set(stamp "${folder}/written")
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS ${texts} COMMAND ${emitter} "${folder}" ${count} ${sets} COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
    DEPENDS ${emitter} COMMENT "Writing the kernels of ${library}" VERBATIM)
  add_custom_target(${library}_texts DEPENDS "${stamp}")
endfunction()
