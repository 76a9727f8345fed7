#include "experiments/bench/sim_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace speclab {

namespace {

const WorkloadRow* row_of(const std::vector<WorkloadRow>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const WorkloadRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

}  // namespace

PreparationRow preparation_row(const std::string& name, const ModelPair& pair) {
  const PairCosts& costs = pair.costs;
  PreparationRow row{.name = name,
                     .text_bytes = costs.text_bytes,
                     .tokens = costs.tokens,
                     .corpus_seconds = costs.corpus_seconds,
                     .training_seconds = costs.training_seconds,
                     .preparing_seconds = costs.preparing_seconds,
                     .contexts = pair.tables->contexts(),
                     .table_bytes = pair.tables->bytes(),
                     .text_bytes_per_second = {}};
  if (costs.text_bytes > 0) {
    row.text_bytes_per_second =
        static_cast<double>(costs.text_bytes) / (costs.corpus_seconds + costs.training_seconds);
  }
  return row;
}

WorkloadRow workload_row(const Measured& measured, const Timing& timing) {
  const BenchWorkload& workload = measured.workload;
  const auto tokens = static_cast<double>(measured.tally.emitted);
  const bool parallel = workload.threads > 1;
  WorkloadRow row;
  row.name = workload.name;
  row.threads = workload.threads;
  row.clock = parallel ? "wall" : "processor";
  row.seconds = parallel ? timing.wall_seconds : timing.processor_seconds;
  row.wall_seconds = timing.wall_seconds;
  row.spread = spread(row.seconds);
  row.tokens = measured.tally.emitted;
  row.rounds = measured.tally.rounds;
  const double seconds = median(row.seconds);
  row.tokens_per_second = tokens / seconds;
  row.rounds_per_second = static_cast<double>(row.rounds) / seconds;
  row.ns_per_token = 1e9 * seconds / tokens;
  if (!parallel && !timing.cache_misses.empty()) {
    row.cache_misses_per_token = median(timing.cache_misses) / tokens;
  }
  if (workload.engine == BenchEngine::plain) return row;
  row.per_token = TokenCounts{.random_numbers = 2 * static_cast<double>(measured.work.blocks) / tokens,
                              .reads = static_cast<double>(measured.work.reads) / tokens,
                              .passes = static_cast<double>(measured.work.passes) / tokens};
  if (measured.pair == nullptr) return row;
  const FastPair& tables = *measured.pair->tables;
  row.tables = TableSizes{
      .streams = workload.streams,
      .table_bytes = tables.bytes(),
      .contexts = tables.contexts(),
      .bytes_per_context = static_cast<double>(tables.bytes()) / static_cast<double>(tables.contexts())};
  return row;
}

TimeBound time_bound(const WorkloadRow& row, double block_ns, double in_flight_ns) {
  const TokenCounts counts = row.per_token.value();
  TimeBound bound;
  bound.random_ns_per_token = counts.random_numbers / 2 * block_ns;
  bound.reads_ns_per_token = counts.reads * in_flight_ns;
  bound.sum_ns_per_token = bound.random_ns_per_token + bound.reads_ns_per_token;
  bound.larger_ns_per_token = std::max(bound.random_ns_per_token, bound.reads_ns_per_token);
  bound.ratio_to_sum = row.ns_per_token / bound.sum_ns_per_token;
  bound.ratio_to_larger = row.ns_per_token / bound.larger_ns_per_token;
  return bound;
}

std::optional<double> rate_of(const std::vector<WorkloadRow>& rows, const std::string& name) {
  const WorkloadRow* const row = row_of(rows, name);
  return row == nullptr ? std::nullopt : std::optional(row->tokens_per_second);
}

std::vector<RatioRow> comparisons(const std::vector<WorkloadRow>& rows) {
  std::vector<RatioRow> all;
  for (const WorkloadRow& row : rows) {
    const std::size_t colon = row.name.find(": ");
    if (colon == std::string::npos) continue;
    const std::string pair = row.name.substr(0, colon);
    const WorkloadRow* const base = row_of(rows, pair);
    if (base == nullptr) continue;
    if (row.threads > 1) {
      // By the wall clock on both sides: processor time does not shrink with threads. The best of each is
      // what the engine can do; anything else on the machine takes from several threads more than from one.
      const double tokens = static_cast<double>(row.tokens) / static_cast<double>(base->tokens);
      all.push_back(
          {row.name + " over 1, wall clock", tokens * median(base->wall_seconds) / median(row.wall_seconds)});
      all.push_back({row.name + " over 1, wall clock, the best of each",
                     tokens * least(base->wall_seconds) / least(row.wall_seconds)});
    } else {
      const std::string other = row.name.substr(colon + 2);
      const std::string what =
          other == one_stream ? fmt::format("{} streams", default_streams) : std::string("fast engine");
      all.push_back({fmt::format("{}: {} over {}", pair, what, other),
                     base->tokens_per_second / row.tokens_per_second});
    }
  }
  return all;
}

}  // namespace speclab
