#include "experiments/bench/sim_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/progress.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/bench/interleaved_runs.hpp"
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

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// A workload and its outcome, which is the same in each repetition.
struct Measured {
  BenchWorkload workload;
  const BenchPair* pair = nullptr;  ///< null if the workload has no pair
  Tally tally = {};
};

/// Computes rates, counts per token, and sizes.
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
  return row;
}

/// Compares rows with a changed setting ("PAIR: 1 stream") with the row without it.
std::vector<RatioRow> comparisons(const std::vector<WorkloadRow>& rows) {
  std::vector<RatioRow> all;
  for (const WorkloadRow& row : rows) {
    const std::size_t colon = row.name.find(": ");
    if (colon == std::string::npos) {
      // A row "PAIR, RULE" is compared with the pair's row for token verification.
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
      // Compares by the wall clock, because processor time does not shrink with threads; and best times,
      // because other work on the machine takes more from several threads than from one.
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

/// Throws UsageError when `only` names no row.
std::vector<BenchWorkload> chosen_rows(const SimSuiteOptions& options) {
  const std::string wanted = plain_letters(options.only);
  std::vector<BenchWorkload> chosen;
  std::vector<std::string> names;
  for (const BenchWorkload& workload : bench_workloads(options.size, options.threads)) {
    names.push_back(workload.name);
    if (plain_letters(workload.name).find(wanted) != std::string::npos) chosen.push_back(workload);
  }
  if (chosen.empty())
    throw UsageError("--only: no row has \"{}\" in its name; rows: {}", options.only, fmt::join(names, "; "));
  return chosen;
}

}  // namespace

SimReport run_sim_suite(const SimSuiteOptions& options) {
  SimReport report{.version = version_string(),
                   .machine = machine_description(),
                   .command = options.command,
                   .quick = options.brief,
                   .gamma = bench_gamma,
                   .repetitions = options.repetitions,
                   .text_bytes = options.size.text_bytes,
                   .workloads = {},
                   .comparisons = {}};
  BenchPairs pairs(options.size.text_bytes);
  std::vector<Measured> measured;
  for (const BenchWorkload& workload : chosen_rows(options)) {
    end_if_stopped();
    measured.push_back({workload, prepared_for(workload, pairs)});
  }
  std::vector<TimedJob> jobs;
  for (Measured& one : measured)
    jobs.emplace_back([&one] { one.tally = decode(one.workload, one.pair).total(); });
  Progress progress("bench sim", jobs.size() * static_cast<std::size_t>(options.repetitions), options.silent);
  const std::vector<Timing> timings =
      measure_interleaved(jobs, options.repetitions, [&] { progress.advance(); });
  for (std::size_t at = 0; at < measured.size(); ++at)
    report.workloads.push_back(workload_row(measured[at], timings[at]));
  report.comparisons = comparisons(report.workloads);
  return report;
}

}  // namespace speclab
