#include "serving/server/confidence.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "core/random/philox.hpp"

namespace speclab {

namespace {

constexpr std::uint16_t confidence_slot = 4;  ///< differs from the slots of acceptance_law.cpp
constexpr std::size_t classes = 64;

struct Edge {
  double value;
  double rest;  ///< 1 - value
};

/// Returns the quantile of Beta(a, b) at `share`, by bisection in log odds. For correlations near 1 most of
/// the mass lies so near to 0 and 1 that boost's inverse (1.74) fails.
Edge beta_quantile(double a, double b, double share) {
  double low = -700;
  double high = 700;
  Edge edge{};
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    edge = {1 / (1 + std::exp(-middle)), 1 / (1 + std::exp(middle))};
    const double below =
        edge.value < 0.5 ? boost::math::ibeta(a, b, edge.value) : boost::math::ibetac(b, a, edge.rest);
    (below < share ? low : high) = middle;
  }
  return edge;
}

}  // namespace

std::vector<double> position_rates(const AcceptanceLaw& law, std::uint32_t gamma) {
  std::vector<double> rates;
  double reached = 1;
  double before = 0;
  for (std::uint32_t j = 1; j <= gamma; ++j) {
    const double mean = mean_accepted(law, j);
    const double survival = std::clamp(mean - before, 0.0, reached);
    rates.push_back(reached > 0 ? survival / reached : 0);
    reached = survival;
    before = mean;
  }
  return rates;
}

std::vector<double> confidence_classes(double correlation, double rate) {
  const double spread = 1 / (correlation * correlation) - 1;
  const double a = rate * spread;
  const double b = (1 - rate) * spread;
  std::vector<double> means;
  double before = 0;
  for (std::size_t i = 1; i <= classes; ++i) {
    const double share = static_cast<double>(i) / classes;
    // Mean of confidence over the classes so far; above one half computed from the distance to 1.
    double sum = rate;
    if (i < classes) {
      const Edge edge = beta_quantile(a, b, share);
      sum = edge.value < 0.5 ? rate * boost::math::ibeta(a + 1, b, edge.value)
                             : share - (1 - rate) * boost::math::ibetac(b + 1, a, edge.rest);
    }
    // Keeps the order of classes that differ only by rounding.
    means.push_back(std::clamp((sum - before) * classes, means.empty() ? 0.0 : means.back(), 1.0));
    before = sum;
  }
  return means;
}

ConfidenceLaw::Classes ConfidenceLaw::classes_of(const std::vector<double>& weights) {
  Classes made;
  double sum = 0;
  for (const double weight : weights) made.below.push_back(sum += weight);
  for (double& one : made.below) one /= sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double least = static_cast<double>(i) / static_cast<double>(weights.size());
    made.first.push_back(static_cast<std::uint8_t>(
        std::lower_bound(made.below.begin(), made.below.end() - 1, least) - made.below.begin()));
  }
  return made;
}

std::size_t ConfidenceLaw::Classes::at(double number) const {
  std::size_t found = first[static_cast<std::size_t>(number * static_cast<double>(first.size()))];
  while (found + 1 < below.size() && below[found] < number) ++found;
  return found;
}

ConfidenceLaw::ConfidenceLaw(double correlation, const std::vector<double>& rates) {
  for (const double rate : rates) {
    Position& position = positions_.emplace_back();
    if (correlation == 0 || rate <= 0 || rate >= 1) {
      position.confidence = {rate};
      continue;
    }
    position.confidence =
        correlation == 1 ? std::vector<double>{0, 1} : confidence_classes(correlation, rate);
    position.if_accepted = classes_of(position.confidence);
    std::vector<double> rejected = position.confidence;
    for (double& one : rejected) one = 1 - one;
    position.if_rejected = classes_of(rejected);
  }
}

void ConfidenceLaw::survival(std::uint64_t seed, std::uint32_t request, std::uint32_t round,
                             std::uint32_t accepted, std::span<double> survival) const {
  Philox words(seed, Site{request, round, Draw{Use::accept, confidence_slot}});
  double all = 1;
  for (std::size_t j = 0; j < survival.size(); ++j) {
    const Position& position = positions_[j];
    const double u = open_unit(words());
    const std::size_t size = position.confidence.size();
    std::size_t chosen = 0;
    if (size > 1 && j <= accepted) {
      chosen = (j < accepted ? position.if_accepted : position.if_rejected).at(u);
    } else if (size > 1) {
      // After a rejected token none can be accepted; its confidence does not depend on the rejection.
      chosen = std::min(static_cast<std::size_t>(u * static_cast<double>(size)), size - 1);
    }
    survival[j] = all *= position.confidence[chosen];
  }
}

}  // namespace speclab
