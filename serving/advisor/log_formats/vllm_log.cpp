// Reads vLLM's lines "SpecDecoding metrics: Mean acceptance length: 2.50, ...", each about the interval since
// the line before.
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view vllm_marker = "SpecDecoding metrics:";
constexpr std::string_view vllm_rates = "Per-position acceptance rate:";

std::string not_vllm_log(const LogSource& source) {
  if (!source.has(vllm_marker)) return fmt::format("has no line with \"{}\"", vllm_marker);
  if (!source.has(vllm_rates)) {
    return fmt::format("no line has \"{}\", which vLLM writes since v0.9", vllm_rates);
  }
  return "";
}

ModelLogs read_vllm_log(const LogSource& source) {
  ModelLog log;
  for (const TextLine& line : source.lines()) {
    const auto rates_at = line.text.find(vllm_rates);
    if (line.text.find(vllm_marker) == std::string::npos || rates_at == std::string::npos) continue;
    const auto length = number_after(line.text, "Mean acceptance length:");
    if (!length) refuse_line(line, "no \"Mean acceptance length\"");
    // An integer follows the labels of counts; another word follows those of throughput.
    const std::uint64_t accepted = count_after(line, "Accepted:");
    const std::uint64_t drafted = count_after(line, "Drafted:");
    // If the line goes on after the last rate, ", Avg ..." follows and ends the list.
    constexpr double half_of_last_digit = 0.0051;
    add_rounded(log, line.where, *length, half_of_last_digit, accepted, drafted,
                rates_in(line.text.substr(rates_at + vllm_rates.size())));
  }
  return {{"", log}};
}

}  // namespace

LogFormat vllm_log_log_format() {
  return {
      "vllm_log",
      "vLLM",
      "Lines \"SpecDecoding metrics: ...\" of the server's log; their rates have three decimals.",
      "INFO 11-02 10:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.25, Accepted "
      "throughput: 0.50 tokens/s, Drafted throughput: 0.80 tokens/s, Accepted: 5 tokens, Drafted: 8 tokens, Per-position acceptance rate: 0.750, 0.500, Avg Draft acceptance rate: 62.5%\n",
      "https://github.com/vllm-project/vllm/blob/main/vllm/v1/spec_decode/metrics.py",
      not_vllm_log,
      read_vllm_log};
}

}  // namespace speclab
