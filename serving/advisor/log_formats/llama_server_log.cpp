// Reads llama-server's log. A line "statistics NAME: ... #gen drafts = 87, #gen tokens = 259, #acc tokens =
// 167, ... #acc rate/pos = (...)" has a drafter's exact counts since the server's start, and is preferred. A
// line "draft acceptance = 0.64479 ( 167 accepted / 259 generated), mean acceptance length = 2.92, acceptance
// rate per position = (...)" is about one request.
#include <nlohmann/json.hpp>

#include <utility>

#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view statistics_marker = "#gen drafts =";
constexpr std::string_view request_marker = "draft acceptance";
constexpr double llama_length_rounding = 0.0051;  // rounding of a mean length

std::string not_llama_server_log(const LogSource& source) {
  if (source.has(statistics_marker) || (source.has(request_marker) && source.has("accepted /"))) return "";
  return fmt::format("has no line with \"{}\" or \"{} = ... accepted / ... generated\"", statistics_marker,
                     request_marker);
}

/// One drafter's counters.
struct LlamaStatistics {
  TextLine line;
  std::uint64_t rounds = 0;
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::vector<double> rates = {};
};

std::vector<double> rates_after(const TextLine& line, std::string_view label) {
  const auto at = line.text.find(label);
  if (at == std::string::npos) return {};
  const auto open = line.text.find('(', at);
  return open == std::string::npos ? std::vector<double>{}
                                   : rates_in(std::string_view(line.text).substr(open + 1));
}

void add_statistics(ModelLog& log, const LlamaStatistics& found) {
  if (found.drafted == 0) return;
  if (found.rates.empty()) return log.add_sums(found.line.where, found.rounds, found.drafted, found.accepted);
  const double mean =
      1 + static_cast<double>(found.accepted) / static_cast<double>(std::max<std::uint64_t>(found.rounds, 1));
  add_rounded(log, found.line.where, mean, 1e-9, found.accepted, found.drafted, found.rates);
}

ModelLogs read_statistics(const LogSource& source) {
  ModelLogs logs;
  std::map<std::string, LlamaStatistics> last;
  for (const TextLine& line : source.lines()) {
    if (line.text.find(statistics_marker) == std::string::npos) continue;
    const auto name_at = line.text.find("statistics");
    const auto name_end = line.text.find(':', name_at);
    if (name_at == std::string::npos || name_end == std::string::npos) continue;
    constexpr std::size_t word = 10;
    const std::string name = trimmed(line.text.substr(name_at + word, name_end - name_at - word));
    const LlamaStatistics now{line, count_after(line, statistics_marker), count_after(line, "#gen tokens ="),
                              count_after(line, "#acc tokens ="), rates_after(line, "#acc rate/pos")};
    // With every run of the target that drafts nothing, the tokens of a run are fewer than those of a round.
    constexpr std::string_view calls_label = "#calls =";
    const std::uint64_t calls = number_after(line.text, calls_label) ? count_after(line, calls_label) : 0;
    if (constexpr double all = 0.98; static_cast<double>(now.rounds) < all * static_cast<double>(calls)) {
      refuse_line(
          line,
          "{} drafted in {} of {} runs of the target, which emitted {:.3g} tokens a run: plans are for drafters that draft in every run",
          name, now.rounds, calls, 1 + static_cast<double>(now.accepted) / static_cast<double>(calls));
    }
    LlamaStatistics& before = last[name];
    // Counters fall only when the server restarts.
    if (now.rounds < before.rounds) add_statistics(logs[name], before);
    before = now;
  }
  for (const auto& [name, found] : last) add_statistics(logs[name], found);
  return logs;
}

/// Returns the number of rounds of a request with `emitted` tokens, from its mean length with two decimals.
/// Each target run after the prompt is a round unless it drafted nothing, so the number of these runs is
/// taken if the digits allow it. Each round drafts at least one token.
std::uint64_t rounds_of_length(double length, std::uint64_t accepted, std::uint64_t drafted,
                               std::uint64_t emitted) {
  const auto sum = static_cast<double>(accepted);
  const std::uint64_t runs = emitted > accepted ? emitted - accepted - 1 : 0;
  const double mean = 1 + sum / static_cast<double>(std::max<std::uint64_t>(runs, 1));
  if (runs > 0 && std::abs(mean - length) <= llama_length_rounding) return runs;
  return static_cast<std::uint64_t>(std::llround(std::min(sum / (length - 1), static_cast<double>(drafted))));
}

ModelLogs read_requests(const LogSource& source) {
  ModelLog log;
  std::uint64_t emitted = 0;  // tokens of the request whose timings were printed last
  for (const TextLine& line : source.lines()) {
    if (const auto time = line.text.find(" eval time ="); time != std::string::npos) {
      if (line.text.find("prompt eval time") == std::string::npos)
        emitted = as_count(number_after(line.text.substr(time), " ms /")).value_or(0);
      continue;
    }
    const auto at = line.text.find(request_marker);
    if (at == std::string::npos || line.text.find("accepted /") == std::string::npos) continue;
    const TextLine part{line.where, line.text.substr(at)};
    const std::uint64_t of_request = std::exchange(emitted, 0);
    const std::uint64_t accepted = count_after(part, "(");
    const std::uint64_t drafted = count_after(part, "accepted /");
    if (drafted == 0) continue;
    auto length = number_after(part.text, "mean acceptance length");
    if (!length) length = number_after(part.text, "mean len");
    const std::vector<double> rates = rates_after(part, "acceptance rate per position");
    if (length && !rates.empty()) {
      add_rounded(log, line.where, *length, llama_length_rounding, accepted, drafted, rates);
      continue;
    }
    std::uint64_t rounds = 0;
    if (length && accepted > 0 && *length > 1) {
      rounds = rounds_of_length(*length, accepted, drafted, of_request);
    } else {
      const std::uint64_t gamma = drafted_option(source, "lines of this version do not say");
      rounds = (drafted + gamma - 1) / gamma;
    }
    log.add_sums(line.where, rounds, drafted, accepted);
  }
  return {{"", log}};
}

ModelLogs read_llama_server_log(const LogSource& source) {
  return source.has(statistics_marker) ? read_statistics(source) : read_requests(source);
}

}  // namespace

LogFormat llama_server_log_log_format() {
  return {
      "llama_server_log",
      "llama.cpp",
      "llama-server's log: its last \"statistics\" of each drafter, else \"draft acceptance\" of each request.",
      "slot print_timing: id  0 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 "
      "generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n",
      "https://github.com/ggml-org/llama.cpp/pull/24536",
      not_llama_server_log,
      read_llama_server_log};
}

}  // namespace speclab
