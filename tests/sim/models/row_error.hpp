// The sums of an n-gram model's rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/models/ngram_model.hpp"

namespace speclab {

/// Returns the largest |sum - 1| over the rows of the empty context and of up to `samples` known contexts of
/// each length, evenly spaced.
inline double max_row_error(const NgramModel& model, std::size_t samples) {
  std::vector<double> scratch;
  double worst = std::abs(total_probability(model.next({}, scratch)) - 1);
  for (int length = 1; length < model.order(); ++length) {
    const std::size_t all = model.contexts(length);
    const std::size_t taken = std::min(samples, all);
    for (std::size_t i = 0; i < taken; ++i) {
      const auto tokens = model.packing().unpack(model.known(length, i * all / taken).key, length);
      const auto context = std::span(tokens).first(static_cast<std::size_t>(length));
      worst = std::max(worst, std::abs(total_probability(model.next(context, scratch)) - 1));
    }
  }
  return worst;
}

}  // namespace speclab
