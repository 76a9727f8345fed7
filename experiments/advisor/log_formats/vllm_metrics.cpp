// vLLM's /metrics: rounds, drafted tokens, and how many rounds accepted each position, summed over engines.
#include "experiments/advisor/log_format.hpp"
#include "experiments/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view vllm_drafts = "vllm:spec_decode_num_drafts";
constexpr std::string_view vllm_draft_tokens = "vllm:spec_decode_num_draft_tokens";
constexpr std::string_view vllm_per_position = "vllm:spec_decode_num_accepted_tokens_per_pos";

std::string not_vllm_metrics(const LogSource& source) {
  const std::string& first = source.lines().front().text;
  return first.starts_with("vllm:") ? "" : no_sample(source, "vllm:");
}

/// What one model's counters say, summed over engines.
struct VllmCounters {
  std::uint64_t rounds = 0;
  std::optional<std::uint64_t> drafted = {};
  std::map<std::uint64_t, std::uint64_t> by_position = {};
};

ModelLog log_of(const VllmCounters& counters, const std::string& where) {
  std::vector<std::uint64_t> accepted;
  for (const auto& [position, count] : counters.by_position) {
    if (position != accepted.size()) {
      throw UsageError(fmt::format("{}: {} has no position {}", where, vllm_per_position, accepted.size()));
    }
    accepted.push_back(count);
  }
  if (counters.rounds == 0 || accepted.empty()) {
    throw UsageError(fmt::format("{}: needs samples of {} and {}", where, vllm_drafts, vllm_per_position));
  }
  ModelLog log;
  log.add_totals(where, counters.rounds, accepted,
                 counters.drafted.value_or(counters.rounds * accepted.size()));
  return log;
}

ModelLogs read_vllm_metrics(const LogSource& source) {
  std::map<std::string, VllmCounters> models;
  for (const PrometheusSample& sample : prometheus_samples(source, "vllm:spec_decode")) {
    VllmCounters& counters = models[sample.label("model_name")];
    if (sample.name == vllm_drafts) {
      counters.rounds += counter_of(sample);
    } else if (sample.name == vllm_draft_tokens) {
      counters.drafted = counters.drafted.value_or(0) + counter_of(sample);
    } else if (sample.name == vllm_per_position) {
      if (sample.labels.count("position") == 0) refuse_line(sample.line, "no label \"position\"");
      counters.by_position[count_of(sample.line, sample.label("position"), "position")] += counter_of(sample);
    }
  }
  if (models.empty()) models[""];
  ModelLogs logs;
  for (const auto& [model, counters] : models) logs[model] = log_of(counters, source.name());
  return logs;
}

}  // namespace

LogFormat vllm_metrics_log_format() {
  return {"vllm_metrics",
          "vLLM",
          "A page of /metrics; with --since, what was counted after an earlier one.",
          "vllm:spec_decode_num_drafts_total{model_name=\"m\"} 4.0\n"
          "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 8.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"0\"} 3.0\n"
          "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"1\"} 2.0\n",
          "https://docs.vllm.ai/en/latest/usage/metrics.html",
          not_vllm_metrics,
          read_vllm_metrics};
}

}  // namespace speclab
