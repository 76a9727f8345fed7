// Reads the counts that benchmarks print: `vllm bench serve` and SGLang's bench_serving, as text or as JSON,
// and vLLM's offline example spec_decode.py. Rounds, drafted and accepted tokens are exact; rates by
// position, if there are any, have two decimals in text and all decimals in JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

struct BenchLabels {
  const char* rounds;
  const char* drafted;
  const char* accepted;
  const char* position;  ///< comes before a position's number and rate; in JSON the list of rates
  const char* emitted;
  const char* requests;  ///< null if they are not printed
  const char* failed;    ///< requests whose tokens are not among the emitted ones
  const char* length;    ///< mean of emitted tokens per round
  double scale;          ///< 100 if rates are percentages
};

constexpr BenchLabels serve_labels{.rounds = "Drafts:",
                                   .drafted = "Draft tokens:",
                                   .accepted = "Accepted tokens:",
                                   .position = "Position ",
                                   .emitted = "Total generated tokens:",
                                   .requests = "Successful requests:",
                                   .failed = "Failed requests:",
                                   .length = "Acceptance length:",
                                   .scale = 100};
constexpr BenchLabels offline_labels{.rounds = "num_drafts:",
                                     .drafted = "num_draft_tokens:",
                                     .accepted = "num_accepted_tokens:",
                                     .position = "acceptance at token ",
                                     .emitted = "total_num_output_tokens:",
                                     .requests = nullptr,
                                     .failed = nullptr,
                                     .length = "mean acceptance length:",
                                     .scale = 1};
constexpr BenchLabels json_labels{.rounds = "spec_decode_num_drafts",
                                  .drafted = "spec_decode_draft_tokens",
                                  .accepted = "spec_decode_accepted_tokens",
                                  .position = "spec_decode_per_position_acceptance_rates",
                                  .emitted = "total_output_tokens",
                                  .requests = "completed",
                                  .failed = "failed",
                                  .length = "spec_decode_acceptance_length",
                                  .scale = 1};

/// One benchmark's numbers, by label.
struct BenchRecord {
  std::string where;
  std::map<std::string, std::uint64_t> counts = {};
  std::optional<double> length = {};
  std::vector<double> rates = {};
};

void add_record(ModelLog& log, const BenchRecord& record, const BenchLabels& labels, double rounding) {
  const auto count = [&](const char* label) {
    const auto found = record.counts.find(label);
    if (found == record.counts.end())
      throw UsageError("{}: no \"{}\" beside the others", record.where, label);
    return found->second;
  };
  const std::uint64_t rounds = count(labels.rounds);
  const std::uint64_t drafted = count(labels.drafted);
  const std::uint64_t accepted = count(labels.accepted);
  const double length =
      1 + static_cast<double>(accepted) / static_cast<double>(std::max<std::uint64_t>(rounds, 1));
  if (record.length) check_stated(record.where, labels.length, *record.length, length);
  if (record.counts.count(labels.emitted) > 0) {
    const bool counted = labels.requests != nullptr && record.counts.count(labels.requests) > 0;
    check_drafting(record.where, rounds,
                   runs_of(count(labels.emitted), accepted, counted ? count(labels.requests) : 0), accepted,
                   counted ? drafting_share : drafting_share_with_prompts);
    const auto failed = labels.failed == nullptr ? record.counts.end() : record.counts.find(labels.failed);
    // Texts may have been split into tokens again, which gives other numbers.
    constexpr double split_again = 0.1;
    if (counted && (failed == record.counts.end() || failed->second == 0))
      check_emitted(record.where, rounds, drafted, accepted, count(labels.emitted), count(labels.requests),
                    split_again);
  }
  if (record.rates.empty()) return log.add_sums(record.where, rounds, drafted, accepted);
  add_rounded(log, record.where,
              {.accepted = accepted,
               .drafted = drafted,
               .rates = record.rates,
               .rate_rounding = rounding,
               .rounds = rounds});
}

/// Reads "Position 0:   80.00", or "acceptance at token 0: 0.80".
void add_rate(BenchRecord& record, const TextLine& line, const BenchLabels& labels) {
  const auto position = as_count(number_after(line.text, labels.position));
  const auto rate = number_after(line.text, ":");
  if (!position || *position != record.rates.size())
    refuse_line(line, "\"{}\" is not about position {}", brief(line.text), record.rates.size());
  if (!rate || !(*rate >= 0 && *rate <= labels.scale))
    refuse_line(line, "\"{}\" has no rate from 0 to {}", brief(line.text), labels.scale);
  record.rates.push_back(*rate / labels.scale);
}

