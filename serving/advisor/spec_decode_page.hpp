// Reads counters of speculative decoding on a page of metrics, under the names that vLLM introduced and
// llama.cpp adopted.
#pragma once

#include <string_view>

#include "serving/advisor/log_format.hpp"

namespace speclab {

/// Returns rounds, drafted tokens, and how many rounds accepted each position, by the label model_name and
/// summed over engines. They are the samples `prefix`spec_decode_... of a page. Throws UsageError without
/// rounds or positions.
ModelLogs read_spec_decode_page(const LogSource& source, std::string_view prefix);

}  // namespace speclab
