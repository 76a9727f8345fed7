// Reads llama-server's log. A line "statistics NAME: ... #gen drafts = 87, #gen tokens = 259, #acc tokens =
// 167, ... #acc rate/pos = (...)" has a drafter's exact counts since the server's start, and is preferred.
// Next are lines "accepted 2/5 draft tokens", one a round. A line "draft acceptance = 0.64479 ( 167 accepted
// / 259 generated), mean acceptance length = 2.92, acceptance rate per position = (...)": one request.
#include <nlohmann/json.hpp>

#include <utility>

#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view statistics_marker = "#gen drafts =";
constexpr std::string_view request_marker = "draft acceptance";

/// A round: accepted and drafted tokens.
struct LlamaRound {
  std::uint64_t accepted = 0;
  std::uint64_t drafted = 0;
};

/// Returns the round of a line "accepted 2/5 draft tokens".
std::optional<LlamaRound> round_in(const std::string& line) {
  const auto at = line.find("accepted ");
  const auto slash = line.find('/', std::min(at, line.size()));
  if (slash == std::string::npos || line.find(" draft tokens", slash) == std::string::npos) return {};
  const auto accepted = as_count(number_after(line, "accepted "));
  const auto drafted = as_count(number_after(line.substr(slash), "/"));
  return accepted && drafted ? std::optional(LlamaRound{*accepted, *drafted}) : std::nullopt;
}

bool has_rounds(const LogSource& source) {
  return std::any_of(source.lines().begin(), source.lines().end(),
                     [](const TextLine& line) { return round_in(line.text).has_value(); });
}

bool is_llama_server_log(const LogSource& source) {
  return source.has(statistics_marker) || (source.has(request_marker) && source.has("accepted /")) ||
         has_rounds(source);
}

/// One drafter's counters.
struct LlamaStatistics {
  TextLine line;
  std::uint64_t rounds = 0;
  std::uint64_t drafted = 0;
  std::uint64_t accepted = 0;
  std::vector<double> rates = {};
  std::uint64_t calls = 0;  ///< how often it was asked for a draft; 0: not said
};

std::vector<double> rates_after(const TextLine& line, std::string_view label) {
  const auto at = line.text.find(label);
  if (at == std::string::npos) return {};
  const auto open = line.text.find('(', at);
  return open == std::string::npos ? std::vector<double>{}
                                   : rates_in(line, std::string_view(line.text).substr(open + 1));
}

void add_statistics(ModelLog& log, const std::string& name, const LlamaStatistics& found) {
  if (found.drafted == 0) return;
  // Another drafter of the same log may have drafted in the other runs. Each life of the server is judged.
  if (log.refusal.empty())
    log.refusal = not_drafting(fmt::format("{}: {}", found.line.where, name), found.rounds, found.calls,
                               found.accepted);
  if (found.rates.empty()) return log.add_sums(found.line.where, found.rounds, found.drafted, found.accepted);
  add_rounded(
      log, found.line.where,
      {.accepted = found.accepted, .drafted = found.drafted, .rates = found.rates, .rounds = found.rounds});
}

/// Returns how often the drafter was asked for a draft: "#calls = 600", or the second number of
/// "#calls(b,g,a) = 1 600 600". 0 without it.
std::uint64_t calls_in(const TextLine& line) {
  constexpr std::string_view three_calls = "#calls(b,g,a) =";
  if (const auto at = line.text.find(three_calls); at != std::string::npos) {
    const std::string first = trimmed(line.text.substr(at + three_calls.size()));
    return count_after({line.where, first}, " ");
  }
  return number_after(line.text, "#calls =") ? count_after(line, "#calls =") : 0;
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
    const LlamaStatistics now{line,
                              count_after(line, statistics_marker),
                              count_after(line, "#gen tokens ="),
                              count_after(line, "#acc tokens ="),
                              rates_after(line, "#acc rate/pos"),
                              calls_in(line)};
    LlamaStatistics& before = last[name];
    // Counters fall only when the server restarts.
    if (now.rounds < before.rounds || now.drafted < before.drafted || now.accepted < before.accepted)
      add_statistics(logs[name], name, before);
    before = now;
  }
  for (const auto& [name, found] : last) add_statistics(logs[name], name, found);
  return logs;
}

/// Returns the number of rounds of a request with `emitted` tokens, from its mean length with two decimals.
/// Each target run after the prompt is a round unless it drafted nothing, so the number of these runs is
/// taken if the digits allow it. Each round drafts at least one token.
std::uint64_t rounds_of_length(double length, std::uint64_t accepted, std::uint64_t drafted,
                               std::uint64_t emitted) {
  const auto sum = static_cast<double>(accepted);
  const std::uint64_t runs = runs_of(emitted, accepted, 1);
  const double mean = 1 + sum / static_cast<double>(std::max<std::uint64_t>(runs, 1));
  if (runs > 0 && std::abs(mean - length) <= two_decimals_rounding) return runs;
  return static_cast<std::uint64_t>(std::llround(std::min(sum / (length - 1), static_cast<double>(drafted))));
}

