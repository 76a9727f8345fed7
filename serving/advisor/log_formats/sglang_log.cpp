// Reads means that SGLang prints: lines "Decode batch, ... accept len: 2.40, accept rate: 0.84, ..." of the
// server's log, or avg_spec_accept_length of its server_info, which bench_serving prints, too. A mean is of
// emitted tokens per verification: since the line before, over all running requests, or since the server's
// start. "accept rate" is ignored, because its denominator differs between versions.
#include <numeric>

#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr std::string_view sglang_length = "accept len:";
constexpr std::string_view decode_batch = "Decode batch";
constexpr std::string_view bench_title = "Serving Benchmark Result";
/// Labels of one mean since the start, with the spelling of the server, of bench_serving and of its JSON.
constexpr std::string_view info_labels[] = {"\"avg_spec_accept_length\"",
                                            "Accept length:", "\"accept_length\""};

/// Returns the mean after each occurrence of the label. Skips ranks that did not draft, whose mean is null.
std::vector<double> means_in(const std::string& line, std::string_view label) {
  std::vector<double> means;
  for (auto at = line.find(label); at != std::string::npos; at = line.find(label, at + 1)) {
    if (const auto length = number_after(line.substr(at), label)) means.push_back(*length);
  }
  return means;
}

/// Returns the label of means in server_info or a benchmark; empty if the file has none.
std::string_view info_label(const LogSource& source) {
  for (const std::string_view label : info_labels) {
    for (const TextLine& line : source.lines()) {
      if (!means_in(line.text, label).empty() && (label.back() == '"' || source.has(bench_title)))
        return label;
    }
  }
  return {};
}

/// The server's drafts, from its arguments in the log or in server_info; None without speculation.
class SglangDrafts {
 public:
  /// Throws UsageError if the line has other arguments than those before, or if the server chose its drafts.
  void read(const TextLine& line) {
    for (const char* adaptive : {"speculative_adaptive=True", "\"speculative_adaptive\":true",
                                 "\"speculative_adaptive\": true", "--speculative-adaptive"}) {
      if (line.text.find(adaptive) != std::string::npos)
        refuse_line(line, "{}: means do not say how many tokens were drafted; run the server without it",
                    adaptive);
    }
    read(steps_, line, "speculative_num_steps", "speculative-num-steps");
    read(branches_, line, "speculative_eagle_topk", "speculative-eagle-topk");
    read(nodes_, line, "speculative_num_draft_tokens", "speculative-num-draft-tokens");
  }

  /// Returns the drafted tokens per round. Throws UsageError for trees, whose mean length says how deep they
  /// were accepted, not with which probability each drafted token was accepted.
  std::uint64_t gamma(const LogSource& source, double emitted) const {
    if (branches_.value_or(1) > 1 ||
        (!branches_ && steps_.value_or(0) > 0 && nodes_.value_or(0) > *steps_ + 1)) {
      const std::uint64_t nodes = nodes_.value_or(0);
      const auto drafted = static_cast<double>(nodes) - 1;
      throw UsageError(
          "{}: speculative_eagle_topk is {}: the server verified trees, whose acceptance is not that of one draft a position. It emitted {:.4g} tokens a run{}; run it with a top-k of 1",
          source.name(),
          branches_ ? std::to_string(*branches_) : "not given, and there are more tokens than steps", emitted,
          nodes > 1 ? fmt::format(", accepted / drafted {:.4f}, emitted / verified {:.4f}",
                                  (emitted - 1) / drafted, emitted / static_cast<double>(nodes))
                    : "");
    }
    // The nodes of a chain are its drafted tokens and the token before them.
    const auto known = nodes_.value_or(0) > 1 ? std::optional(*nodes_ - 1) : steps_;
    if (known && *known > 0) return *known;
    return drafted_option(source, "means without the server's arguments (speculative_num_steps) do not say");
  }

 private:
  /// The option of the command line has hyphens.
  static void read(std::optional<std::uint64_t>& known, const TextLine& line, std::string_view argument,
                   std::string_view option) {
    if (!number_after(line.text, argument)) argument = option;
    if (!number_after(line.text, argument)) return;
    const std::uint64_t value = checked_draft(line.where, count_after(line, argument));
    if (known && *known != value)
      refuse_line(line, "{} is {}, but {} before: two settings have no common acceptance; split the log",
                  argument, value, *known);
    known = value;
  }

  std::optional<std::uint64_t> steps_;
  std::optional<std::uint64_t> branches_;
  std::optional<std::uint64_t> nodes_;
};

/// The means of a file, and the longest.
struct SglangMeans {
  ModelLog log;
  SglangDrafts drafts;
  TextLine longest;
  double max_length = 0;

  void add(const TextLine& line, double length, double weight) {
    if (length < 1) refuse_line(line, "accept len {} is less than 1", length);
    if (length > max_length) longest = line;
    max_length = std::max(max_length, length);
    log.accepted_by_line.push_back(length - 1);
    log.weights.push_back(weight);
  }

  ModelLogs finish(const LogSource& source) && {
    const double weight = std::accumulate(log.weights.begin(), log.weights.end(), 0.0);
    const double sum =
        std::inner_product(log.weights.begin(), log.weights.end(), log.accepted_by_line.begin(), 0.0);
    log.gamma = static_cast<double>(drafts.gamma(source, 1 + (weight > 0 ? sum / weight : 0)));
    if (max_length > log.gamma + 1 + two_decimals_rounding)
      refuse_line(longest,
                  "accept len {} with {} drafted tokens a round: at most one more than these is possible",
                  max_length, log.gamma);
    return {{"", log}};
  }
};

ModelLogs read_sglang_log(const LogSource& source) {
  SglangMeans means;
  for (const TextLine& line : source.lines()) {
    means.drafts.read(line);
    const auto length = number_after(line.text, sglang_length);
    if (!length || line.text.find(decode_batch) == std::string::npos) continue;
    constexpr std::string_view running = "#running-req:";
    const bool counted = line.text.find(running) != std::string::npos;
    means.add(line, *length, counted ? std::max(static_cast<double>(count_after(line, running)), 1.0) : 1.0);
  }
  return std::move(means).finish(source);
}

ModelLogs read_sglang_info(const LogSource& source) {
  SglangMeans means;
  const std::string_view label = info_label(source);
  for (const TextLine& line : source.lines()) {
    means.drafts.read(line);
    for (const double length : means_in(line.text, label)) means.add(line, length, 1);
  }
  if (means.log.weights.size() > 1)
    means.log.warnings.push_back(fmt::format(
        "The mean is of {} ranks, or reports, of equal weight: the file does not say how many rounds each had",
        means.log.weights.size()));
  return std::move(means).finish(source);
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
      [](const LogSource& source) { return source.has(sglang_length) && source.has(decode_batch); },
      read_sglang_log};
}

LogFormat sglang_info_log_format() {
  return {
      "sglang_info",
      "SGLang",
      "The mean since the server's start: /server_info, or \"Accept length\" of bench_serving.",
      "{\"speculative_num_steps\": 3, \"speculative_eagle_topk\": 1, \"speculative_num_draft_tokens\": 4, "
      "\"internal_states\": [{\"avg_spec_accept_length\": 2.4}]}\n",
      "https://docs.sglang.io/advanced_features/speculative_decoding.html",
      [](const LogSource& source) { return !info_label(source).empty(); },
      read_sglang_info};
}

}  // namespace speclab
