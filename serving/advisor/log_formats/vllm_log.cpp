// Reads vLLM's lines "SpecDecoding metrics: Mean acceptance length: 2.50, ...", each about the interval since
// the line before; early versions of the V1 engine print only totals.
#include <algorithm>
#include <cmath>

#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view vllm_marker = "SpecDecoding metrics:";
constexpr std::string_view vllm_rates = "Per-position acceptance rate:";

/// Warns of a count in the line that is not read.
void warn_of_labels(ModelLog& log, const TextLine& line) {
  constexpr std::string_view known[] = {
      "Mean acceptance length", "Accepted", "Drafted", vllm_rates, "Avg Draft acceptance rate",
      "Draft acceptance rate"};
  for (const std::string& part :
       split(line.text.substr(line.text.find(vllm_marker) + vllm_marker.size()), ',')) {
    // Parts of the rest of the line, such as JSON around it, do not begin with a letter.
    const bool label =
        !part.empty() && part[0] >= 'A' && part[0] <= 'Z' && part.find(": ") != std::string::npos;
    const auto begins = [&](std::string_view name) { return part.starts_with(name); };
    if (label && std::none_of(std::begin(known), std::end(known), begins))
      log.warn_unread(fmt::format("{}: \"{}\"", line.where, brief(part)));
  }
}

/// Tokens and rounds a second, summed over lines. Without drafts only emitted tokens have a line.
struct Throughput {
  double emitted = 0;
  double accepted = 0;
  double rounds = 0;

  void add(const TextLine& line, double length, std::size_t gamma) {
    const double kept = number_after(line.text, "Accepted throughput:").value_or(0);
    const double drafted = number_after(line.text, "Drafted throughput:").value_or(0);
    accepted += kept;
    // Short rounds are more than drafted / gamma, and a length near 1 has too few digits.
    rounds += std::max(drafted / static_cast<double>(gamma), length > 1 ? kept / (length - 1) : 0);
  }

  /// Throws UsageError if runs without a draft emitted a part of the text.
  void check(const std::string& where) const {
    constexpr double interval = 10;  // seconds between lines
    const auto count = [](double rate) {
      return static_cast<std::uint64_t>(
          std::llround(std::clamp(rate * interval, 0.0, static_cast<double>(max_count))));
    };
    check_drafting(where, count(rounds), count(emitted - accepted), count(accepted),
                   drafting_share_with_prompts);
  }
};

ModelLogs read_vllm_log(const LogSource& source) {
  ModelLog log;
  Throughput throughput;
  for (const TextLine& line : source.lines()) {
    throughput.emitted += number_after(line.text, "Avg generation throughput:").value_or(0);
    if (line.text.find(vllm_marker) == std::string::npos) continue;
    // An integer follows the labels of counts; another word follows those of throughput.
    const std::uint64_t accepted = count_after(line, "Accepted:");
    const std::uint64_t drafted = count_after(line, "Drafted:");
    if (drafted == 0) continue;
    warn_of_labels(log, line);
    constexpr double half_a_tenth = 0.051;
    if (const auto percent = number_after(line.text, "raft acceptance rate:"))
      check_stated(line.where, "Draft acceptance rate", *percent,
                   100 * static_cast<double>(accepted) / static_cast<double>(drafted), half_a_tenth);
    const auto rates_at = line.text.find(vllm_rates);
    if (rates_at == std::string::npos) {
      if (!source.drafted())
        refuse_line(
            line,
            "no \"{}\": lines of early versions do not say how many tokens were drafted per round; give --drafted N, or leave out a line that was cut off",
            vllm_rates);
      const auto gamma = static_cast<std::uint64_t>(*source.drafted());
      log.add_sums(line.where, (drafted + gamma - 1) / gamma, drafted, accepted);
      continue;
    }
    const auto length = number_after(line.text, "Mean acceptance length:");
    if (!length) refuse_line(line, "no \"Mean acceptance length\"");
    // If the line goes on after the last rate, ", Avg ..." follows and ends the list.
    const std::vector<double> rates =
        rates_in(line, std::string_view(line.text).substr(rates_at + vllm_rates.size()));
    add_rounded(log, line.where,
                {.accepted = accepted,
                 .drafted = drafted,
                 .rates = rates,
                 .mean_emitted = *length,
                 .mean_rounding = two_decimals_rounding});
    if (!rates.empty()) throughput.add(line, *length, rates.size());
  }
  throughput.check(source.name());
  return {{"", log}};
}

}  // namespace

LogFormat vllm_log_log_format() {
  return {
      "vllm_log",
      "vLLM",
      "Lines \"SpecDecoding metrics: ...\" of the server's log; their rates have three decimals. Lines without rates need --drafted.",
      "INFO 11-02 10:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.25, Accepted "
      "throughput: 0.50 tokens/s, Drafted throughput: 0.80 tokens/s, Accepted: 5 tokens, Drafted: 8 tokens, Per-position acceptance rate: 0.750, 0.500, Avg Draft acceptance rate: 62.5%\n",
      "https://github.com/vllm-project/vllm/blob/main/vllm/v1/spec_decode/metrics.py",
      [](const LogSource& source) { return source.has(vllm_marker); },
      read_vllm_log};
}

}  // namespace speclab
