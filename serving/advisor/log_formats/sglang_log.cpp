// Reads SGLang's lines "Decode batch, ... accept len: 2.40, accept rate: 0.84, ...". "accept len" is the mean
// of emitted tokens per verification since the line before, over all running requests. "accept rate" is
// ignored, because its denominator differs between versions.
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view sglang_length = "accept len:";
constexpr std::string_view sglang_steps = "speculative_num_steps=";
constexpr std::string_view sglang_branches = "speculative_eagle_topk=";

std::string not_sglang_log(const LogSource& source) {
  if (source.has(sglang_length) && source.has("Decode batch")) return "";
  return fmt::format("has no line \"Decode batch\" with \"{}\"", sglang_length);
}

ModelLogs read_sglang_log(const LogSource& source) {
  ModelLog log;
  TextLine longest;
  double max_length = 0;
  for (const TextLine& line : source.lines()) {
    // The line at the log's start with the server's arguments has this text. Without speculation the argument
    // is None.
    if (number_after(line.text, sglang_steps))
      log.gamma = static_cast<double>(checked_draft(line.where, count_after(line, sglang_steps)));
    // "accept len" of a tree says how deep it was accepted, not with which probability each draft was.
    if (number_after(line.text, sglang_branches) && count_after(line, sglang_branches) > 1) {
      refuse_line(
          line,
          "{}{}: the server verified trees, whose acceptance is not that of one draft a position; run it with a top-k of 1, or give plan tree the acceptance of each rank",
          sglang_branches, count_after(line, sglang_branches));
    }
    if (line.text.find("Decode batch") == std::string::npos) continue;
    const auto length = number_after(line.text, sglang_length);
    if (!length) continue;
    if (*length < 1) refuse_line(line, "accept len {} is less than 1", *length);
    if (*length > max_length) {
      max_length = *length;
      longest = line;
    }
    log.accepted_by_line.push_back(*length - 1);
    constexpr std::string_view running = "#running-req:";
    const bool counted = line.text.find(running) != std::string::npos;
    log.weights.push_back(counted ? std::max(static_cast<double>(count_after(line, running)), 1.0) : 1.0);
  }
  if (source.drafted() || log.gamma == 0) {
    log.gamma = static_cast<double>(
        drafted_option(source, "lines \"Decode batch\" without the server's arguments do not say"));
  }
  constexpr double half_of_last_digit = 0.0051;
  if (max_length > log.gamma + 1 + half_of_last_digit)
    refuse_line(longest, "accept len {} of {} drafted tokens, one more at most", max_length, log.gamma);
  return {{"", log}};
}

}  // namespace

LogFormat sglang_log_log_format() {
  return {
      "sglang_log",
      "SGLang",
      "Lines \"Decode batch, ... accept len: ...\" of the server's log; only means, weighted by running requests.",
      "server_args=ServerArgs(speculative_num_steps=3)\n"
      "[2026-11-02 10:00:10 TP0] Decode batch, #running-req: 8, #token: 4096, token usage: 0.11, accept len: "
      "2.40, accept rate: 0.47, cuda graph: True, gen throughput (token/s): 2520.18, #queue-req: 0\n",
      "https://docs.sglang.io/docs/advanced_features/speculative_decoding",
      not_sglang_log,
      read_sglang_log};
}

}  // namespace speclab
