#include "serving/advisor/spec_decode_page.hpp"

#include "serving/advisor/prometheus_page.hpp"

namespace speclab {

namespace {

constexpr std::string_view drafts_counter = "spec_decode_num_drafts";
constexpr std::string_view draft_tokens_counter = "spec_decode_num_draft_tokens";
constexpr std::string_view per_position_counter = "spec_decode_num_accepted_tokens_per_pos";

/// The counters of one model, summed over engines.
struct SpecDecodeCounters {
  std::uint64_t rounds = 0;
  std::optional<std::uint64_t> drafted = {};
  std::map<std::uint64_t, std::uint64_t> by_position = {};
};

ModelLog log_of(const SpecDecodeCounters& counters, const std::string& where, std::string_view prefix) {
  std::vector<std::uint64_t> accepted;
  for (const auto& [position, count] : counters.by_position) {
    if (position != accepted.size()) {
      throw UsageError("{}: {}{} has no position {}", where, prefix, per_position_counter, accepted.size());
    }
    accepted.push_back(count);
  }
  if (counters.rounds == 0 || accepted.empty()) {
    throw UsageError("{}: needs samples of {}{} and {}{}", where, prefix, drafts_counter, prefix,
                     per_position_counter);
  }
  ModelLog log;
  log.add_totals(where, counters.rounds, accepted,
                 counters.drafted.value_or(counters.rounds * accepted.size()));
  return log;
}

}  // namespace

ModelLogs read_spec_decode_page(const LogSource& source, std::string_view prefix) {
  std::map<std::string, SpecDecodeCounters> models;
  for (const PrometheusSample& sample : prometheus_samples(source, fmt::format("{}spec_decode", prefix))) {
    SpecDecodeCounters& counters = models[sample.label("model_name")];
    const std::string_view name = std::string_view(sample.name).substr(prefix.size());
    if (name == drafts_counter) {
      counters.rounds += counter_of(sample);
    } else if (name == draft_tokens_counter) {
      counters.drafted = counters.drafted.value_or(0) + counter_of(sample);
    } else if (name == per_position_counter) {
      if (sample.labels.count("position") == 0) refuse_line(sample.line, "no label \"position\"");
      counters.by_position[count_of(sample.line, sample.label("position"), "position")] += counter_of(sample);
    }
  }
  if (models.empty()) models[""];
  ModelLogs logs;
  for (const auto& [model, counters] : models) logs[model] = log_of(counters, source.name(), prefix);
  return logs;
}

}  // namespace speclab
