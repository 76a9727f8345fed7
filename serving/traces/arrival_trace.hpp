// Reads requests recorded by a server.
#pragma once

#include <string>

#include "serving/server/request_stream.hpp"

namespace speclab {

/// Reads requests, in the order of arrival, from a file in one of three forms:
///   CSV with the header TIMESTAMP,ContextTokens,GeneratedTokens and times such as 2023-11-16 18:17:03.97
///     (Azure/AzurePublicDataset, AzureLLMInferenceTrace_conv.csv and _code.csv);
///   JSON lines with timestamp, input_length and output_length: in whole milliseconds (kvcache-ai/Mooncake,
///     FAST25-release/traces), or, with a chat_id, in seconds (alibaba-edu/qwen-bailian-usagetraces-anon);
///   CSV of seconds,prompt,output with or without a header.
/// Columns must stand in this order, and a header must have exactly these names. A side without tokens counts
/// as one token. Throws UsageError, naming the line, for fewer than two requests, and if all arrive at once.
Trace read_trace(const std::string& file);

}  // namespace speclab
