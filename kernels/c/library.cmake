# libspeclab_kernels.so contains all the code of the project and of the CUDA runtime that it needs, and exports only
# the functions of speclab_kernels.h.
set(header ${PROJECT_SOURCE_DIR}/kernels/speclab_kernels.h)
add_library(speclab_kernels_c SHARED ${CMAKE_CURRENT_LIST_DIR}/speclab_kernels.cpp)
add_library(speclab::kernels_c ALIAS speclab_kernels_c)
# SOVERSION rises when a program that was linked with an older library can no longer use the new one.
set_target_properties(speclab_kernels_c PROPERTIES OUTPUT_NAME speclab_kernels EXPORT_NAME kernels_c
  SOVERSION 1 CXX_VISIBILITY_PRESET hidden
  PUBLIC_HEADER ${header} CUDA_RUNTIME_LIBRARY Static LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exported.map)
# The installed header lies at the top of the include folder, so that a C program includes <speclab_kernels.h>. The
# build tree finds it by the same name.
target_include_directories(speclab_kernels_c
  INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(speclab_kernels_c PRIVATE speclab_options speclab::gpu)
target_link_options(speclab_kernels_c PRIVATE LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/exported.map
  LINKER:--as-needed)
install(TARGETS speclab_kernels_c EXPORT speclabTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kernels
  NAMELINK_COMPONENT dev PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
# Its paths are relative to its own folder, so that an installed tree can be moved.
foreach(folder LIBDIR INCLUDEDIR)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_${folder} BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE SPECLAB_${folder})
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/speclab-kernels.pc.in ${PROJECT_BINARY_DIR}/speclab-kernels.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/speclab-kernels.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
# The wheel (kernels/python) contains the library without symbols.
if(SPECLAB_ONLY_KERNELS)
  target_link_options(speclab_kernels_c PRIVATE LINKER:--strip-all LINKER:-z,defs)
  install(FILES $<TARGET_FILE:speclab_kernels_c> DESTINATION speclab_kernels RENAME libspeclab_kernels.so COMPONENT kernels_wheel)
  # Random123 is compiled in, and its licence asks for this notice.
  if(DEFINED SKBUILD_METADATA_DIR)
    install(FILES /usr/share/doc/librandom123-dev/copyright DESTINATION ${SKBUILD_METADATA_DIR}/licenses RENAME Random123
      COMPONENT kernels_wheel OPTIONAL)
  endif()
endif()
