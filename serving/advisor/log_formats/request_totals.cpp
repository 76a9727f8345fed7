// Reads totals of requests: drafted, accepted and emitted tokens, as llama-server, TensorRT-LLM and LM Studio
// write them. A request is many rounds, so their number follows from the emitted tokens and --drafted.
// mlx-vlm writes llama-server's keys, and draft_rounds.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

/// The keys of one server.
struct TotalsKeys {
  const char* accepted;
  const char* drafted;
  const char* emitted;  ///< null: the usage of the response has it
};

constexpr TotalsKeys llama_keys{"draft_n_accepted", "draft_n", "predicted_n"};
constexpr TotalsKeys tensorrt_keys{"total_accepted_draft_tokens", "total_draft_tokens", nullptr};
constexpr TotalsKeys lm_studio_keys{"acceptedDraftTokensCount", "totalDraftTokensCount",
                                    "predictedTokensCount"};
constexpr TotalsKeys lm_studio_rest_keys{"accepted_draft_tokens_count", "total_draft_tokens_count",
                                         "predicted_tokens_count"};
constexpr const char* rounds_key = "draft_rounds";

void add_request(ModelLog& log, const JsonRecord& record, const TotalsKeys& keys, const LogSource& source) {
  const JsonPlace& place = record.place;
  const std::uint64_t accepted = count_in(place.at(keys.accepted));
  const std::uint64_t drafted = count_in(place.at(keys.drafted));
  if (drafted == 0) return;
  const std::uint64_t emitted = keys.emitted != nullptr && place.has(keys.emitted)
                                    ? count_in(place.at(keys.emitted))
                                    : record.completion_tokens.value_or(0);
  const std::uint64_t runs = runs_of(emitted, accepted, 0);
  std::uint64_t rounds = 0;
  if (place.has(rounds_key)) {
    rounds = count_in(place.at(rounds_key));
    // The run of the prompt and the one for the last token do not draft.
    check_drafting(place.where, rounds + 1, runs - std::min<std::uint64_t>(runs, 1), accepted);
    if (emitted > 0) check_emitted(place.where, rounds, drafted, accepted, emitted, 1);
  } else {
    const std::string known =
        runs == 0
            ? "totals of requests do not say"
            : fmt::format(
                  "{} tokens emitted and {} accepted are {:.3g} tokens a run of the target; these totals do not say",
                  emitted, accepted, static_cast<double>(emitted) / static_cast<double>(runs));
    rounds = rounds_of_request(place.where, drafted_option(source, known), drafted, accepted, emitted);
  }
  log.add_sums(place.where, rounds, drafted, accepted);
}

/// A record lacks one of its keys only if it is broken.
RecordKeys totals_keys(const TotalsKeys& keys) { return {keys.accepted, keys.drafted}; }

template <const TotalsKeys& keys>
bool is_request_totals(const LogSource& source) {
  // TensorRT-LLM's newer records have rounds, too, and are read as vLLM's.
  const std::vector<JsonRecord> records = records_with(source, totals_keys(keys));
  return std::any_of(records.begin(), records.end(), [](const JsonRecord& record) {
    return !record.place.has("acceptance_histogram") && !record.place.has("num_spec_steps");
  });
}

template <const TotalsKeys& keys>
ModelLogs read_request_totals(const LogSource& source) {
  ModelLogs logs;
  for (const JsonRecord& record : records_with(source, totals_keys(keys)))
    add_request(logs[record.model], record, keys, source);
  return logs;
}

}  // namespace

LogFormat llama_server_response_log_format() {
  return {
      "llama_server_response",
      "llama.cpp, MLX",
      "timings of responses with draft_n and draft_n_accepted; llama-server's need --drafted, its --spec-draft-n-max, with --spec-draft-p-min 0.",
      "{\"timings\": {\"predicted_n\": 111, \"draft_kind\": \"mtp\", \"draft_rounds\": 30, \"draft_n\": 90, "
      "\"draft_n_accepted\": 81}}\n",
      "https://github.com/ggml-org/llama.cpp/pull/12603",
      is_request_totals<llama_keys>,
      read_request_totals<llama_keys>};
}

LogFormat tensorrt_request_log_format() {
  return {"tensorrt_request",
          "TensorRT-LLM",
          "request_perf_metrics of responses under return_perf_metrics; needs --drafted, its max_draft_len.",
          "{\"request_perf_metrics\": {\"speculative_decoding\": {\"acceptance_rate\": 0.6, "
          "\"total_accepted_draft_tokens\": 18, \"total_draft_tokens\": 30}}}\n",
          "https://github.com/NVIDIA/TensorRT-LLM/pull/17082",
          is_request_totals<tensorrt_keys>,
          read_request_totals<tensorrt_keys>};
}

LogFormat lm_studio_log_format() {
  return {"lm_studio",
          "LM Studio",
          "stats of the SDK's predictions, one object per line; needs --drafted.",
          "{\"stats\": {\"predictedTokensCount\": 61, \"totalDraftTokensCount\": 95, "
          "\"acceptedDraftTokensCount\": 40}}\n",
          "https://lmstudio.ai/docs/app/advanced/speculative-decoding",
          is_request_totals<lm_studio_keys>,
          read_request_totals<lm_studio_keys>};
}

LogFormat lm_studio_rest_log_format() {
  return {
      "lm_studio_rest",
      "LM Studio",
      "stats of responses of the REST interface, one object per line; needs --drafted.",
      "{\"model\": \"m\", \"usage\": {\"completion_tokens\": 61}, \"stats\": {\"total_draft_tokens_count\": 95, "
      "\"accepted_draft_tokens_count\": 40}}\n",
      "https://lmstudio.ai/docs/app/api/endpoints/rest",
      is_request_totals<lm_studio_rest_keys>,
      read_request_totals<lm_studio_rest_keys>};
}

}  // namespace speclab
