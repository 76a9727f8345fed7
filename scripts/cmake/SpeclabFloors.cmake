# The program consists of layers ("floors"), each a folder and a library of objects. tests/layers checks which layer may include which.
set(SPECLAB_PROGRAM_LIBRARIES speclab::core speclab::sim speclab::analysis speclab::serving speclab::gpu Boost::program_options
  nlohmann_json::nlohmann_json fmt::fmt OpenSSL::Crypto ZLIB::ZLIB ${SPECLAB_LIBZIP})

# What runs a few times a command is compiled with this option, which halves the time of its compilation.
set(SPECLAB_SELDOM_RUN $<$<CONFIG:Release>:-Og>)

# speclab_floor(<name> [FAST] [FOLDERS folder ...] [HEADERS header ...]): compiles the folder of that name,
# or those that FOLDERS lists; with FAST, for speed. The headers are parsed once instead of in every file. A floor's own headers are
# not among them, so that a change to one compiles only what includes it. The style sheets, scripts and tables of a floor become
# constants of the program: page.css is speclab::page_css.
function(speclab_floor name)
  cmake_parse_arguments(arg "FAST" "" "FOLDERS;HEADERS" ${ARGN})
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS ${name})
  endif()
  list(TRANSFORM arg_FOLDERS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  add_library(speclab_${name} OBJECT ${sources})
  target_link_libraries(speclab_${name} PRIVATE speclab_options ${SPECLAB_PROGRAM_LIBRARIES})
  if(arg_HEADERS MATCHES "^speclab_")
    target_precompile_headers(speclab_${name} REUSE_FROM ${arg_HEADERS})
  elseif(arg_HEADERS)
    target_precompile_headers(speclab_${name} PRIVATE ${arg_HEADERS})
  endif()
  set(floors SPECLAB_FAST_FLOORS)
  if(NOT arg_FAST)
    set(floors SPECLAB_FLOORS)
    target_compile_options(speclab_${name} PRIVATE ${SPECLAB_SELDOM_RUN})
  endif()
  speclab_compile_together(speclab_${name})
  set(embed ${PROJECT_SOURCE_DIR}/scripts/cmake/embed.cmake)
  foreach(one IN LISTS arg_FOLDERS)
    file(GLOB_RECURSE texts CONFIGURE_DEPENDS ${one}/*.css ${one}/*.js ${one}/*.json)
    foreach(text IN LISTS texts)
      cmake_path(GET text FILENAME file)
      set(made ${CMAKE_CURRENT_BINARY_DIR}/${file}.cpp)
      add_custom_command(OUTPUT ${made} DEPENDS ${text} ${embed} VERBATIM
        COMMAND ${CMAKE_COMMAND} -DIN=${text} -DOUT=${made} -P ${embed})
      target_sources(speclab_${name} PRIVATE ${made})
    endforeach()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ${floors} $<TARGET_OBJECTS:speclab_${name}>)
endfunction()

# Links all layers: as the library that tests, extensions and the Python package use, and as the program.
function(speclab_program)
  get_property(fast GLOBAL PROPERTY SPECLAB_FAST_FLOORS)
  get_property(floors GLOBAL PROPERTY SPECLAB_FLOORS)
  speclab_folder(fast NO_INSTALL SOURCES ${fast} LINK ${SPECLAB_PROGRAM_LIBRARIES})
  speclab_folder(experiments NO_INSTALL SOURCES ${floors} LINK speclab::fast ${SPECLAB_PROGRAM_LIBRARIES})
  set_target_properties(speclab_fast speclab_experiments PROPERTIES LINKER_LANGUAGE CXX)
  add_executable(speclab experiments/main.cpp)
  target_link_libraries(speclab PRIVATE speclab_options speclab::experiments)
  speclab_link_fast_first(speclab)
  set_target_properties(speclab PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
