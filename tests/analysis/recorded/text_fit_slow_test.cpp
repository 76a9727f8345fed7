// Measures the false alarms and the power of the tests of text_fit, over many recordings.
#include <doctest/doctest.h>

#include "analysis/recorded/text_fit.hpp"
#include "tests/analysis/recorded/recorded_chain.hpp"

using namespace speclab;

namespace {

struct Rates {
  int large = 0;
  int small = 0;
  int entropy = 0;
};

/// Returns rates over `recordings` recordings of 32 sequences of 200 tokens, thirty for each pair.
Rates rates(double noise, double temperature, std::uint64_t recordings, std::size_t vocab = 100) {
  Rates found;
  for (std::uint64_t seed = 0; seed < recordings; ++seed) {
    const std::uint64_t pair = seed / 30;
    const ChainRows target = random_chain(vocab, 2.5, 1000 + pair);
    const ChainRows draft = noisy(at_temperature(target, 1.4), noise, 2000 + pair);
    const ChainRows text = at_temperature(target, temperature);
    const TextFit fit = text_fit(
        recorded_chain(text, target, draft, 32, 200, seed + static_cast<std::uint64_t>(1e4 * noise), true),
        false);
    found.large += fit.too_large == FitVerdict::does_not_fit ? 1 : 0;
    found.small += fit.too_small == FitVerdict::does_not_fit ? 1 : 0;
    found.entropy += fit.entropy == FitVerdict::does_not_fit ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("long: texts drawn from their columns fit, whatever the draft") {
  // Null: the text is drawn from the recorded target. 4,500 tests give a false alarm once in 10,000 each:
  // more than 4 err with probability 1e-4 (Poisson, mean .45).
  int errors = 0;
  for (const double noise : {0.2, 0.5, 1.0, 2.0, 3.0}) {
    const Rates found = rates(noise, 1, 300);
    MESSAGE("noise ", noise, ": errors ", found.large, " ", found.small, " ", found.entropy);
    errors += found.large + found.small + found.entropy;
  }
  CHECK(errors <= 4);
}

TEST_CASE("texts of other temperatures are found") {
  for (const double noise : {0.5, 1.0, 2.0}) {
    for (const double temperature : {0.7, 0.9, 1.1, 1.3}) {
      const Rates found = rates(noise, temperature, 90);
      MESSAGE("noise ", noise, ", temperature ", temperature, ": found ", found.large, " ", found.small, " ",
              found.entropy, " of 90");
      // The interval is corrected for skewness, which costs some of the power.
      CHECK(found.entropy >= 88);
      if (temperature > 1.2) CHECK(found.large >= 88);
      if (temperature < 0.8 && noise < 1.5) CHECK(found.small >= 88);
    }
  }
}
