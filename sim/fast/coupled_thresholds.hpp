// Computes the thresholds of core/fast/gumbel_verification.hpp for many draws together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/fast/gumbel_verification.hpp"
#include "sim/fast/row_draws.hpp"

namespace speclab {

/// Raises draws[i].above from p/q of the rejected token to the threshold of numbers[i], the number that
/// rejected it.
inline void find_thresholds(const PairRows& rows, std::span<RowDraw> draws, std::span<const double> numbers,
                            DrawBlocks& blocks) {
  constexpr int max_steps = 64;
  thread_local std::vector<std::size_t> rising;
  thread_local std::vector<ContextTotal> totals;
  rising.clear();
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].above = std::max(draws[i].above, numbers[i]);
    rising.push_back(i);
  }
  for (int step = 0; step < max_steps && !rising.empty(); ++step) {
    totals.clear();
    for (const std::size_t i : rising) totals.push_back({draws[i].context, draws[i].above});
    rows.total(totals, blocks);
    auto total = totals.begin();
    std::erase_if(rising, [&](std::size_t i) {
      const double next = coupled_step(numbers[i], draws[i].above, total->total, total->draft);
      ++total;
      if (!(next > draws[i].above)) return true;
      draws[i].above = next;
      return false;
    });
  }
}

}  // namespace speclab
