// Applies sampling options to a row (Leviathan et al. 2023, section 2.2): temperature, top-k, top-p and
// argmax change the row, and later code samples the changed row. Host only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/distribution/adjustment.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// Divides `row` by its total. A row that sums to 0 stays as it is.
inline void normalise(std::span<double> row) {
  const double total = total_probability(Row{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > 0)) return;
  for (double& probability : row) probability /= total;
}

/// Writes the softmax of logits / temperature into `row`; temperature > 0.
inline void softmax(std::span<const double> logits, double temperature, std::span<double> row) {
  assert(logits.size() == row.size() && temperature > 0);
  const double largest = *std::max_element(logits.begin(), logits.end());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::exp((logits[i] - largest) / temperature);
  normalise(row);
}

/// Orders ids by their probability in `row`, the larger first; ties go to the lower id.
struct LargerProbability {
  std::span<const double> row;

  double of(Token id) const { return row[static_cast<std::size_t>(id)]; }
  bool operator()(Token a, Token b) const { return of(a) > of(b) || (of(a) == of(b) && a < b); }
};

/// Writes the ids of the `keep` largest probabilities into `order`, the larger first, and sets all other
/// probabilities to 0. Requires 0 < keep < row.size(). It keeps the largest so far in a heap and compares
/// each probability with the heap's smallest.
inline void keep_largest(std::span<double> row, std::size_t keep, std::vector<Token>& order) {
  const LargerProbability larger{row};
  order.clear();
  double smallest = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool full = order.size() == keep;
    if (full && !(row[i] > smallest)) continue;
    if (full) {
      std::pop_heap(order.begin(), order.end(), larger);
      order.pop_back();
    }
    order.push_back(static_cast<Token>(i));
    std::push_heap(order.begin(), order.end(), larger);
    smallest = larger.of(order.front());
  }
  std::sort_heap(order.begin(), order.end(), larger);
  const Token last = order.back();
  const auto ids = static_cast<Token>(row.size());
  for (Token id = 0; id < ids; ++id) {
    double& probability = row[static_cast<std::size_t>(id)];
    probability = probability > smallest || (probability == smallest && id <= last) ? probability : 0;
  }
}

/// Divides the probabilities of the ids in `retained` by their total; all others in `row` are 0.
inline void normalise_retained(std::span<double> row, std::span<const Token> retained) {
  const double total = total_probability(Row{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > 0)) return;
  for (const Token id : retained) row[static_cast<std::size_t>(id)] /= total;
}

/// Keeps the largest probabilities until they reach `share` of 1, at least one, and divides them by their
/// total. It takes them from a heap and so sorts only the retained ones of a long row. `order` is scratch.
inline void keep_until(std::span<double> row, double share, std::vector<Token>& order) {
  order.resize(row.size());
  std::iota(order.begin(), order.end(), Token{0});
  const auto smaller = [larger = LargerProbability{row}](Token a, Token b) { return larger(b, a); };
  std::make_heap(order.begin(), order.end(), smaller);
  auto end = order.end();
  double running = 0;
  do {
    std::pop_heap(order.begin(), end--, smaller);
    running += row[static_cast<std::size_t>(*end)];
  } while (end != order.begin() && running < share);
  for (auto rest = order.begin(); rest != end; ++rest) row[static_cast<std::size_t>(*rest)] = 0;
  normalise_retained(row,
                     std::span<const Token>(order).subspan(static_cast<std::size_t>(end - order.begin())));
}

/// Returns probability^(1/T), relative to the largest probability.
inline double heated(double probability, double largest, double temperature) {
  return probability > 0 ? std::pow(probability / largest, 1 / temperature) : probability;
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
  // A NaN stays in the row, so that sampling reports it.
  if (std::isnan(total_probability(Row{row.data(), static_cast<std::int32_t>(row.size())}))) return;

  // Temperature does not change the order, so only the top k probabilities need the power.
  if (how.top_k > 0 && static_cast<std::size_t>(how.top_k) < row.size()) {
    keep_largest(row, static_cast<std::size_t>(how.top_k), order);
    normalise_retained(row, order);
    if (how.temperature != 1) {
      const double largest = row[static_cast<std::size_t>(order.front())];
      for (const Token id : order) {
        double& probability = row[static_cast<std::size_t>(id)];
        probability = heated(probability, largest, how.temperature);
      }
      normalise_retained(row, order);
    }
  } else {
    if (how.temperature != 1) {
      const double largest = *std::max_element(row.begin(), row.end());
      for (double& probability : row) probability = heated(probability, largest, how.temperature);
      normalise(row);
    }
    if (how.top_p >= 1) return;
    keep_until(row, how.top_p, order);
    return;
  }
  if (how.top_p < 1) {
    double running = 0;
    std::size_t keep = 0;
    while (keep < order.size() && running < how.top_p)
      running += row[static_cast<std::size_t>(order[keep++])];
    keep = std::max<std::size_t>(keep, 1);
    for (std::size_t i = keep; i < order.size(); ++i) row[static_cast<std::size_t>(order[i])] = 0;
    normalise_retained(row, std::span(order).first(keep));
  }
}

}  // namespace speclab
