// Reads TensorRT-LLM's request_perf_metrics.speculative_decoding, which return_perf_metrics requests.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* accepted_key = "total_accepted_draft_tokens";

ModelLogs read_tensorrt_request(const LogSource& source) {
  ModelLog log;
  for (const auto& [place, model] : records_with(source, accepted_key)) {
    const std::uint64_t drafted = count_in(place.at("total_draft_tokens"));
    if (drafted == 0) continue;
    const std::uint64_t gamma = drafted_option(source, "request_perf_metrics do not say");
    // The last draft of a request may be shorter.
    log.add_sums(place.where, (drafted + gamma - 1) / gamma, drafted, count_in(place.at(accepted_key)));
  }
  return {{"", log}};
}

}  // namespace

LogFormat tensorrt_request_log_format() {
  return {"tensorrt_request",
          "TensorRT-LLM",
          "request_perf_metrics of responses under return_perf_metrics; needs --drafted, its max_draft_len.",
          "{\"request_perf_metrics\": {\"speculative_decoding\": {\"acceptance_rate\": 0.6, "
          "\"total_accepted_draft_tokens\": 18, \"total_draft_tokens\": 30}}}\n",
          "https://github.com/NVIDIA/TensorRT-LLM/pull/17082",
          [](const LogSource& source) { return no_record_with(source, accepted_key); },
          read_tensorrt_request};
}

}  // namespace speclab
