// Reads sequences of other samplers, as JSON lines and as NumPy arrays; accepted ids must be in the
// vocabulary.
#include "experiments/verify/check/equality_test.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const char* name = size > 0 && data[0] == 0x93  ? "samples.npy"
                       : size > 0 && data[0] == 'P' ? "samples.npz"
                                                    : "samples.jsonl";
    for (const Token token : read_samples(file_with(data, size, name), 2, 5)) {
      if (token < 0 || token >= 5) std::abort();
    }
  });
}
