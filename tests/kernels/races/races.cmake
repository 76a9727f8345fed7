# Runs every kernel in the emulator under its race detector. GCC compiles code that reports its accesses to
# ThreadSanitizer; here told_accesses.cpp receives the reports, so that ThreadSanitizer's library is neither needed nor
# linked. The emulator and the detector are compiled as usual. A build with a sanitizer of its own cannot have this.
if(SPECLAB_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_test(NAME kernels/races COMMAND ${CMAKE_COMMAND} -E echo "Skipped: code that tells of its accesses needs GCC and no sanitizer")
  set_tests_properties(kernels/races PROPERTIES SKIP_REGULAR_EXPRESSION "^Skipped")
  return()
endif()
file(GLOB_RECURSE told CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cpp)
list(FILTER told EXCLUDE REGEX "/kernels/(gpu|c|simt|lab)/")
file(GLOB race_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_races.cpp)
add_library(told_tests OBJECT ${told} ${race_tests})
target_link_libraries(told_tests PRIVATE speclab_options speclab::core doctest::doctest)
# Compiling takes longer than running; the program shares no code with others.
target_compile_options(told_tests PRIVATE -fsanitize=thread -Og -Wno-shadow)
set_target_properties(told_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 30)
add_executable(race_tests kernels/races/told_accesses.cpp ${PROJECT_SOURCE_DIR}/kernels/simt/emulator.cpp
  kernels/races/race_detector.cpp $<TARGET_OBJECTS:told_tests> $<TARGET_OBJECTS:speclab_test_main>)
target_link_libraries(race_tests PRIVATE speclab_options speclab::core Boost::context)
add_test(NAME kernels/races COMMAND race_tests --no-intro -tce=long:*)
add_test(NAME kernels/races_long CONFIGURATIONS long COMMAND race_tests --no-intro -tc=long:*)
set_tests_properties(kernels/races_long PROPERTIES LABELS long)
