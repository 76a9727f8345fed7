// Counters of speculative decoding on a page of metrics, by the names that vLLM gave them and llama.cpp took
// over.
#pragma once

#include <string_view>

#include "serving/advisor/log_format.hpp"

namespace speclab {

/// Rounds, drafted tokens, and how many rounds accepted each position, summed over engines, of the samples
/// `prefix`spec_decode_... of a page, by the label model_name. UsageError without rounds or positions.
ModelLogs read_spec_decode_page(const LogSource& source, std::string_view prefix);

}  // namespace speclab
