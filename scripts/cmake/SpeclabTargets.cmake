# There is one CMake target per folder. Includes are written from the repository root, "core/rules/token.hpp", so that they
# resolve on disk. tests/layers checks which folder may include which.
include(CMakePackageConfigHelpers)

add_library(speclab_options INTERFACE)
# In a unit of several files, a local variable may have a name that another file gives to something of its own.
set(shadow -Wshadow)
if(SPECLAB_TOGETHER)
  set(shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
# -ffp-contract=off: fused multiply-adds would give other bits on machines that have them.
target_compile_options(speclab_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion ${shadow} -Werror -ffp-contract=off>)
# Clang counts changes of sign among conversions, which GCC does not.
target_compile_options(speclab_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)
# GCC 12 sees overlapping copies and overflows in assignments of short std::strings where there are none (GCC bug 105651).
target_compile_options(speclab_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
# A target may add no flag that changes generated code but another -O: the linker keeps the first copy of an inline function, with
# whatever flags it was compiled, and every caller runs that copy (speclab_link_fast_first). tests/layers/flags.py checks a build
# for this. By default GCC collects garbage
# from 128 MB on, and seldom finds any; not doing so saves 7% of its time for 10% more memory.
target_compile_options(speclab_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=500000>)
if(SPECLAB_SANITIZE)
  # g++ 12 sees uninitialised values in its own <regex> when sanitizers change the inlining.
  target_compile_options(speclab_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SPECLAB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  target_link_options(speclab_options INTERFACE -fsanitize=${SPECLAB_SANITIZE})
endif()

# Compiles the files of a target together, up to fifty at a time, in less than half the processor time: shared code is read and instantiated
# once. Names in anonymous namespaces must differ within a target. Files with their own options are compiled alone.
function(speclab_compile_together target)
  if(SPECLAB_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 50)
  endif()
endfunction()

# Sets `out` to the files of our libraries that the targets link, those of the lowest layers last.
function(speclab_archives out)
  set(files "")
  foreach(target IN LISTS ARGN)
    if(target MATCHES "^speclab::")
      get_target_property(type ${target} TYPE)
      if(type STREQUAL STATIC_LIBRARY)
        list(APPEND files $<TARGET_FILE:${target}>)
      endif()
      get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
      speclab_archives(further ${linked})
      list(APPEND files ${further})
    endif()
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# Puts our libraries before the target's objects on the linker's command, the lowest layer first, so that the linker keeps their copies
# of inline functions: what the lowest layers compile runs most often and is optimised most.
function(speclab_link_fast_first target)
  get_target_property(linked ${target} LINK_LIBRARIES)
  speclab_archives(archives ${linked})
  list(REVERSE archives)
  list(REMOVE_DUPLICATES archives)
  if(archives)
    list(JOIN archives "," archives)
    target_link_options(${target} PRIVATE "LINKER:--whole-archive,${archives},--no-whole-archive")
  endif()
endfunction()

# speclab_folder(<name> [SOURCES ...] [LINK ...] [INSTALL folder ...] [NO_INSTALL]): makes a static
# library, or without sources a target with headers only. It installs the headers of the whole folder, or of the folders that
# INSTALL names.
function(speclab_folder name)
  cmake_parse_arguments(arg "NO_INSTALL" "" "SOURCES;LINK;INSTALL" ${ARGN})
  if(arg_SOURCES)
    add_library(speclab_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(speclab_${name} PRIVATE $<BUILD_INTERFACE:speclab_options>)
    speclab_compile_together(speclab_${name})
  else()
    add_library(speclab_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(speclab::${name} ALIAS speclab_${name})
  set_target_properties(speclab_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(speclab_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    # Installed headers include one another as they do here. Other projects write <speclab/core/rules/token.hpp>.
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/speclab>)
  target_link_libraries(speclab_${name} ${scope} ${arg_LINK})
  if(arg_NO_INSTALL)
    return()
  endif()
  if(NOT arg_INSTALL)
    set(arg_INSTALL .)
  endif()
  foreach(folder IN LISTS arg_INSTALL)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${name}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/speclab/${name}/${folder}
      COMPONENT dev FILES_MATCHING PATTERN "*.hpp")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SPECLAB_EXPORTED speclab_${name})
endfunction()

function(speclab_install)
  get_property(targets GLOBAL PROPERTY SPECLAB_EXPORTED)
  install(TARGETS ${targets} EXPORT speclabTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(TARGETS speclab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # A wheel has the program and its data alone.
  if(SKBUILD)
    return()
  endif()
  # The program writes its own completion and, by its help, its manual page.
  install(CODE "execute_process(COMMAND \"$<TARGET_FILE:speclab>\" completion bash
      OUTPUT_FILE \"${PROJECT_BINARY_DIR}/speclab.bash\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/speclab.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME speclab)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DPROGRAM=$<TARGET_FILE:speclab>\" \"-DOUT=${PROJECT_BINARY_DIR}\"
      -P \"${PROJECT_SOURCE_DIR}/scripts/cmake/manual.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/speclab.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/speclab)
  install(EXPORT speclabTargets NAMESPACE speclab:: DESTINATION ${package} COMPONENT dev)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/scripts/cmake/speclabConfig.cmake.in
    ${PROJECT_BINARY_DIR}/speclabConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/speclabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/speclabConfig.cmake ${PROJECT_BINARY_DIR}/speclabConfigVersion.cmake
    DESTINATION ${package} COMPONENT dev)
endfunction()
