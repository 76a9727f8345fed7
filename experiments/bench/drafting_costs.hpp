// What drafting without a model costs: reading a settled token, and proposing a row.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Names of the rows, in their order.
std::vector<std::string> drafting_names();

/// Prompt lookup and suffix drafts on the words of `text_bytes` bytes of made text and rows of 32,000 tokens,
/// in rounds of four settled tokens. Medians of `repetitions`, in turn.
std::vector<DraftingRow> drafting_costs(std::size_t text_bytes, int repetitions);

}  // namespace speclab
