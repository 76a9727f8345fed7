// Reads responses of vLLM under --per-request-spec-decode-metrics: metrics.speculative_decoding with
// acceptance_histogram, and with single rounds under "detailed". TensorRT-LLM writes the same object (its
// pull request 19311), with other names for the totals. A record without a histogram has its sums only.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* histogram_key = "acceptance_histogram";
constexpr const char* spec_steps_key = "num_spec_steps";

/// Warns once of a number that is not read and may change what the others mean.
void warn_of_others(ModelLog& log, const JsonPlace& place) {
  static const std::set<std::string> known = {
      spec_steps_key,       "num_accepted_draft_tokens", "num_draft_tokens",
      "num_spec_tokens",    "acceptance_rate",           "mean_acceptance_length",
      "total_draft_tokens", "draft_acceptance_rate",     "total_accepted_draft_tokens"};
  for (const auto& [key, value] : place.value->items()) {
    if (value.is_number() && known.count(key) == 0) log.warn_unread(place.below(key));
  }
}

ModelLogs read_vllm_response(const LogSource& source) {
  ModelLogs logs;
  for (const auto& [place, model, usage] : records_with(source, {histogram_key, spec_steps_key})) {
    ModelLog& log = logs[model];
    warn_of_others(log, place);
    const auto stated = first_of(place, {"num_draft_tokens", "total_draft_tokens"});
    std::optional<std::uint64_t> drafted;
    if (stated) drafted = count_in(*stated);
    std::uint64_t rounds = 0;
    std::uint64_t accepted = 0;
    if (place.has("per_step_accepted") && place.has("per_step_drafted")) {
      const std::vector<std::uint64_t> steps = counts_in(place.at("per_step_accepted"));
      const std::vector<std::uint64_t> drafts = counts_in(place.at("per_step_drafted"));
      if (steps.size() != drafts.size())
        throw UsageError("{}: {} steps accepted and {} drafted", place.where, steps.size(), drafts.size());
      for (std::size_t i = 0; i < steps.size(); ++i) log.add_round(place.where, drafts[i], steps[i]);
      rounds = steps.size();
      accepted = std::accumulate(steps.begin(), steps.end(), accepted);
      drafted = std::accumulate(drafts.begin(), drafts.end(), std::uint64_t{0});
    } else if (place.has(histogram_key)) {
      std::vector<std::uint64_t> histogram = counts_in(place.at(histogram_key));
      // Servers cut the zeros at the end.
      if (const auto gamma = first_of(place, {"num_spec_tokens"}); gamma && !stated)
        histogram.resize(
            std::max<std::size_t>(histogram.size(), checked_draft(place.where, count_in(*gamma)) + 1));
      for (std::size_t i = 0; i < histogram.size(); ++i) {
        rounds += histogram[i];
        accepted += i * histogram[i];
      }
      // A request that drafted nothing says nothing about acceptance.
      if (rounds > 0) log.add_histogram(place.where, histogram, drafted);
    } else {
      rounds = count_in(place.at(spec_steps_key));
      accepted = count_in(place.at("num_accepted_draft_tokens"));
      if (!drafted) drafted = count_in(place.at("num_draft_tokens"));
      log.add_sums(place.where, rounds, *drafted, accepted);
    }
    const auto kept = static_cast<double>(accepted);
    check_stated(place, {{spec_steps_key, static_cast<double>(rounds)},
                         {"num_accepted_draft_tokens", kept},
                         {"total_accepted_draft_tokens", kept}});
    if (drafted) {
      const auto sum = static_cast<double>(*drafted);
      check_stated(place, {{"num_draft_tokens", sum}, {"total_draft_tokens", sum}});
      if (sum > 0) check_stated(place, {{"draft_acceptance_rate", kept / sum}});
    }
    if (rounds == 0) continue;
    check_stated(place, {{"mean_acceptance_length", 1 + kept / static_cast<double>(rounds)}});
    // The prompt's run and the one for the last token do not draft.
    if (usage) check_drafting(place.where, rounds + 1, runs_of(*usage, accepted, 1), accepted);
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
      [](const LogSource& source) {
        return has_record_with(source, {histogram_key, spec_steps_key});
      },
      read_vllm_response};
}

}  // namespace speclab
