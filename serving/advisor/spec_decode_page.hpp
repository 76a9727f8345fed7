// Reads speculative-decoding counters on a page of metrics, under the names of vLLM, which llama.cpp adopted.
#pragma once

#include <string_view>

#include "serving/advisor/log_format.hpp"

namespace speclab {

/// Returns rounds, drafted tokens, and rounds that accepted each position, by the label model_name, summed
/// over engines. Reads the samples named `prefix`spec_decode_... . Throws UsageError without rounds or
/// positions.
ModelLogs read_spec_decode_page(const LogSource& source, std::string_view prefix);

}  // namespace speclab
