#include "experiments/bench/sim_suite.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/limit_jobs.hpp"
#include "experiments/bench/numpy_reference.hpp"
#include "experiments/bench/sim_rows.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/version.hpp"

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
  pair.fast = std::make_unique<const FastPair>(pair.target, pair.draft, AnyRule(TokenRule{}));
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

/// What a run of 10^k tokens takes, k ascending. It comes first of all measurements: the peak of memory never
/// falls, and belongs to the rows above as long as nothing else has been held.
Json lengths(const SimSuiteOptions& options, const ModelPair& pair) {
  const ThreadLimit one(1);
  const Control control{.stop = [] { return interrupted(); }, .progress = [](std::uint64_t) {}};
  const Tally probe = pair.fast->decode(bench_gamma, bench_plan(1U << 14U), control).total();
  const double per_round = static_cast<double>(probe.emitted) / static_cast<double>(probe.rounds);

  Json rows = Json::array();
  std::vector<TimedJob> jobs;
  std::vector<double> tokens;
  for (int at = 0; at < length_count(options); ++at) {
    const int exponent = options.size.least_exponent + at;
    const SimulationSize plan = bench_plan(static_cast<std::uint64_t>(std::pow(10, exponent) / per_round));
    const double start = thread_seconds();
    const Tally tally = pair.fast->decode(bench_gamma, plan, control).total();
    const double seconds = thread_seconds() - start;
    rows.push_back({{"name", length_name(exponent)},
                    {"tokens", tally.emitted},
                    {"peak_bytes", peak_bytes()},
                    {"ns_per_token", 1e9 * seconds / static_cast<double>(tally.emitted)},
                    {"best_ns_per_token", 1e9 * seconds / static_cast<double>(tally.emitted)},
                    {"repetitions", 1}});
    if (at >= options.size.lengths) continue;  // minutes long: once is enough
    // Short runs are timed many at a time: the machine's speed changes from one moment to the next.
    const auto runs = std::max(1, static_cast<int>(std::pow(10, options.size.lengths - 1 - at) / 4));
    tokens.push_back(static_cast<double>(runs) * static_cast<double>(tally.emitted));
    jobs.emplace_back([&pair, plan, control, runs] {
      for (int run = 0; run < runs && !interrupted(); ++run) {
        static_cast<void>(pair.fast->decode(bench_gamma, plan, control));
      }
    });
  }
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions, [] {});
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const std::vector<double>& seconds = timings[at].processor_seconds;
    if (seconds.empty()) break;  // interrupted
    rows[at]["ns_per_token"] = 1e9 * median(seconds) / tokens[at];
    rows[at]["best_ns_per_token"] = 1e9 * *std::min_element(seconds.begin(), seconds.end()) / tokens[at];
    rows[at]["repetitions"] = options.repetitions;
  }
  return rows;
}

}  // namespace

std::optional<Json> run_sim_suite(const SimSuiteOptions& options) {
  const auto chosen = [wanted = plain_letters(options.only)](const std::string& name) {
    return plain_letters(name).find(wanted) != std::string::npos;
  };
  const PairShape numpy_shape = bigram_shape(options.size.small_vocab);
  // The lengths are measured all or none: they are there to be compared with each other.
  bool with_lengths = false;
  for (int at = 0; at < length_count(options); ++at) {
    with_lengths = with_lengths || chosen(length_name(options.size.least_exponent + at));
  }
  const bool with_numpy = chosen("NumPy: " + numpy_shape.name);
  std::vector<BenchWorkload> todo;
  std::vector<std::string> names{"NumPy", length_name(options.size.least_exponent)};
  for (const BenchWorkload& workload : bench_workloads(options.size, options.threads)) {
    names.push_back(workload.name);
    if (chosen(workload.name)) todo.push_back(workload);
  }
  if (todo.empty() && !with_lengths && !with_numpy) {
    throw UsageError(
        fmt::format("--only: no row has \"{}\" in its name; rows: {}", options.only, fmt::join(names, "; ")));
  }

  Json result{{"suite", "sim"},
              {"version", version_string()},
              {"machine", machine_description()},
              {"command", options.command},
              {"quick", options.quick},
              {"gamma", bench_gamma},
              {"repetitions", options.repetitions},
              {"text_bytes", options.size.text_bytes}};
  Pairs pairs;
  PairMaker maker(options.size.text_bytes);
  result["lengths"] = Json::array();
  if (with_lengths) result["lengths"] = lengths(options, prepared(pairs, maker, stored_shape()));

  std::vector<Measured> measured;
  for (const BenchWorkload& workload : todo) {
    if (interrupted()) return std::nullopt;
    measured.push_back({workload, workload.pair ? &prepared(pairs, maker, *workload.pair) : nullptr, {}, {}});
  }
  if (with_numpy) prepared(pairs, maker, numpy_shape);
  result["preparation"] = Json::array();
  for (const auto& [name, pair] : pairs) result["preparation"].push_back(preparation_json(name, pair));

  // Reads are measured on memory of the size of each pair's tables.
  std::vector<std::size_t> sizes;
  for (const auto& [name, pair] : pairs) sizes.push_back(pair.fast->bytes());
  LimitJobs limits(sizes, options.quick);
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
  if (interrupted()) return std::nullopt;
  const std::vector<Timing> of_limits(timings.begin(),
                                      timings.begin() + static_cast<std::ptrdiff_t>(first_workload));
  result["limits"] = limits.json(of_limits);
  result["workloads"] = Json::array();
  for (std::size_t at = 0; at < measured.size(); ++at) {
    Json row = workload_json(measured[at], timings[first_workload + at]);
    if (measured[at].workload.engine != BenchEngine::plain && measured[at].workload.threads == 1) {
      add_bound(row, limits.block_ns(of_limits),
                measured[at].pair != nullptr
                    ? limits.in_flight_ns(of_limits, measured[at].pair->fast->bytes())
                    : 0);
    }
    result["workloads"].push_back(std::move(row));
  }
  result["comparisons"] = comparisons(result.at("workloads"));
  result["numpy"] = Json();
  if (with_numpy) {
    Json numpy = run_numpy_reference(numpy_shape, pairs.at(numpy_shape.name), options.size.numpy_rounds);
    const double fast = rate_of(result.at("workloads"), numpy_shape.name);
    if (numpy.contains("tokens_per_second") && !std::isnan(fast)) {
      numpy["quick_over_numpy"] = fast / numpy.at("tokens_per_second").get<double>();
    }
    result["numpy"] = std::move(numpy);
  }
  if (interrupted()) return std::nullopt;
  return result;
}

}  // namespace speclab
