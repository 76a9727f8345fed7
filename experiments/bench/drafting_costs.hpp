// Measures the cost of drafting without a model: reading a settled token, and proposing a row.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Returns the names of the rows, in their order.
std::vector<std::string> drafting_names();

/// Measures prompt lookup and suffix drafts on the words of `text_bytes` bytes of generated text with rows of
/// 32,000 tokens, in rounds of four settled tokens. Returns medians of `repetitions`, for which the drafters
/// take turns.
std::vector<DraftingRow> drafting_costs(std::size_t text_bytes, int repetitions);

}  // namespace speclab
