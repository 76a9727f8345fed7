# Debian packages: `cpack -G DEB` makes one of each component, from a build with -DCMAKE_INSTALL_PREFIX=/usr. scripts/release/packages.sh
# makes and tests them. With SOURCE_DATE_EPOCH the same build gives the same bytes.
set(SPECLAB_MAINTAINER "speclab contributors <speclab@example.org>" CACHE STRING "Name and address in the Debian packages")
set(package_of_program speclab)
set(package_of_kernels libspeclab-kernels1)
set(package_of_dev libspeclab-dev)
set(package_of_doc speclab-doc)

# Packages for two releases of Debian need different libraries, so that their versions must differ.
cmake_host_system_information(RESULT system QUERY DISTRIB_INFO)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${system_ID}${system_VERSION_ID})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/changelog.Debian "speclab (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Changes are in changelog.gz.

 -- ${SPECLAB_MAINTAINER}  ${date}
")
# gzip -n stores no time.
foreach(file ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/changelog.Debian)
  cmake_path(GET file STEM name)
  string(TOLOWER ${name} name)
  execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${PROJECT_BINARY_DIR}/${name}${suffix}.gz COMMAND_ERROR_IS_FATAL ANY)
  set(suffix .Debian)
endforeach()
# Code of these header libraries is compiled into the program and the libraries. Boost's licence asks for no notice in binaries.
set(header_libraries librandom123-dev nlohmann-json3-dev libeigen3-dev libfmt-dev libhwy-dev libtbb-dev)
foreach(component program kernels dev doc)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}})
  install(FILES ${PROJECT_SOURCE_DIR}/scripts/release/copyright ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_BINARY_DIR}/changelog.Debian.gz
    DESTINATION ${folder} COMPONENT ${component})
  if(NOT component STREQUAL doc)
    foreach(library IN LISTS header_libraries)
      install(FILES /usr/share/doc/${library}/copyright DESTINATION ${folder} RENAME copyright.${library} COMPONENT ${component} OPTIONAL)
    endforeach()
  endif()
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}})
  set(CPACK_DEBIAN_${name}_FILE_NAME DEB-DEFAULT)
endforeach()
set(pages "")
foreach(folder docs results core sim analysis kernels serving experiments python explorer configs tests)
  foreach(kind md svg png ipynb)
    file(GLOB_RECURSE found RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.${kind})
    list(APPEND pages ${found})
  endforeach()
endforeach()
foreach(page IN LISTS pages ITEMS README.md CONTRIBUTING.md)
  cmake_path(GET page PARENT_PATH path)
  install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/speclab-doc/${path} COMPONENT doc)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME speclab)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program kernels dev doc)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${SPECLAB_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SOURCE speclab)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3-matplotlib, fonts-dejavu-core")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS speclab-doc)
set(CPACK_DEBIAN_KERNELS_PACKAGE_SECTION libs)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_KERNELS_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
# What scripts/cmake/speclabConfig.cmake.in looks for.
set(needed libboost-dev libfmt-dev libtbb-dev libhwy-dev librandom123-dev coinor-libclp-dev)
if(SPECLAB_SENTENCEPIECE)
  list(APPEND needed libsentencepiece-dev)
endif()
list(JOIN needed ", " needed)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "${package_of_kernels} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), ${needed}")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)
# The first line of each is the package's summary; a summary of the project would come before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "laboratory for speculative decoding
The user describes an experiment in a JSON file. speclab decodes with models
of real text, measures acceptance and speedup with intervals, and compares
them with closed forms, exact analysis and proofs.")
set(CPACK_COMPONENT_KERNELS_DESCRIPTION "exact verification of drafted tokens, C library
Serving engines call it to accept or correct the tokens that a draft model
proposed. This build verifies on the CPU and has no GPU code.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "laboratory for speculative decoding, libraries to build with
Headers in C++20, static libraries, the header of the C library, and files
for CMake and pkg-config.")
set(CPACK_COMPONENT_DOC_DESCRIPTION "laboratory for speculative decoding, documentation
Tutorial, guides and results in Markdown, and notebooks.")
include(CPack)
