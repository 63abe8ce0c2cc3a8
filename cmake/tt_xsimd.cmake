# Looks for xsimd's headers. Sets tt_xsimd_folder when they lie where the compiler does not look by itself,
# and says so when there are none: the headers of tt that need no kernels work without.
function(tt_find_xsimd)
  set(tt_xsimd_folder "" PARENT_SCOPE)
  find_path(TT_XSIMD_INCLUDE_DIR xsimd/xsimd.hpp)
  mark_as_advanced(TT_XSIMD_INCLUDE_DIR)
  if(NOT TT_XSIMD_INCLUDE_DIR)
    message(STATUS "tt: xsimd/xsimd.hpp was not found. Programs that compute need it: install libxsimd-dev, "
                   "or set TT_XSIMD_INCLUDE_DIR to the folder that holds xsimd/.")
  elseif(NOT TT_XSIMD_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set(tt_xsimd_folder "${TT_XSIMD_INCLUDE_DIR}" PARENT_SCOPE)
  endif()
endfunction()
