#include "experiments/bench/sim_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/bench/drafting_costs.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/limits.hpp"
#include "experiments/bench/numpy_reference.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

namespace {

std::string plain_letters(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != ' ' && c != ',') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

/// Returns the workload's pair with the tables of its rule; null without a pair.
BenchPair* prepared_for(const BenchWorkload& workload, BenchPairs& pairs) {
  if (!workload.pair) return nullptr;
  BenchPair& pair = pairs.prepared(*workload.pair);
  if (workload.rule && workload.engine == BenchEngine::fast) {
    pair.by_rule.emplace(workload.rule->name, std::make_unique<const FastPair>(
                                                  pair.target, pair.draft, workload.rule->rule, *pair.rows));
  }
  return &pair;
}

std::string length_name(int exponent) {
  return fmt::format("{}: 1e{} tokens", stored_shape().name, exponent);
}

int length_count(const SimSuiteOptions& options) { return options.size.lengths + (options.longer ? 2 : 0); }

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// Measures runs of 10^k tokens, k ascending. It comes before all other measurements: the peak of memory
/// never falls, and equals that of the current row only while nothing larger has been held.
std::vector<LengthRow> lengths(const SimSuiteOptions& options, const BenchPair& pair) {
  const ThreadLimit one(1);
  const Control control{.stop = interrupted};
  const Tally probe = pair.tables->decode(bench_gamma, bench_simulation(1U << 14U), control).total();
  const double per_round = static_cast<double>(probe.emitted) / static_cast<double>(probe.rounds);

  std::vector<LengthRow> rows;
  std::vector<TimedJob> jobs;
  std::vector<double> tokens;
  for (int at = 0; at < length_count(options); ++at) {
    const int exponent = options.size.least_exponent + at;
    const SimulationSize simulation =
        bench_simulation(static_cast<std::uint64_t>(std::pow(10, exponent) / per_round));
    const double start = thread_seconds();
    const Tally tally = pair.tables->decode(bench_gamma, simulation, control).total();
    const double ns = 1e9 * (thread_seconds() - start) / static_cast<double>(tally.emitted);
    rows.push_back({length_name(exponent), tally.emitted, peak_memory(), ns, ns, 1});
    if (at >= options.size.lengths) continue;  // these take minutes: one run is enough
    // Short runs are timed in groups, because the machine's speed changes from one moment to the next.
    const auto runs = std::max(1, static_cast<int>(std::pow(10, options.size.lengths - 1 - at) / 4));
    tokens.push_back(static_cast<double>(runs) * static_cast<double>(tally.emitted));
    jobs.emplace_back([&pair, simulation, control, runs] {
      for (int run = 0; run < runs && !interrupted(); ++run) {
        static_cast<void>(pair.tables->decode(bench_gamma, simulation, control));
      }
    });
  }
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions);
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const std::vector<double>& seconds = timings[at].processor_seconds;
    rows[at].ns_per_token = 1e9 * median(seconds) / tokens[at];
    rows[at].best_ns_per_token = 1e9 * least(seconds) / tokens[at];
    rows[at].repetitions = options.repetitions;
  }
  return rows;
}

/// A workload with its tally and work, which are the same in each repetition.
struct Measured {
  BenchWorkload workload;
  const BenchPair* pair;  ///< null without a pair
  Tally tally;
  FastWork work;
};

/// Computes rates, counts per token and sizes.
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
  const FastPair& tables = tables_of(workload, *measured.pair);
  row.tables = TableSizes{
      .streams = workload.streams,
      .table_bytes = tables.bytes(),
      .contexts = tables.contexts(),
      .bytes_per_context = static_cast<double>(tables.bytes()) / static_cast<double>(tables.contexts())};
  return row;
}

/// Returns the time that the limits give for a row of one thread of the fast or i.i.d. engine. The row reads
/// memory of one of the limits' sizes, or none.
TimeBound time_bound(const WorkloadRow& row, const MachineLimits& limits, std::size_t bytes) {
  const TokenCounts counts = row.per_token.value();
  const auto read = std::find_if(limits.reads.begin(), limits.reads.end(),
                                 [&](const ReadLimit& limit) { return limit.bytes == bytes; });
  TimeBound bound;
  bound.random_ns_per_token = counts.random_numbers / 2 * limits.block_ns;
  if (read != limits.reads.end()) bound.reads_ns_per_token = counts.reads * read->in_flight_ns;
  bound.sum_ns_per_token = bound.random_ns_per_token + bound.reads_ns_per_token;
  bound.larger_ns_per_token = std::max(bound.random_ns_per_token, bound.reads_ns_per_token);
  bound.ratio_to_sum = row.ns_per_token / bound.sum_ns_per_token;
  bound.ratio_to_larger = row.ns_per_token / bound.larger_ns_per_token;
  return bound;
}

