// Tests the draft's best temperature against grids a hundred times finer.
#include "analysis/theory/draft_temperature.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "core/distribution/transforms.hpp"
#include "core/random/philox.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

/// The mean of sum min(p, q_T') over some contexts of random rows.
class MeanOverlap {
 public:
  MeanOverlap(std::uint64_t seed, const Adjustment& target)
      : filter_(target),
        target_(dirichlet_rows(size, contexts, 0.4, seed)),
        draft_(dirichlet_rows(size, contexts, 0.8, 1000 + seed)) {
    // The draft is a mixture with the target.
    for (std::size_t i = 0; i < draft_.size(); ++i) draft_[i] = 0.3 * draft_[i] + 0.7 * target_[i];
    std::vector<Token> order;
    for (std::size_t at = 0; at < target_.size(); at += size)
      adjust(std::span(target_).subspan(at, size), target, order);
  }

  double operator()(double temperature) const {
    Adjustment how = filter_;
    how.temperature = temperature;
    std::vector<Token> order;
    double sum = 0;
    for (std::size_t at = 0; at < target_.size(); at += size) {
      std::vector<double> row(draft_.begin() + static_cast<std::ptrdiff_t>(at),
                              draft_.begin() + static_cast<std::ptrdiff_t>(at + size));
      adjust(row, how, order);
      sum += overlap(Row{target_.data() + at, size}, Row{row.data(), size});
    }
    return sum / contexts;
  }

 private:
  static constexpr std::int32_t size = 20;
  static constexpr std::uint32_t contexts = 6;
  Adjustment filter_;
  std::vector<double> target_;
  std::vector<double> draft_;
};

double best_of_fine_grid(const std::function<double(double)>& acceptance) {
  constexpr int points = 6000;
  double best = acceptance(0);
  for (int i = 0; i <= points; ++i) {
    best = std::max(
        best, acceptance(least_draft_temperature * std::pow(max_draft_temperature / least_draft_temperature,
                                                            static_cast<double>(i) / points)));
  }
  return best;
}

}  // namespace

TEST_CASE("no temperature of a fine grid is accepted more often than the best one") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const double temperature : {0.0, 0.3, 1.0, 2.0}) {
      const MeanOverlap acceptance(seed, {.temperature = temperature, .top_k = seed % 2 == 0 ? 5 : 0});
      const DraftTemperature best = best_draft_temperature(acceptance);
      CHECK(best.acceptance == acceptance(best.temperature));
      CHECK(best.acceptance >= best_of_fine_grid(acceptance) - 1e-6);
    }
  }
}

TEST_CASE("with top-p, where the rate jumps, little is missed") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const MeanOverlap acceptance(seed, {.temperature = 0.8, .top_p = 0.8});
    const DraftTemperature best = best_draft_temperature(acceptance);
    CHECK(best.acceptance >= best_of_fine_grid(acceptance) - 0.01);
  }
}

TEST_CASE("a draft of the target's rows samples at the target's temperature") {
  const std::vector<double> rows = dirichlet_rows(20, 5, 0.5, 3);
  for (const double temperature : {0.25, 1.0, 3.0}) {
    const auto acceptance = [&](double other) {
      std::vector<Token> order;
      double sum = 0;
      for (std::size_t at = 0; at < rows.size(); at += 20) {
        std::vector<double> p(rows.begin() + static_cast<std::ptrdiff_t>(at),
                              rows.begin() + static_cast<std::ptrdiff_t>(at + 20));
        std::vector<double> q = p;
        adjust(p, {.temperature = temperature}, order);
        adjust(q, {.temperature = other}, order);
        sum += overlap(Row{p.data(), 20}, Row{q.data(), 20}) / 5;
      }
      return sum;
    };
    const DraftTemperature best = best_draft_temperature(acceptance);
    CHECK(best.temperature == doctest::Approx(temperature).epsilon(1e-3));
    CHECK(best.acceptance == doctest::Approx(1).epsilon(1e-4));
    CHECK_FALSE(best.at_limit);
  }
}

TEST_CASE("the higher of two peaks is found") {
  const auto peak = [](double temperature, double at, double height) {
    const double distance = std::log(temperature / at);
    return height * std::exp(-20 * distance * distance);
  };
  const auto acceptance = [&](double temperature) {
    return temperature == 0 ? 0.1 : peak(temperature, 0.2, 0.80) + peak(temperature, 3.3, 0.81);
  };
  const DraftTemperature best = best_draft_temperature(acceptance);
  CHECK(best.temperature == doctest::Approx(3.3).epsilon(1e-3));
  CHECK(best.acceptance == doctest::Approx(0.81).epsilon(1e-6));
}

TEST_CASE("edges are said: the argmax is 0, and a rate that still rises is at the limit") {
  const DraftTemperature coldest =
      best_draft_temperature([](double temperature) { return 1 - temperature / 40; });
  CHECK(coldest.temperature == 0);
  CHECK_FALSE(coldest.at_limit);
  const DraftTemperature same = best_draft_temperature([](double) { return 0.5; });
  CHECK(same.temperature == 0);
  const DraftTemperature hottest =
      best_draft_temperature([](double temperature) { return temperature / 40; });
  CHECK(hottest.temperature == doctest::Approx(max_draft_temperature));
  CHECK(hottest.at_limit);
}
