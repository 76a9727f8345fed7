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

/// Numbers that differ by less, relatively, count as equal. This is above the rounding of a logarithm, an
/// exponential and a sum over a vocabulary, and far below a probability that matters.
inline constexpr double cut_tolerance = 1e-12;

/// Returns whether an amount reaches a bound.
inline bool reaches(double amount, double bound) { return amount >= bound * (1 - cut_tolerance); }

/// Returns how many of `count` falling weights reach `share` together, at least one.
template <class WeightAt>
std::size_t count_reaching(std::size_t count, double share, const WeightAt& weight_at) {
  double running = 0;
  std::size_t keep = 0;
  while (keep < count && !reaches(running, share)) running += weight_at(keep++);
  return std::max<std::size_t>(keep, 1);
}

/// Puts ids as likely as the last of the first `keep` in the order of their numbers, so that the lower are
/// among the first. `order` begins with the likeliest; `probability(id)` must not rise.
template <class Probability>
void order_ties(std::span<Token> order, std::size_t keep, const Probability& probability) {
  const double last = probability(order[keep - 1]);
  const auto first = std::partition_point(order.begin(), order.end(),
                                          [&](Token id) { return !reaches(last, probability(id)); });
  const auto end =
      std::partition_point(first, order.end(), [&](Token id) { return reaches(probability(id), last); });
  std::sort(first, end);
}

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
/// probabilities to 0; of ids as likely as the last one, the lower stay. Requires 0 < keep < row.size(). It
/// keeps the largest so far in a heap and compares each probability with the heap's smallest.
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
  auto tie = std::partition_point(order.begin(), order.end(),
                                  [&](Token id) { return !reaches(smallest, larger.of(id)); });
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!reaches(smallest, row[i])) continue;
    if (tie != order.end() && reaches(row[i], smallest)) {
      *tie++ = static_cast<Token>(i);
    } else {
      row[i] = 0;
    }
  }
}

/// Divides the probabilities of the ids in `retained` by their total; all others in `row` are 0.
inline void normalise_retained(std::span<double> row, std::span<const Token> retained) {
  const double total = total_probability(Row{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > 0)) return;
  for (const Token id : retained) row[static_cast<std::size_t>(id)] /= total;
}

/// Keeps the first `keep` ids of `order`, which begins with the likeliest, and divides them by their total.
/// All ids that are not in `order` are 0.
inline void keep_first(std::span<double> row, std::size_t keep, std::span<Token> order) {
  order_ties(order, keep, [&](Token id) { return row[static_cast<std::size_t>(id)]; });
  for (const Token id : order.subspan(keep)) row[static_cast<std::size_t>(id)] = 0;
  normalise_retained(row, order.first(keep));
}

/// Keeps the largest probabilities until they reach `share` of 1, at least one, and divides them by their
/// total. It takes them from a heap and so sorts only the retained ones of a long row. `order` is scratch.
inline void keep_until(std::span<double> row, double share, std::vector<Token>& order) {
  order.resize(row.size());
  std::iota(order.begin(), order.end(), Token{0});
  const auto smaller = [larger = LargerProbability{row}](Token a, Token b) { return larger(b, a); };
  std::make_heap(order.begin(), order.end(), smaller);
  auto end = order.end();
  double last = 0;
  const auto pop = [&] {
    std::pop_heap(order.begin(), end--, smaller);
    return row[static_cast<std::size_t>(*end)];
  };
  const std::size_t keep = count_reaching(row.size(), share, [&](std::size_t) { return last = pop(); });
  while (end != order.begin() && reaches(row[static_cast<std::size_t>(order.front())], last)) pop();
  for (auto rest = order.begin(); rest != end; ++rest) row[static_cast<std::size_t>(*rest)] = 0;
  std::reverse(end, order.end());
  keep_first(row, keep, std::span<Token>(order).subspan(static_cast<std::size_t>(end - order.begin())));
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
    const double largest = row[static_cast<std::size_t>(best)];
    const auto first = std::find_if(row.begin(), row.end(), [&](double p) { return reaches(p, largest); });
    std::fill(row.begin(), row.end(), 0.0);
    *first = 1;
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
    if (how.top_p < 1) keep_until(row, how.top_p, order);
    return;
  }
  if (how.top_p >= 1) return;
  const auto at = [&](std::size_t place) { return row[static_cast<std::size_t>(order[place])]; };
  keep_first(row, count_reaching(order.size(), how.top_p, at), order);
}

}  // namespace speclab
