// Requests as a server recorded them.
#pragma once

#include <string>

#include "serving/server/request_stream.hpp"

namespace speclab {

/// Of a file in one of three forms, in the order of arrival:
///   CSV with the header TIMESTAMP,ContextTokens,GeneratedTokens and times such as 2023-11-16 18:17:03.97
///     (Azure/AzurePublicDataset, AzureLLMInferenceTrace_conv.csv and _code.csv);
///   JSON lines with timestamp in milliseconds, input_length and output_length (kvcache-ai/Mooncake,
///     FAST25-release/traces);
///   CSV of seconds,prompt,output with or without a header.
/// Columns stand in the order of the header, which has these names and no others.
/// A request without tokens on one side counts as one token there. UsageError that names the line, for fewer
/// than two requests, and where all arrive at once.
Trace read_trace(const std::string& file);

}  // namespace speclab
