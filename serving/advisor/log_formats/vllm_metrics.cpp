// Reads vLLM's /metrics: rounds, drafted tokens, and how many rounds accepted each position, summed over
// engines.
#include "serving/advisor/prometheus_page.hpp"
#include "serving/advisor/spec_decode_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view vllm_prefix = "vllm:";

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
          [](const LogSource& source) { return no_sample(source, vllm_prefix); },
          [](const LogSource& source) { return read_spec_decode_page(source, vllm_prefix); }};
}

}  // namespace speclab
