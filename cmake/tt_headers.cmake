# Looks for the headers that tt builds on. Sets tt_header_folders to those that lie where the compiler does not
# look by itself, and says what is not there: the headers of tt that do not need it work without.
function(tt_find_headers)
  set(folders "")
  foreach(what IN ITEMS "XSIMD|xsimd/xsimd.hpp|libxsimd-dev|Programs that compute need it"
                        "BOOST|boost/hana/string.hpp|libboost-dev|Names of parameters, tt::save and tt::load need it")
    string(REPLACE "|" ";" what "${what}")
    list(GET what 0 name)
    list(GET what 1 header)
    list(GET what 2 package)
    list(GET what 3 purpose)
    set(variable TT_${name}_INCLUDE_DIR)
    find_path(${variable} ${header})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      message(STATUS "tt: ${header} was not found. ${purpose}: install ${package}, or set ${variable} to the folder "
                     "that it lies below.")
    elseif(NOT ${variable} IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      list(APPEND folders "${${variable}}")
    endif()
  endforeach()
  set(tt_header_folders "${folders}" PARENT_SCOPE)
endfunction()

# Looks for Thrust: TT_THRUST_INCLUDE_DIR where Debian has it, TT_THRUST_TOOLKIT_INCLUDE_DIR in the CUDA toolkit. Sets
# tt_thrust_folder to the one that tt::compiled takes, if the compiler does not look there by itself.
function(tt_find_thrust)
  find_path(TT_THRUST_INCLUDE_DIR thrust/version.h)
  find_path(TT_THRUST_TOOLKIT_INCLUDE_DIR thrust/version.h NO_DEFAULT_PATH
    HINTS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" PATHS /usr/local/cuda PATH_SUFFIXES include/cccl include)
  mark_as_advanced(TT_THRUST_INCLUDE_DIR TT_THRUST_TOOLKIT_INCLUDE_DIR)
  set(folder "")
  if(NOT TT_THRUST_INCLUDE_DIR AND NOT TT_THRUST_TOOLKIT_INCLUDE_DIR)
    message(STATUS "tt: thrust/version.h was not found. sort, topk, unique, cumsum and reduce_by_key need it: install "
                   "libthrust-dev, or set TT_THRUST_INCLUDE_DIR to the folder that it lies below.")
  elseif(NOT TT_THRUST_INCLUDE_DIR)
    set(folder "${TT_THRUST_TOOLKIT_INCLUDE_DIR}")
  elseif(NOT TT_THRUST_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set(folder "${TT_THRUST_INCLUDE_DIR}")
  endif()
  set(tt_thrust_folder "${folder}" PARENT_SCOPE)
endfunction()
