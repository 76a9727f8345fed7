// Reads responses of vLLM under --per-request-spec-decode-metrics: metrics.speculative_decoding with
// acceptance_histogram, and with single rounds under "detailed". TensorRT-LLM proposes the same object (its
// pull request 19311).
#include <nlohmann/json.hpp>
#include <numeric>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* histogram_key = "acceptance_histogram";

ModelLogs read_vllm_response(const LogSource& source) {
  ModelLogs logs;
  for (const auto& [place, model, usage] : records_with(source, histogram_key)) {
    ModelLog& log = logs[model];
    if (place.has("per_step_accepted") && place.has("per_step_drafted")) {
      const std::vector<std::uint64_t> accepted = counts_in(place.at("per_step_accepted"));
      const std::vector<std::uint64_t> drafted = counts_in(place.at("per_step_drafted"));
      if (accepted.size() != drafted.size()) {
        throw UsageError("{}: {} steps accepted and {} drafted", place.where, accepted.size(),
                         drafted.size());
      }
      for (std::size_t i = 0; i < accepted.size(); ++i) log.add_round(place.where, drafted[i], accepted[i]);
      continue;
    }
    const std::vector<std::uint64_t> histogram = counts_in(place.at(histogram_key));
    // A request that drafted nothing says nothing about acceptance.
    const auto rounds = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
    if (rounds == 0) continue;
    std::uint64_t accepted = 0;
    for (std::size_t i = 0; i < histogram.size(); ++i) accepted += i * histogram[i];
    // The prompt's run and the one for the last token do not draft.
    if (usage) check_drafting(place.where, rounds + 1, runs_of(*usage, accepted, 1), accepted);
    log.add_histogram(
        place.where, histogram,
        place.has("num_draft_tokens") ? std::optional(count_in(place.at("num_draft_tokens"))) : std::nullopt);
  }
  return logs;
}

}  // namespace

LogFormat vllm_response_log_format() {
  return {
      "vllm_response",
      "vLLM",
      "Responses, one per line or streamed, of a server with --per-request-spec-decode-metrics summary or detailed.",
      "{\"model\": \"m\", \"metrics\": {\"speculative_decoding\": {\"acceptance_histogram\": [39, 1, 0, 3], "
      "\"num_spec_steps\": 43, \"num_accepted_draft_tokens\": 10, \"num_draft_tokens\": 129}}}\n",
      "https://github.com/vllm-project/vllm/pull/48915",
      [](const LogSource& source) { return no_record_with(source, histogram_key); },
      read_vllm_response};
}

}  // namespace speclab
