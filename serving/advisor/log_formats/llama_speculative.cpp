// Reads the end of llama-speculative-simple's output: n_predict emitted, n_drafted drafted and n_accept
// accepted tokens. Each round emits one token more than it accepts.
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

bool is_llama_speculative(const LogSource& source) {
  return source.has("n_drafted") && source.has("n_accept") && source.has("n_predict");
}

ModelLogs read_llama_speculative(const LogSource& source) {
  ModelLog log;
  std::map<std::string, std::uint64_t> values;
  for (const TextLine& line : source.lines()) {
    for (const char* name : {"n_predict", "n_drafted", "n_accept"}) {
      const auto at = line.text.find(name);
      if (at == std::string::npos) continue;
      const std::string rest = trimmed(line.text.substr(at + std::string_view(name).size()));
      if (!rest.starts_with("=")) continue;
      values[name] = count_of(line, trimmed(rest.substr(1)), name);
    }
    if (values.size() < 3) continue;
    const std::uint64_t accepted = values["n_accept"];
    const std::uint64_t emitted = values["n_predict"];
    if (emitted <= accepted)
      refuse_line(line, "n_predict {} is not more than n_accept {}", emitted, accepted);
    log.add_sums(line.where, emitted - accepted, values["n_drafted"], accepted);
    values.clear();
  }
  return {{"", log}};
}

}  // namespace

LogFormat llama_speculative_log_format() {
  return {
      "llama_speculative",
      "llama.cpp",
      "The last lines that llama-speculative-simple prints.",
      "n_draft   = 5\nn_predict = 111\nn_drafted = 150\nn_accept  = 81\naccept    = 54.000%\n",
      "https://github.com/ggml-org/llama.cpp/blob/master/examples/speculative-simple/speculative-simple.cpp",
      is_llama_speculative,
      read_llama_speculative};
}

}  // namespace speclab
