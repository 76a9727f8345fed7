// Reads llama-server's /metrics (--metrics): vLLM's counters under another prefix, summed over all requests.
#include "serving/advisor/prometheus_page.hpp"
#include "serving/advisor/spec_decode_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view llama_prefix = "llamacpp:";

}  // namespace

LogFormat llama_metrics_log_format() {
  return {"llama_metrics",
          "llama.cpp",
          "A page of llama-server's /metrics (--metrics); with --since, only counts after an earlier page.",
          "llamacpp:spec_decode_num_drafts_total 4\n"
          "llamacpp:spec_decode_num_draft_tokens_total 8\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 3\n"
          "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 2\n",
          "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
          [](const LogSource& source) { return no_sample(source, llama_prefix); },
          [](const LogSource& source) { return read_spec_decode_page(source, llama_prefix); }};
}

}  // namespace speclab
