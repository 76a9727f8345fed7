// Reads requests recorded by a server.
#pragma once

#include <optional>
#include <string>

#include "serving/server/request_stream.hpp"

namespace speclab {

/// The unit of a trace's times.
enum class TimeUnit { s, ms, us, ns };

/// Reads requests, in the order of arrival, from a file in one of these forms, with or without a byte order
/// mark:
///   CSV with a header, or lines of JSON, whose names give the time, the prompt's tokens and the output's
///     tokens: Azure's (AzureLLMInferenceTrace_conv.csv), BurstGPT's, Splitwise's, Vidur's, Mooncake's,
///     Alibaba's (qwen-bailian) or similar ones. Other columns are left out;
///   the result of `vllm bench serve --save-detailed`, with lists start_times, input_lens and output_lens;
///   CSV without a header: seconds,prompt,output.
/// The unit is `unit`, or that of the header (arrival_ms, "time (s)"), or that of the trace whose names these
/// are; dates need none. A side without tokens counts as one token. Throws UsageError, naming the line: if
/// the unit is not known, for fewer than two requests, if all arrive at once, if records of traces in two
/// units follow each other, for times since 1970 in another unit, and, unless `unit` is given, if more than
/// 10,000 arrive per second, or fewer than one in 1000 seconds.
Trace read_trace(const std::string& file, std::optional<TimeUnit> unit = {});

}  // namespace speclab
