// Reads counters of speculative decoding on a page of /metrics of vLLM, or of llama-server (--metrics), which
// has them under another prefix: rounds, drafted tokens, and how many rounds accepted each position, by the
// label model_name and summed over engines.
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view drafts_counter = "spec_decode_num_drafts";
constexpr std::string_view draft_tokens_counter = "spec_decode_num_draft_tokens";
constexpr std::string_view per_position_counter = "spec_decode_num_accepted_tokens_per_pos";

/// A server's other counters on the page.
struct PageNames {
  std::string_view prefix;
  std::string_view emitted;
  std::string_view requests;  ///< first tokens; empty if it does not count them
};
constexpr PageNames vllm_names{"vllm:", "generation_tokens", "time_to_first_token_seconds_count"};
constexpr PageNames llama_names{"llamacpp:", "tokens_predicted", ""};

/// The counters of one model, summed over engines.
struct SpecDecodeCounters {
  std::uint64_t rounds = 0;
  std::uint64_t accepted = 0;
  std::uint64_t emitted = 0;
  std::optional<std::uint64_t> requests = {};
  std::optional<std::uint64_t> drafted = {};
  std::map<std::uint64_t, std::uint64_t> by_position = {};
};

ModelLog log_of(const SpecDecodeCounters& counters, const std::string& where, std::string_view prefix) {
  std::vector<std::uint64_t> accepted;
  for (const auto& [position, count] : counters.by_position) {
    if (position != accepted.size()) {
      throw UsageError("{}: {}{} has no position {}", where, prefix, per_position_counter, accepted.size());
    }
    accepted.push_back(count);
  }
  if (counters.rounds == 0 || accepted.empty()) {
    throw UsageError("{}: needs samples of {}{} and {}{}", where, prefix, drafts_counter, prefix,
                     per_position_counter);
  }
  check_drafting(where, counters.rounds,
                 runs_of(counters.emitted, counters.accepted, counters.requests.value_or(0)),
                 counters.accepted, counters.requests ? drafting_share : drafting_share_with_prompts);
  ModelLog log;
  log.add_totals(where, counters.rounds, accepted,
                 counters.drafted.value_or(counters.rounds * accepted.size()));
  return log;
}

ModelLogs read_spec_decode_page(const LogSource& source, const PageNames& names) {
  const std::string_view prefix = names.prefix;
  std::map<std::string, SpecDecodeCounters> models;
  for (const PrometheusSample& sample : prometheus_samples(source, fmt::format("{}spec_decode", prefix))) {
    SpecDecodeCounters& counters = models[sample.label("model_name")];
    const std::string_view name = std::string_view(sample.name).substr(prefix.size());
    if (name == drafts_counter) {
      counters.rounds += counter_of(sample);
    } else if (name == draft_tokens_counter) {
      counters.drafted = counters.drafted.value_or(0) + counter_of(sample);
    } else if (name == per_position_counter) {
      if (sample.labels.count("position") == 0) refuse_line(sample.line, "no label \"position\"");
      const std::uint64_t count = counter_of(sample);
      counters.by_position[count_of(sample.line, sample.label("position"), "position")] += count;
      counters.accepted += count;
    }
  }
  for (const std::string_view counter : {names.emitted, names.requests}) {
    if (counter.empty()) continue;
    for (const PrometheusSample& sample : prometheus_samples(source, fmt::format("{}{}", prefix, counter))) {
      const auto found = models.find(sample.label("model_name"));
      if (found == models.end() || sample.name != fmt::format("{}{}", prefix, counter)) continue;
      if (counter == names.emitted) {
        found->second.emitted += counter_of(sample);
      } else {
        found->second.requests = found->second.requests.value_or(0) + counter_of(sample);
      }
    }
  }
  if (models.empty()) models[""];
  ModelLogs logs;
  for (const auto& [model, counters] : models) logs[model] = log_of(counters, source.name(), prefix);
  return logs;
}

}  // namespace

LogFormat vllm_metrics_log_format() {
  return {"vllm_metrics",
          "vLLM",
          "A page of /metrics; with --since, only counts after an earlier page.",
          "vllm:spec_decode_num_drafts_total{model_name=\"m\"} 4.0\n"
          "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 8.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"0\"} 3.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"1\"} 2.0\n",
          "https://docs.vllm.ai/en/latest/usage/metrics.html",
          [](const LogSource& source) { return no_sample(source, "vllm:"); },
          [](const LogSource& source) { return read_spec_decode_page(source, vllm_names); }};
}

LogFormat llama_metrics_log_format() {
  return {"llama_metrics",
          "llama.cpp",
          "A page of llama-server's /metrics (--metrics); with --since, only counts after an earlier page.",
          "llamacpp:spec_decode_num_drafts_total 4\n"
          "llamacpp:spec_decode_num_draft_tokens_total 8\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 3\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 2\n",
          "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
          [](const LogSource& source) { return no_sample(source, "llamacpp:"); },
          [](const LogSource& source) { return read_spec_decode_page(source, llama_names); }};
}

}  // namespace speclab
