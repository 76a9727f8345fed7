#include "kernels/verify/agreement.hpp"

#include <doctest/doctest.h>

#include "tests/kernels/verify/fused_runs.hpp"

using namespace speclab;

TEST_CASE("decisions of some requests of a batch are compared with the reference, and a wrong one is seen") {
  // A row has several tiles, as in a benchmark.
  LogitBatch logits({.requests = 5, .gamma = 2, .vocab = 20001, .dtype = Dtype::bf16}, 51);
  run_fused_on(logits);
  const auto expected = reference_of(Implementation::fused, logits.batch);
  const auto agreement = [&] {
    return agreement_with(expected, Implementation::fused, logits.batch.vocab, logits.accepted.data(),
                          logits.next.data());
  };
  CHECK(agreement().requests == 5);
  CHECK(agreement().different == 0);
  const int within = agreement().within_band;
  CHECK(within < 3);
  for (Token& next : logits.next) next = (next + 1) % logits.batch.vocab;
  CHECK(agreement().different == 5 - within);
}

TEST_CASE("requests are spread over a batch") {
  CHECK(spread_requests(1, 4) == std::vector<std::int32_t>{0});
  CHECK(spread_requests(3, 4) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(spread_requests(256, 4) == std::vector<std::int32_t>{0, 85, 170, 255});
  CHECK(spread_requests(5, 1) == std::vector<std::int32_t>{0});
  CHECK(spread_requests(0, 4).empty());
}
