// Lists every format of logs in the order in which they are tried, one per line.
#include "serving/advisor/log_format.hpp"

// clang-format off
#define SPECLAB_LOG_FORMATS(ENTRY) \
  ENTRY(named_fields)              \
  ENTRY(vllm_metrics)              \
  ENTRY(vllm_log)                  \
  ENTRY(vllm_offline)              \
  ENTRY(bench_serve)               \
  ENTRY(bench_serve_json)          \
  ENTRY(vllm_response)             \
  ENTRY(sglang_metrics)            \
  ENTRY(sglang_log)                \
  ENTRY(sglang_info)               \
  ENTRY(sglang_response)           \
  ENTRY(tensorrt_iterations)       \
  ENTRY(tensorrt_request)          \
  ENTRY(llama_metrics)             \
  ENTRY(llama_server_log)          \
  ENTRY(llama_server_response)     \
  ENTRY(lm_studio)                 \
  ENTRY(lm_studio_rest)            \
  ENTRY(spec_bench)                \
  ENTRY(rounds_json)               \
  ENTRY(totals_csv)                \
  ENTRY(rounds_csv)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_LOG_FORMAT(name) LogFormat name##_log_format();
SPECLAB_LOG_FORMATS(SPECLAB_DECLARE_LOG_FORMAT)

std::vector<LogFormat>& log_formats() {
#define SPECLAB_LIST_LOG_FORMAT(name) name##_log_format(),
  static std::vector<LogFormat> all{SPECLAB_LOG_FORMATS(SPECLAB_LIST_LOG_FORMAT)};
  return all;
}

}  // namespace speclab
