#include <doctest/doctest.h>

#include "logit_batch.hpp"
#include "speclab/kernels/verify/implementation.hpp"

using namespace speclab;

namespace {

/// Single precision's error of a probability or a mass, with room to spare: sums of 32 terms in a row, logits
/// up to 20, exp2f and expm1f right to 2 units.
constexpr double band = 1e-5;

struct Comparison {
  int within_band = 0;
  int different = 0;  ///< outside the band
};

Comparison compare(LogitBatch& logits, double width = band) {
  run_emulated(Implementation::fused, logits.batch);
  const auto expected = verify_reference(logits.batch);
  Comparison found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].margin < width) {
      ++found.within_band;
    } else if (logits.accepted[i] != expected[i].accepted || logits.next[i] != expected[i].next) {
      ++found.different;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("fused verification decides as the reference does") {
  int requests = 0;
  int within = 0;
  for (const VerifyMethod method : {VerifyMethod::token, VerifyMethod::lenient, VerifyMethod::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
      for (const std::int32_t vocab : {1, 7, 64, 1000, 20001}) {
        for (const std::int32_t gamma : {0, 1, 4}) {
          CAPTURE(static_cast<int>(method));
          CAPTURE(static_cast<int>(dtype));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 6, .gamma = gamma, .vocab = vocab, .dtype = dtype}, 11);
          logits.batch.rule = {method, method == VerifyMethod::lenient ? 0.6 : 1};
          const Comparison found = compare(logits);
          CHECK(found.different == 0);
          requests += 6;
          within += found.within_band;
        }
      }
    }
  }
  MESSAGE(within << " of " << requests << " decisions within the band");
  CHECK(within < requests / 20);
}
