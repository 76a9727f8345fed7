#include "analysis/statistics/quality_estimates.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace speclab;

namespace {

std::map<std::string, Interval> by_name(const std::vector<Estimate>& estimates) {
  std::map<std::string, Interval> all;
  for (const Estimate& estimate : estimates) {
    if (estimate.interval) all.emplace(estimate.name, *estimate.interval);
  }
  return all;
}

}  // namespace

TEST_CASE("judgements by hand") {
  // Three rounds of gamma = 2 accept two tokens, none, and one.
  std::vector<Tally> batches(2);
  batches[0].add_round(Round{2, 2, 2, 2, 0});
  batches[0].add_round(Round{2, 2, 1, 0, 0});
  batches[1].add_round(Round{2, 2, 2, 1, 0});
  for (const double value : {0.5, 0.75}) batches[0].quality.optimal_transport_bound.add(value);
  batches[1].quality.optimal_transport_bound.add(1);
  for (const double value : {0.125, 0.25, 0.5}) batches[0].quality.divergence.add(value);
  for (const double value : {0.25, 0.25}) batches[1].quality.divergence.add(value);
  const auto found = by_name(quality_estimates(batches, 0.95));
  CHECK(found.size() == 3);
  CHECK(found.at("first_token_acceptance").estimate == doctest::Approx(2.0 / 3));
  CHECK(found.at("optimal_transport_bound").estimate == doctest::Approx(2.25 / 3));
  // There are two rejections among five examined tokens; 1.375 of them are unavoidable.
  CHECK(found.at("regret").estimate == doctest::Approx((2 - 1.375) / 5));
  for (const auto& [name, interval] : found) {
    CAPTURE(name);
    CHECK(interval.low <= interval.estimate);
    CHECK(interval.estimate <= interval.high);
  }
}

TEST_CASE("a lossy rule has a distance and no regret") {
  std::vector<Tally> batches(2);
  for (Tally& batch : batches) {
    batch.add_round(Round{1, 1, 1, 1, 0});
    batch.quality.optimal_transport_bound.add(0.5);
    batch.quality.distance.add(0.25);
  }
  const auto found = by_name(quality_estimates(batches, 0.95));
  CHECK(found.at("tv_to_target").estimate == 0.25);
  CHECK(found.at("tv_to_target").half_width() > 0.1);  // other contexts may have other values
  const auto everywhere = by_name(quality_estimates(batches, 0.95, Independence::rounds));
  CHECK(everywhere.at("tv_to_target").half_width() < 1e-9);
  CHECK_FALSE(found.contains("regret"));
}

TEST_CASE("without drafts there are no estimates") {
  std::vector<Tally> batches(2);
  for (Tally& batch : batches) batch.add_round(Round{0, 0, 0, 0, 0});
  CHECK(by_name(quality_estimates(batches, 0.95)).empty());
}

TEST_CASE("speed counts draft runs, not drafted tokens") {
  // The tree has 14 tokens at 3 depths.
  std::vector<Tally> batches(2);
  for (Tally& batch : batches) batch.add_round(Round{14, 3, 2, 1, 0});
  const auto found = by_name(estimates(batches, {0.1, 0.1}, 0.95));
  CHECK(found.at("speedup").estimate == doctest::Approx(2 / (1 + 0.1 * 3)));
  CHECK(batch_speedup(batches[0], 0.1) == doctest::Approx(2 / (1 + 0.1 * 3)));
}