template <const BenchLabels& labels>
bool is_bench_text(const LogSource& source) {
  return std::any_of(source.lines().begin(), source.lines().end(),
                     [](const TextLine& line) { return line.text.starts_with(labels.rounds); });
}

template <const BenchLabels& labels>
ModelLogs read_bench_text(const LogSource& source) {
  constexpr double half_of_last_digit = 0.005;
  ModelLog log;
  BenchRecord record;
  const auto finish = [&] {
    if (!record.counts.empty()) add_record(log, record, labels, half_of_last_digit / labels.scale);
    record = {};
  };
  for (const TextLine& line : source.lines()) {
    if (line.text.starts_with(labels.position)) add_rate(record, line, labels);
    if (line.text.starts_with(labels.length)) record.length = number_after(line.text, labels.length);
    for (const char* label :
         {labels.requests, labels.failed, labels.emitted, labels.rounds, labels.drafted, labels.accepted}) {
      if (label == nullptr || !line.text.starts_with(label)) continue;
      // A label that comes again begins the next benchmark.
      if (record.counts.count(label) > 0) finish();
      record.where = line.where;
      record.counts[label] = count_after(line, label);
    }
  }
  finish();
  return {{"", log}};
}

ModelLogs read_bench_json(const LogSource& source) {
  constexpr double rounding = 1e-9;
  ModelLogs logs;
  for (const auto& [place, model, usage] : records_with(source, {json_labels.rounds}, "model_id")) {
    BenchRecord record{.where = place.where};
    for (const char* label : {json_labels.rounds, json_labels.drafted, json_labels.accepted,
                              json_labels.emitted, json_labels.requests, json_labels.failed}) {
      if (place.has(label)) record.counts[label] = count_in(place.at(label));
    }
    if (place.has(json_labels.length)) record.length = place.at(json_labels.length).number();
    if (place.has(json_labels.position)) {
      const JsonPlace rates = place.at(json_labels.position);
      for (std::size_t i = 0; i < rates.size(); ++i) {
        if (!(rates.at(i).number() >= 0 && rates.at(i).number() <= 1))
          rates.at(i).refuse("a rate from 0 to 1");
        record.rates.push_back(rates.at(i).number());
      }
    }
    add_record(logs[model], record, json_labels, rounding);
  }
  return logs;
}

}  // namespace

LogFormat bench_serve_log_format() {
  return {
      "bench_serve",
      "vLLM, SGLang",
      "What vllm bench serve or SGLang's bench_serving prints; rates by position have two decimals.",
      "Successful requests: 20\nTotal generated tokens: 1265\nDrafts: 500\nDraft tokens: 1500\n"
      "Accepted tokens: 765\nPer-position acceptance (%):\nPosition 0: 78.00\nPosition 1: 50.00\nPosition 2: 25.00\n",
      "https://docs.vllm.ai/en/latest/cli/bench/serve.html",
      is_bench_text<serve_labels>,
      read_bench_text<serve_labels>};
}

LogFormat bench_serve_json_log_format() {
  return {
      "bench_serve_json",
      "vLLM, SGLang",
      "The JSON that vllm bench serve writes with --save-result.",
      "{\"model_id\": \"m\", \"completed\": 20, \"total_output_tokens\": 1160, \"spec_decode_num_drafts\": 500, "
      "\"spec_decode_draft_tokens\": 1000, \"spec_decode_accepted_tokens\": 640, "
      "\"spec_decode_per_position_acceptance_rates\": [0.78, 0.5]}\n",
      "https://docs.vllm.ai/en/latest/cli/bench/serve.html",
      [](const LogSource& source) { return has_record_with(source, {json_labels.rounds}); },
      read_bench_json};
}

LogFormat vllm_offline_log_format() {
  return {"vllm_offline",
          "vLLM",
          "What the example offline_inference/spec_decode.py prints; rates by position have two decimals.",
          "total_num_output_tokens: 470\nnum_drafts: 200\nnum_draft_tokens: 400\nnum_accepted_tokens: 260\n"
          "mean acceptance length: 2.30\nacceptance at token 0: 0.80\nacceptance at token 1: 0.50\n",
          "https://github.com/vllm-project/vllm/blob/main/examples/offline_inference/spec_decode.py",
          is_bench_text<offline_labels>,
          read_bench_text<offline_labels>};
}

}  // namespace speclab