/// Returns the emitted tokens of a request, from the line of its timings.
std::optional<std::uint64_t> emitted_in(const std::string& line) {
  const auto time = line.find("eval time =");
  if (time == std::string::npos || line.find("prompt eval time") != std::string::npos) return {};
  return as_count(number_after(line.substr(time), " ms /"));
}

/// Reads single rounds. Verbose logs print each round twice, once with the new number of tokens.
ModelLogs read_llama_rounds(const LogSource& source) {
  constexpr std::string_view new_tokens = ", new n_";
  const bool twice = source.has(new_tokens);
  ModelLog log;
  std::uint64_t accepted = 0;
  std::uint64_t runs = 0;
  std::map<std::optional<std::uint64_t>, LlamaStatistics> open;  // by task
  std::optional<std::uint64_t> task;
  for (const TextLine& line : source.lines()) {
    if (const auto named = as_count(number_after(line.text, "| task "))) task = named;
    // A server that starts again numbers its tasks from 0.
    if (line.text.find("processing task") != std::string::npos) open[task] = {};
    if (const auto emitted = emitted_in(line.text)) {
      runs += runs_of(*emitted, 0, 1);
      const LlamaStatistics ended = std::exchange(open[task], {});
      if (task) check_emitted(line.where, ended.rounds, ended.drafted, ended.accepted, *emitted, 1);
    }
    const auto round = round_in(line.text);
    if (!round) continue;
    if (line.text.find("restore checkpoint") != std::string::npos)
      refuse_line(
          line,
          "the server verified accepted tokens again, so these lines count them twice; keep the lines \"{} ...\" of the same log (-lv 4)",
          statistics_marker);
    if (twice && line.text.find(new_tokens) == std::string::npos) continue;
    log.add_round(line.where, round->drafted, round->accepted);
    accepted += round->accepted;
    LlamaStatistics& mine = open[task];
    ++mine.rounds;
    mine.drafted += round->drafted;
    mine.accepted += round->accepted;
  }
  check_drafting(source.name(), log.rounds.size(), runs_of(runs, accepted, 0), accepted);
  return {{"", log}};
}

ModelLogs read_requests(const LogSource& source) {
  ModelLog log;
  std::uint64_t emitted = 0;  // tokens of the request whose timings were printed last
  for (const TextLine& line : source.lines()) {
    if (const auto found = emitted_in(line.text)) {
      emitted = *found;
      continue;
    }
    const auto at = line.text.find(request_marker);
    if (at == std::string::npos || line.text.find("accepted /") == std::string::npos) continue;
    const TextLine part{line.where, line.text.substr(at)};
    const std::uint64_t of_request = std::exchange(emitted, 0);
    const std::uint64_t accepted = count_after(part, "(");
    const std::uint64_t drafted = count_after(part, "accepted /");
    if (drafted == 0) continue;
    if (const auto rate = number_after(part.text, "="))
      check_stated(line.where, request_marker, *rate,
                   static_cast<double>(accepted) / static_cast<double>(drafted));
    auto length = number_after(part.text, "mean acceptance length");
    if (!length) length = number_after(part.text, "mean len");
    const std::vector<double> rates = rates_after(part, "acceptance rate per position");
    if (length && accepted > 0 && *length - two_decimals_rounding > 1) {
      const double max_rounds =
          std::min(static_cast<double>(accepted) / (*length - two_decimals_rounding - 1),
                   static_cast<double>(drafted));
      check_drafting(line.where, static_cast<std::uint64_t>(std::ceil(max_rounds)),
                     runs_of(of_request, accepted, 2), accepted);
    }
    if (length && !rates.empty()) {
      add_rounded(log, line.where,
                  {.accepted = accepted,
                   .drafted = drafted,
                   .rates = rates,
                   .mean_emitted = *length,
                   .mean_rounding = two_decimals_rounding});
      continue;
    }
    std::uint64_t rounds = 0;
    if (length && accepted > 0 && *length > 1) {
      rounds = rounds_of_length(*length, accepted, drafted, of_request);
    } else {
      rounds = rounds_of_request(line.where, drafted_option(source, "lines of this version do not say"),
                                 drafted, accepted, of_request);
    }
    log.add_sums(line.where, rounds, drafted, accepted);
  }
  return {{"", log}};
}

ModelLogs read_llama_server_log(const LogSource& source) {
  if (source.has(statistics_marker)) return read_statistics(source);
  return has_rounds(source) ? read_llama_rounds(source) : read_requests(source);
}

}  // namespace

LogFormat llama_server_log_log_format() {
  return {
      "llama_server_log",
      "llama.cpp",
      "llama-server's log: its last \"statistics\" of each drafter, else each round's \"accepted 2/5 draft tokens\", else \"draft acceptance\" of each request.",
      "slot print_timing: id  0 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 "
      "generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n",
      "https://github.com/ggml-org/llama.cpp/pull/24536",
      is_llama_server_log,
      read_llama_server_log};
}

}  // namespace speclab
