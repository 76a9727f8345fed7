// Tests the diagnosis on a few planted faults; diagnosis_slow_test.cpp tests all of them on ten seeds.
#include <doctest/doctest.h>

#include "tests/experiments/verify/check/diagnosed.hpp"

using namespace speclab;

TEST_CASE("a fault is the only name of the likeliest law, and the tests find no difference from it") {
  for (const char* rule : {"fault-stale-bonus", "fault-threshold", "fault-counted"}) {
    CAPTURE(rule);
    const std::vector<LikelihoodFit> fits = diagnosis_of(rule);
    REQUIRE(!fits.empty());
    CHECK(fits.front().name == rule);
    CHECK(fits.front().also.empty());
    CHECK(fits.front().adjusted_p.value() > 1e-6);
  }
}

TEST_CASE("candidate laws do not decide the verdict: a lossless rule passes without a diagnosis") {
  const Setup setup = diagnosed_setup("block");
  const CheckSection settings{.tokens = diagnosed_length, .level = 1e-6};
  const auto result =
      test_and_diagnose(setup, diagnosed_gamma, settings, diagnosed_samples(setup), Control{});
  REQUIRE(result);
  CHECK_FALSE(result->different);
  CHECK_FALSE(result->diagnosis);
  CHECK(result->unseen_faults.value().empty());
}
