// Reads server logs of acceptance.
#include "serving/advisor/acceptance_file.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] { read_acceptance(file_with(data, size, "log").string()); });
}
