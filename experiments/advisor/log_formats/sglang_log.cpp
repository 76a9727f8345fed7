// SGLang's lines "Decode batch, ... accept len: 2.40, accept rate: 0.84, ...". "accept len" is the mean of
// emitted tokens a verification since the line before, of all running requests. What "accept rate" divides by
// has changed between versions, so that it is not read.
#include "experiments/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view sglang_length = "accept len:";
constexpr std::string_view sglang_steps = "speculative_num_steps=";

std::string not_sglang_log(const LogSource& source) {
  if (source.has(sglang_length) && source.has("Decode batch")) return "";
  return fmt::format("has no line \"Decode batch\" with \"{}\"", sglang_length);
}

ModelLogs read_sglang_log(const LogSource& source) {
  ModelLog log;
  for (const TextLine& line : source.lines()) {
    // The line of the server's arguments, at its start.
    if (const auto steps = number_after(line.text, sglang_steps)) log.gamma = *steps;
    if (line.text.find("Decode batch") == std::string::npos) continue;
    const auto length = number_after(line.text, sglang_length);
    if (!length) continue;
    if (*length < 1) refuse_line(line, "accept len {} is less than 1", *length);
    log.accepted_by_line.push_back(*length - 1);
    log.weights.push_back(std::max(number_after(line.text, "#running-req:").value_or(1), 1.0));
  }
  if (source.options().drafted || log.gamma == 0) {
    log.gamma = static_cast<double>(
        drafted_option(source, "lines \"Decode batch\" without the server's arguments do not say"));
  }
  return {{"", log}};
}

}  // namespace

LogFormat sglang_log_log_format() {
  return {
      "sglang_log",
      "SGLang",
      "Lines \"Decode batch, ... accept len: ...\" of the server's log; means alone, of lines weighted by their running requests.",
      "server_args=ServerArgs(speculative_num_steps=3)\n"
      "[2026-11-02 10:00:10 TP0] Decode batch, #running-req: 8, #token: 4096, token usage: 0.11, accept len: "
      "2.40, accept rate: 0.47, cuda graph: True, gen throughput (token/s): 2520.18, #queue-req: 0\n",
      "https://docs.sglang.io/docs/advanced_features/speculative_decoding",
      not_sglang_log,
      read_sglang_log};
}

}  // namespace speclab
