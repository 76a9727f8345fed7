# Tests the C interface: its source over the emulator, and the shared library from C and from Python.
target_sources(kernels_tests PRIVATE ${PROJECT_SOURCE_DIR}/kernels/c/speclab_kernels.cpp)

enable_language(C)
add_executable(c_api kernels/c/c_api.c)
set_target_properties(c_api PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(c_api PRIVATE -Wall -Wextra -pedantic -Werror)
target_link_libraries(c_api PRIVATE speclab_options speclab::kernels_c)
add_test(NAME kernels/c_api_c COMMAND c_api)

find_package(Python3 COMPONENTS Interpreter)
# ThreadSanitizer's runtime would have to be loaded before Python.
if(Python3_FOUND AND NOT SPECLAB_SANITIZE MATCHES thread)
  add_test(NAME kernels/c_api_python COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/kernels/c/c_api.py
    $<TARGET_FILE:speclab_kernels_c> ${PROJECT_VERSION} ${CMAKE_NM} ${PROJECT_SOURCE_DIR}/kernels/python)
  add_test(NAME kernels/bench_torch_dry_run COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/scripts/bench_torch.py
    --dry-run --library $<TARGET_FILE:speclab_kernels_c>)
  set_tests_properties(kernels/c_api_python kernels/bench_torch_dry_run PROPERTIES ENVIRONMENT "${python_runtime}")
endif()

if(SPECLAB_HAS_CUDA)
  find_package(CUDAToolkit REQUIRED)
  add_executable(c_api_on_device kernels/c/c_api_on_device.cpp)
  target_link_libraries(c_api_on_device PRIVATE speclab_options speclab::kernels_c speclab::kernels CUDA::cudart_static)
  add_test(NAME kernels/c_api_on_device COMMAND c_api_on_device)
  set_tests_properties(kernels/c_api_on_device PROPERTIES SKIP_RETURN_CODE 77)
endif()
