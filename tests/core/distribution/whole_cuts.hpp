// The second witness of cuts: top-k, top-p and min-p on rows of whole numbers, in whole numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/random/philox.hpp"
#include "core/token.hpp"

namespace speclab {

/// A row as whole numbers and as doubles, and cuts whose bounds are fractions, often just those of the row.
struct WholeCuts {
  struct Fraction {
    std::int64_t above, below;
    double value() const { return static_cast<double>(above) / static_cast<double>(below); }
  };
  std::vector<std::int64_t> weights = {};
  std::vector<double> row = {};
  std::int32_t top_k = 0;
  Fraction top_p{1, 1};
  Fraction min_p{0, 1};

  explicit WholeCuts(std::uint32_t number) : stream_(71, Site{number, 0, Draw{Use::world, 3}}) {
    const auto size = static_cast<std::size_t>(below(9) + 2);
    const auto [a, b] = std::pair{drawn(size), drawn(size)};
    const std::int64_t total_a = sum(a);
    const std::int64_t total_b = sum(b);
    // Half of the rows are mixtures, in which equal numbers differ in their last digits.
    const std::int64_t tenths = below(2) == 0 ? 10 : below(9) + 1;
    for (std::size_t id = 0; id < size; ++id) {
      weights.push_back(tenths * a[id] * total_b + (10 - tenths) * b[id] * total_a);
      const double share = static_cast<double>(tenths) / 10;
      row.push_back(share * (static_cast<double>(a[id]) / static_cast<double>(total_a)) +
                    (1 - share) * (static_cast<double>(b[id]) / static_cast<double>(total_b)));
    }
    if (below(3) == 0) top_k = below(static_cast<int>(size)) + 1;
    const std::vector<std::int64_t> left = falling();
    const auto some = static_cast<std::size_t>(below(static_cast<int>(left.size())));
    if (below(2) == 0)
      top_p = {std::accumulate(left.begin(), left.begin() + std::ptrdiff_t(some) + 1, std::int64_t{0}),
               sum(left)};
    if (below(2) == 0) min_p = {left[some], left.front()};
  }

  /// Returns the ids that stay.
  std::vector<Token> kept() const {
    std::vector<Token> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    const auto weight = [&](Token id) { return weights[static_cast<std::size_t>(id)]; };
    std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) { return weight(a) > weight(b); });
    if (top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(top_k)));
    std::int64_t total = 0;
    for (const Token id : order) total += weight(id);
    std::int64_t running = 0;
    std::vector<Token> out;
    for (const Token id : order) {
      if (running * top_p.below >= top_p.above * total && running > 0) break;
      running += weight(id);
      if (weight(id) > 0 && weight(id) * min_p.below >= min_p.above * weight(order.front()))
        out.push_back(id);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  Philox stream_;

  int below(int n) { return static_cast<int>(open_unit(stream_()) * n); }
  std::vector<std::int64_t> drawn(std::size_t size) {
    std::vector<std::int64_t> out(size);
    for (std::int64_t& one : out) one = below(10);
    out[static_cast<std::size_t>(below(static_cast<int>(size)))] += 1;
    return out;
  }
  static std::int64_t sum(const std::vector<std::int64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  }
  /// Returns the weights that top-k keeps, the largest first, without zeros.
  std::vector<std::int64_t> falling() const {
    std::vector<std::int64_t> out = weights;
    std::sort(out.rbegin(), out.rend());
    if (top_k > 0) out.resize(std::min(out.size(), static_cast<std::size_t>(top_k)));
    out.erase(std::find(out.begin(), out.end(), 0), out.end());
    return out;
  }
};

/// Returns the ids of a row with a probability above 0.
inline std::vector<Token> support_of(const std::vector<double>& row) {
  std::vector<Token> out;
  for (std::size_t id = 0; id < row.size(); ++id)
    if (row[id] > 0) out.push_back(static_cast<Token>(id));
  return out;
}

}  // namespace speclab
