#include "experiments/bench/sim_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "experiments/bench/drafting_costs.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/limit_jobs.hpp"
#include "experiments/bench/numpy_reference.hpp"
#include "experiments/bench/sim_rows.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

namespace {

std::string plain_letters(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != ' ' && c != ',') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

/// By name. Models stay where they are: the prepared tables point to them.
using Pairs = std::map<std::string, ModelPair>;

/// One thread prepares, so that the seconds can be compared.
const ModelPair& prepared(Pairs& pairs, PairMaker& maker, const PairShape& shape) {
  const auto known = pairs.find(shape.name);
  if (known != pairs.end()) return known->second;
  const ThreadLimit one(1);
  ModelPair& pair = pairs.emplace(shape.name, maker.make(shape)).first->second;
  const double start = thread_seconds();
  pair.tables = std::make_unique<const FastPair>(pair.target, pair.draft, AnyRule(TokenRule{}));
  pair.costs.preparing_seconds = thread_seconds() - start;
  return pair;
}

std::string length_name(int exponent) {
  return fmt::format("{}: 1e{} tokens", stored_shape().name, exponent);
}

int length_count(const SimSuiteOptions& options) { return options.size.lengths + (options.longer ? 2 : 0); }

std::uint64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kibibyte;
}

Control until_interrupted() {
  return {.stop = [] { return interrupted(); }, .progress = [](std::uint64_t) {}};
}

/// What a run of 10^k tokens takes, k ascending. It comes first of all measurements: the peak of memory never
/// falls, and belongs to the rows above as long as nothing else has been held.
std::vector<LengthRow> lengths(const SimSuiteOptions& options, const ModelPair& pair) {
  const ThreadLimit one(1);
  const Control control = until_interrupted();
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
    rows.push_back({length_name(exponent), tally.emitted, peak_bytes(), ns, ns, 1});
    if (at >= options.size.lengths) continue;  // minutes long: once is enough
    // Short runs are timed many at a time: the machine's speed changes from one moment to the next.
    const auto runs = std::max(1, static_cast<int>(std::pow(10, options.size.lengths - 1 - at) / 4));
    tokens.push_back(static_cast<double>(runs) * static_cast<double>(tally.emitted));
    jobs.emplace_back([&pair, simulation, control, runs] {
      for (int run = 0; run < runs && !interrupted(); ++run) {
        static_cast<void>(pair.tables->decode(bench_gamma, simulation, control));
      }
    });
  }
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions, [] {});
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const std::vector<double>& seconds = timings[at].processor_seconds;
    if (seconds.empty()) break;  // interrupted
    rows[at].ns_per_token = 1e9 * median(seconds) / tokens[at];
    rows[at].best_ns_per_token = 1e9 * *std::min_element(seconds.begin(), seconds.end()) / tokens[at];
    rows[at].repetitions = options.repetitions;
  }
  return rows;
}

/// What --only chooses.
struct ChosenRows {
  std::vector<BenchWorkload> workloads;
  bool lengths = false;  ///< all or none of them: they are compared with each other
  bool numpy = false;
  bool drafting = false;  ///< all or none of them
};

/// Throws UsageError when nothing is chosen.
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
    throw UsageError(
        fmt::format("--only: no row has \"{}\" in its name; rows: {}", options.only, fmt::join(names, "; ")));
  }
  return rows;
}

/// Runs the workloads and the limits' jobs in random order; false after a Ctrl-C.
bool measure_workloads(const SimSuiteOptions& options, const Pairs& pairs, std::vector<Measured>& measured,
                       SimReport& report) {
  // Reads are measured on memory of the size of each pair's tables.
  std::vector<std::size_t> sizes;
  for (const auto& [name, pair] : pairs) sizes.push_back(pair.tables->bytes());
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
  if (interrupted()) return false;
  const std::vector<Timing> of_limits(timings.begin(),
                                      timings.begin() + static_cast<std::ptrdiff_t>(first_workload));
  report.limits = limits.limits(of_limits);
  for (std::size_t at = 0; at < measured.size(); ++at) {
    const Measured& one = measured[at];
    WorkloadRow row = workload_row(one, timings[first_workload + at]);
    if (row.per_token && row.threads == 1) {
      const double in_flight_ns =
          one.pair == nullptr ? 0 : limits.in_flight_ns(of_limits, one.pair->tables->bytes());
      row.bound = time_bound(row, report.limits.block_ns, in_flight_ns);
    }
    report.workloads.push_back(std::move(row));
  }
  return true;
}

}  // namespace

std::optional<SimReport> run_sim_suite(const SimSuiteOptions& options) {
  const PairShape numpy_shape = bigram_shape(options.size.small_vocab);
  const ChosenRows chosen = chosen_rows(options, numpy_shape);
  SimReport report;
  report.version = version_string();
  report.machine = machine_description();
  report.command = options.command;
  report.brief = options.brief;
  report.gamma = bench_gamma;
  report.repetitions = options.repetitions;
  report.text_bytes = options.size.text_bytes;

  Pairs pairs;
  PairMaker maker(options.size.text_bytes);
  if (chosen.lengths) report.lengths = lengths(options, prepared(pairs, maker, stored_shape()));
  std::vector<Measured> measured;
  for (const BenchWorkload& workload : chosen.workloads) {
    if (interrupted()) return std::nullopt;
    measured.push_back({workload, workload.pair ? &prepared(pairs, maker, *workload.pair) : nullptr, {}, {}});
  }
  if (chosen.numpy) prepared(pairs, maker, numpy_shape);
  for (const auto& [name, pair] : pairs) report.preparation.push_back(preparation_row(name, pair));

  if (!measure_workloads(options, pairs, measured, report)) return std::nullopt;
  report.comparisons = comparisons(report.workloads);
  if (chosen.numpy) {
    report.numpy = run_numpy_reference(numpy_shape, pairs.at(numpy_shape.name), options.size.numpy_rounds);
    const auto fast = rate_of(report.workloads, numpy_shape.name);
    if (auto& numpy = report.numpy->measured; numpy && fast) {
      numpy->fast_over_numpy = *fast / numpy->tokens_per_second;
    }
  }
  if (chosen.drafting) {
    report.drafting = drafting_costs(options.size.drafting_text_bytes, options.repetitions);
  }
  if (interrupted()) return std::nullopt;
  return report;
}

}  // namespace speclab
