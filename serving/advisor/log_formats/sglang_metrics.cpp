// Reads SGLang's /metrics: verifications and generated tokens since the server started. The gauges
// sglang:spec_accept_* are ignored, because they cover the last interval only.
#include "serving/advisor/log_format.hpp"
#include "serving/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view sglang_verifications = "sglang:spec_verify_calls";
constexpr std::string_view sglang_tokens = "sglang:generation_tokens";
constexpr std::string_view sglang_steps = "sglang:spec_num_steps";

struct SglangCounters {
  std::uint64_t rounds = 0;
  std::uint64_t emitted = 0;
  std::optional<std::uint64_t> steps = {};
};

ModelLogs read_sglang_metrics(const LogSource& source) {
  std::map<std::string, SglangCounters> models;
  for (const std::string_view name : {sglang_verifications, sglang_tokens, sglang_steps}) {
    for (const PrometheusSample& sample : prometheus_samples(source, name, {}, sglang_steps)) {
      // All tensor-parallel ranks count the same, so only the first is read.
      const std::string rank = sample.label("tp_rank");
      if (sample.name != name || (!rank.empty() && rank != "0")) continue;
      SglangCounters& counters = models[sample.label("model_name")];
      if (name == sglang_verifications) counters.rounds += counter_of(sample);
      if (name == sglang_tokens) counters.emitted += counter_of(sample);
      if (name == sglang_steps) counters.steps = checked_draft(sample.line.where, counter_of(sample));
    }
  }
  ModelLogs logs;
  for (const auto& [model, counters] : models) {
    if (counters.rounds == 0) continue;
    const std::uint64_t gamma =
        counters.steps ? *counters.steps
                       : drafted_option(source, "without sglang:spec_num_steps the page does not say");
    logs[model].add_sums(source.name(), counters.rounds, counters.rounds * gamma,
                         accepted_of(source.name(), counters.emitted, counters.rounds));
  }
  return logs;
}

}  // namespace

LogFormat sglang_metrics_log_format() {
  return {
      "sglang_metrics",
      "SGLang",
      "A page of /metrics of a server with --enable-metrics; with --since, only counts after an earlier page.",
      "sglang:spec_verify_calls_total{model_name=\"m\"} 43.0\n"
      "sglang:generation_tokens_total{model_name=\"m\"} 106.0\n"
      "sglang:spec_num_steps{model_name=\"m\"} 5.0\n",
      "https://docs.sglang.io/references/production_metrics.html",
      [](const LogSource& source) { return has_sample(source, sglang_verifications); },
      read_sglang_metrics};
}

}  // namespace speclab
