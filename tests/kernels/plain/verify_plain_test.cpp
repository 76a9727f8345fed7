#include "kernels/plain/probability_batch.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/distribution/divergence.hpp"
#include "kernels/plain/verify_plain.hpp"
#include "kernels/simt/emulator.hpp"
#include "tests/bounds.hpp"
#include "tests/kernels/plain/probability_batches.hpp"

using namespace speclab;

TEST_CASE("a request's verdict does not depend on its batch") {
  const Batch all = random_batch(20, 3, 50, 1);
  const auto together = verify_reference(all.view);
  BatchView fewer = all.view;
  fewer.requests = 7;
  const auto some = verify_reference(fewer);
  for (std::size_t i = 0; i < some.size(); ++i) {
    CHECK(some[i].accepted == together[i].accepted);
    CHECK(some[i].next == together[i].next);
  }
}

TEST_CASE("the first position is accepted as often as the overlap says") {
  constexpr int requests = 20000;
  const Batch batch = random_batch(requests, 1, 16, test_seed(2));
  double expected = 0;
  double variance = 0;
  double accepted = 0;
  const auto verdicts = verify_reference(batch.view);
  for (int i = 0; i < requests; ++i) {
    const double rate = overlap(batch.view.target(i, 0), batch.view.draft(i, 0));
    expected += rate;
    variance += rate * (1 - rate);
    accepted += verdicts[static_cast<std::size_t>(i)].accepted;
  }
  // Null: independent acceptances with the overlaps as probabilities. The bound is seven sigma; it would find
  // an error of 0.02 in the rate.
  CHECK(std::abs(accepted - expected) < bound_in_sigmas * std::sqrt(variance));
  CHECK(bound_in_sigmas * std::sqrt(variance) < 0.02 * requests);
}

TEST_CASE("invalid rows never become an id") {
  Batch batch = random_batch(4, 2, 8, 3);
  for (double& probability : batch.targets) probability = std::numeric_limits<double>::quiet_NaN();
  for (const Verdict& verdict : verify_reference(batch.view)) {
    CHECK(verdict.accepted == 0);
    CHECK(verdict.next == invalid_token);
  }
}

TEST_CASE("the plain kernel's threads decide as the loop does, token by token and in blocks") {
  for (const PlainRule rule : {PlainRule::token, PlainRule::block}) {
    const Batch batch = random_batch(150, 4, 40, 7);
    const auto expected = verify_reference(batch.view, rule);
    std::vector<Verdict> verdicts(150, Verdict{-1, -1, -1});
    simt::EmulatedExecutor().run<VerifyPlain>(plain_launch(150), {batch.view, rule, verdicts.data()});
    int kept = 0;
    for (std::size_t i = 0; i < 150; ++i) {
      CHECK(verdicts[i].accepted == expected[i].accepted);
      CHECK(verdicts[i].examined == expected[i].examined);
      CHECK(verdicts[i].next == expected[i].next);
      kept += expected[i].accepted;
    }
    CHECK(kept > 0);
  }
}