/// Compares each row that changes one thing in another ("PAIR: 1 stream") with that other row.
std::vector<RatioRow> comparisons(const std::vector<WorkloadRow>& rows) {
  std::vector<RatioRow> all;
  for (const WorkloadRow& row : rows) {
    const std::size_t colon = row.name.find(": ");
    if (colon == std::string::npos) {
      // A row "PAIR, RULE" is compared with the pair's own row, which has token verification.
      for (const WorkloadRow& token : rows) {
        if (!row.name.starts_with(token.name + ", ")) continue;
        all.push_back(
            {row.name + ": time a token over token verification's", row.ns_per_token / token.ns_per_token});
      }
      continue;
    }
    const std::string pair = row.name.substr(0, colon);
    const WorkloadRow* const base = find_named(rows, pair);
    if (base == nullptr) continue;
    if (row.threads > 1) {
      // Both sides use the wall clock, because processor time does not shrink with threads. The best times
      // show what the engine can do: other work on the machine takes more from several threads than from one.
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

/// The rows that --only chooses.
struct ChosenRows {
  std::vector<BenchWorkload> workloads;
  bool lengths = false;  ///< all or none of them, since they are compared with each other
  bool numpy = false;
  bool drafting = false;  ///< all or none of them
};

/// Returns the chosen rows. Throws UsageError if there are none.
ChosenRows chosen_rows(const SimSuiteOptions& options, const PairShape& numpy_shape) {
  const auto chosen = [wanted = plain_letters(options.only)](const std::string& name) {
    return plain_letters(name).find(wanted) != std::string::npos;
  };
  ChosenRows rows;
  for (int at = 0; at < length_count(options); ++at) {
    rows.lengths = rows.lengths || chosen(length_name(options.size.least_exponent + at));
  }
  rows.numpy = chosen("NumPy: " + numpy_shape.name);
  std::vector<std::string> names{"NumPy", length_name(options.size.least_exponent)};
  for (const BenchWorkload& workload : bench_workloads(options.size, options.threads)) {
    names.push_back(workload.name);
    if (chosen(workload.name)) rows.workloads.push_back(workload);
  }
  for (const std::string& name : drafting_names()) {
    names.push_back(name);
    rows.drafting = rows.drafting || chosen(name);
  }
  if (rows.workloads.empty() && !rows.lengths && !rows.numpy && !rows.drafting) {
    throw UsageError("--only: no row has \"{}\" in its name; rows: {}", options.only, fmt::join(names, "; "));
  }
  return rows;
}

/// Runs the workloads and the limits' jobs in random order.
void measure_workloads(const SimSuiteOptions& options, const BenchPairs& pairs,
                       std::vector<Measured>& measured, SimReport& report) {
  // Reads are measured on memory as large as each pair's tables.
  std::set<std::size_t> sizes;
  for (const auto& [name, pair] : pairs.by_name()) sizes.insert(pair->tables->bytes());
  LimitJobs limits(sizes, options.brief);
  std::vector<TimedJob> jobs = limits.jobs();
  const std::size_t first_workload = jobs.size();
  for (Measured& one : measured) {
    jobs.emplace_back([&one] {
      const Outcome outcome = decode(one.workload, one.pair);
      one.tally = outcome.total();
      one.work = outcome.work;
    });
  }
  std::vector<Timing> timings;
  {
    Progress progress("bench sim", jobs.size() * static_cast<std::size_t>(options.repetitions),
                      options.silent);
    timings = measure_interleaved(jobs, options.repetitions, [&] { progress.advance(); });
  }
  report.limits = limits.limits(timings);
  for (std::size_t at = 0; at < measured.size(); ++at) {
    const Measured& one = measured[at];
    WorkloadRow row = workload_row(one, timings[first_workload + at]);
    if (row.per_token && row.threads == 1) {
      row.bound = time_bound(row, report.limits, one.pair == nullptr ? 0 : one.pair->tables->bytes());
    }
    report.workloads.push_back(std::move(row));
  }
}

}  // namespace

SimReport run_sim_suite(const SimSuiteOptions& options) {
  const PairShape numpy_shape = bigram_shape(options.size.small_vocab);
  const ChosenRows chosen = chosen_rows(options, numpy_shape);
  SimReport report;
  report.version = version_string();
  report.machine = machine_description();
  report.command = options.command;
  report.quick = options.brief;
  report.gamma = bench_gamma;
  report.repetitions = options.repetitions;
  report.text_bytes = options.size.text_bytes;

  BenchPairs pairs(options.size.text_bytes);
  if (chosen.lengths) report.lengths = lengths(options, pairs.prepared(stored_shape()));
  std::vector<Measured> measured;
  for (const BenchWorkload& workload : chosen.workloads) {
    end_if_stopped();
    measured.push_back({workload, prepared_for(workload, pairs), {}, {}});
  }
  if (chosen.numpy) pairs.prepared(numpy_shape);
  for (const auto& [name, pair] : pairs.by_name()) report.preparation.push_back(pair->costs);

  measure_workloads(options, pairs, measured, report);
  report.comparisons = comparisons(report.workloads);
  if (chosen.numpy) {
    report.numpy = run_numpy_reference(numpy_shape, pairs.prepared(numpy_shape), options.size.numpy_rounds,
                                       options.python);
    const WorkloadRow* const fast = find_named(report.workloads, numpy_shape.name);
    if (auto& numpy = report.numpy->measured; numpy && fast != nullptr) {
      numpy->fast_over_numpy = fast->tokens_per_second / numpy->tokens_per_second;
    }
  }
  if (chosen.drafting) {
    report.drafting = drafting_costs(options.size.drafting_text_bytes, options.repetitions);
  }
  return report;
}

}  // namespace speclab
