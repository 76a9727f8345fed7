# Decides whether neural models can be run, and prints the decision. libllama comes from data/neural (scripts/setup.sh
# neural), or from CMAKE_PREFIX_PATH. The system's libllama is not used, because its version may be another and the library's
# interface still changes.
set(SPECLAB_HAS_LLAMA FALSE)
if(NOT SPECLAB_LLAMA STREQUAL "OFF")
  file(GLOB neural LIST_DIRECTORIES TRUE ${PROJECT_SOURCE_DIR}/data/neural/lib/python3*/site-packages)
  foreach(name LIBRARY INCLUDE_DIR)
    if(SPECLAB_LLAMA_${name} AND NOT EXISTS ${SPECLAB_LLAMA_${name}})
      unset(SPECLAB_LLAMA_${name} CACHE)
    endif()
  endforeach()
  find_library(SPECLAB_LLAMA_LIBRARY llama PATHS ${neural} PATH_SUFFIXES lib NO_CMAKE_SYSTEM_PATH
    NO_SYSTEM_ENVIRONMENT_PATH)
  find_path(SPECLAB_LLAMA_INCLUDE_DIR llama.h PATHS ${neural} PATH_SUFFIXES include NO_CMAKE_SYSTEM_PATH
    NO_SYSTEM_ENVIRONMENT_PATH)
  mark_as_advanced(SPECLAB_LLAMA_LIBRARY SPECLAB_LLAMA_INCLUDE_DIR)
  if(SPECLAB_LLAMA_LIBRARY AND SPECLAB_LLAMA_INCLUDE_DIR)
    set(SPECLAB_HAS_LLAMA TRUE)
    cmake_path(GET SPECLAB_LLAMA_LIBRARY PARENT_PATH SPECLAB_LLAMA_LIBRARY_DIR)
  elseif(SPECLAB_LLAMA STREQUAL "ON")
    message(FATAL_ERROR "SPECLAB_LLAMA=ON, but libllama was not found: run scripts/setup.sh neural, or let "
      "CMAKE_PREFIX_PATH name where llama.h and libllama are")
  endif()
endif()
if(SPECLAB_HAS_LLAMA)
  message(STATUS "Neural models: ${SPECLAB_LLAMA_LIBRARY}")
  # The installed program finds the library in the place where it was built; USE_LINK_PATH leaves out paths within the source
  # tree.
  set(CMAKE_INSTALL_RPATH ${SPECLAB_LLAMA_LIBRARY_DIR})
else()
  message(STATUS "Neural models: not built (scripts/setup.sh neural makes libllama)")
endif()
