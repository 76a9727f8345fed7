// Sampling options as adjusted distributions (Leviathan et al. 2023, section 2.2): temperature, top-k, top-p
// and argmax change the row, and everything after samples the changed row plainly. Host only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "speclab/core/row.hpp"

namespace speclab {

/// Applied in this order: temperature, then top-k, then top-p, then normalise. Ties go to the lower id.
struct Adjustment {
  double temperature = 1;  ///< mass^(1/T); 0 means argmax
  std::int32_t top_k = 0;  ///< keep the k largest; 0 keeps all
  double top_p = 1;        ///< keep the smallest set of largest masses that reaches top_p

  bool identity() const { return temperature == 1 && top_k == 0 && top_p == 1; }
};

/// Divides by the total. A row without mass stays as it is.
inline void normalise(std::span<double> row) {
  const double total = total_mass(Row{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > 0)) return;
  for (double& mass : row) mass /= total;
}

/// Softmax of logits / temperature into `row`; temperature > 0.
inline void softmax(std::span<const double> logits, double temperature, std::span<double> row) {
  assert(logits.size() == row.size() && temperature > 0);
  const double largest = *std::max_element(logits.begin(), logits.end());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::exp((logits[i] - largest) / temperature);
  normalise(row);
}

/// Zeroes all but the `keep` largest masses.
inline void keep_largest(std::span<double> row, std::size_t keep, std::vector<Token>& order) {
  for (std::size_t i = keep; i < order.size(); ++i) row[static_cast<std::size_t>(order[i])] = 0;
}

/// Adjusts a probability row in place. `order` is scratch.
inline void adjust(std::span<double> row, const Adjustment& how, std::vector<Token>& order) {
  if (row.empty() || how.identity()) return;
  if (how.temperature == 0) {
    const Token best = argmax(Row{row.data(), static_cast<std::int32_t>(row.size())});
    if (best == invalid_token) return;
    std::fill(row.begin(), row.end(), 0.0);
    row[static_cast<std::size_t>(best)] = 1;
    return;
  }
  // A NaN has no place in an order, and must not be cut away: whoever samples the row has to notice it.
  if (std::isnan(total_mass(Row{row.data(), static_cast<std::int32_t>(row.size())}))) return;

  const auto heat = [&] {
    if (how.temperature == 1) return;
    const double largest = *std::max_element(row.begin(), row.end());
    for (double& mass : row) mass = mass > 0 ? std::pow(mass / largest, 1 / how.temperature) : mass;
    normalise(row);
  };
  if (how.top_k == 0 && how.top_p >= 1) return heat();
  order.resize(row.size());
  std::iota(order.begin(), order.end(), Token{0});
  const auto larger = [&](Token a, Token b) {
    const double mass_a = row[static_cast<std::size_t>(a)];
    const double mass_b = row[static_cast<std::size_t>(b)];
    return mass_a > mass_b || (mass_a == mass_b && a < b);
  };
  // Temperature leaves the order of masses as it is: only what top-k keeps needs its power.
  const bool cuts = how.top_k > 0 && static_cast<std::size_t>(how.top_k) < row.size();
  if (cuts) {  // what is cut away needs no order
    std::partial_sort(order.begin(), order.begin() + how.top_k, order.end(), larger);
    keep_largest(row, static_cast<std::size_t>(how.top_k), order);
    normalise(row);
    heat();
  } else {
    heat();
    std::sort(order.begin(), order.end(), larger);
  }
  if (how.top_p < 1) {
    double running = 0;
    std::size_t keep = 0;
    while (keep < order.size() && running < how.top_p)
      running += row[static_cast<std::size_t>(order[keep++])];
    keep_largest(row, std::max<std::size_t>(keep, 1), order);
    normalise(row);
  }
}

}  // namespace speclab
