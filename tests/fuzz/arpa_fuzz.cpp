// Reads language models in ARPA files; rows of accepted models must be distributions.
#include <cmath>
#include <vector>

#include "sim/models/arpa.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace speclab;
  return refused_or_read([&] {
    const ArpaModel read = read_arpa(file_with(data, size, "model.arpa"));
    std::vector<double> row(static_cast<std::size_t>(read.model.vocab()));
    read.model.next({}, row);
    double sum = 0;
    for (const double probability : row) {
      if (!(probability >= 0)) std::abort();
      sum += probability;
    }
    if (std::abs(sum - 1) > 1e-3) std::abort();
  });
}
