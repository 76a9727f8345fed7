#include "speclab/experiments/bench/sim_suite.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "speclab/experiments/bench/interleaved_runs.hpp"
#include "speclab/experiments/bench/limit_jobs.hpp"
#include "speclab/experiments/bench/numpy_reference.hpp"
#include "speclab/experiments/format/config_error.hpp"
#include "speclab/experiments/output.hpp"
#include "speclab/experiments/support/interrupt.hpp"
#include "speclab/experiments/support/progress.hpp"
#include "speclab/experiments/version.hpp"

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
  pair.quick = std::make_unique<const QuickPair>(pair.target, pair.draft, AnyRule(TokenRule{}));
  pair.costs.preparing_seconds = thread_seconds() - start;
  return pair;
}

Json preparation_json(const std::string& name, const ModelPair& pair) {
  const PairCosts& costs = pair.costs;
  Json row{{"name", name},
           {"text_bytes", costs.text_bytes},
           {"tokens", costs.tokens},
           {"corpus_seconds", costs.corpus_seconds},
           {"training_seconds", costs.training_seconds},
           {"preparing_seconds", costs.preparing_seconds},
           {"contexts", pair.quick->contexts()},
           {"table_bytes", pair.quick->bytes()}};
  if (costs.text_bytes > 0) {
    row["text_bytes_per_second"] =
        static_cast<double>(costs.text_bytes) / (costs.corpus_seconds + costs.training_seconds);
  }
  return row;
}

/// A workload on its way: what it did is the same in each repetition.
struct Measured {
  BenchWorkload workload;
  const ModelPair* pair;
  Tally tally;
  QuickWork work;
};

Json workload_json(const Measured& measured, const Timing& timing) {
  const BenchWorkload& workload = measured.workload;
  const auto tokens = static_cast<double>(measured.tally.emitted);
  const auto rounds = static_cast<double>(measured.tally.rounds);
  const bool parallel = workload.threads > 1;
  const auto& times = parallel ? timing.wall_seconds : timing.processor_seconds;
  const double seconds = median(times);
  Json row{{"name", workload.name},
           {"threads", workload.threads},
           {"clock", parallel ? "wall" : "processor"},
           {"seconds", times},
           {"wall_seconds", timing.wall_seconds},
           {"spread", spread(times)},
           {"tokens", measured.tally.emitted},
           {"rounds", measured.tally.rounds},
           {"tokens_per_second", tokens / seconds},
           {"rounds_per_second", rounds / seconds},
           {"ns_per_token", 1e9 * seconds / tokens}};
  if (!parallel && !timing.cache_misses.empty()) {
    row["cache_misses_per_token"] = median(timing.cache_misses) / tokens;
  }
  if (workload.engine == Engine::plain) return row;
  row["random_numbers_per_token"] = 2 * static_cast<double>(measured.work.blocks) / tokens;
  row["reads_per_token"] = static_cast<double>(measured.work.reads) / tokens;
  row["passes_per_token"] = static_cast<double>(measured.work.passes) / tokens;
  if (measured.pair == nullptr) return row;
  const QuickPair& quick = *measured.pair->quick;
  row["lanes"] = workload.lanes;
  row["table_bytes"] = quick.bytes();
  row["contexts"] = quick.contexts();
  row["bytes_per_context"] = static_cast<double>(quick.bytes()) / static_cast<double>(quick.contexts());
  return row;
}

/// What the limits give for a row of one thread. `in_flight_ns` belongs to tables of this row's size.
void add_bound(Json& row, double block_ns, double in_flight_ns) {
  const double random_ns = row.at("random_numbers_per_token").get<double>() / 2 * block_ns;
  const double reads_ns = row.at("reads_per_token").get<double>() * in_flight_ns;
  const double sum_ns = random_ns + reads_ns;
  const double larger_ns = std::max(random_ns, reads_ns);
  const auto ns = row.at("ns_per_token").get<double>();
  row["bound"] = {{"random_ns_per_token", random_ns}, {"reads_ns_per_token", reads_ns},
                  {"sum_ns_per_token", sum_ns},       {"larger_ns_per_token", larger_ns},
                  {"ratio_to_sum", ns / sum_ns},      {"ratio_to_larger", ns / larger_ns}};
}

double rate_of(const Json& rows, const std::string& name) {
  for (const Json& row : rows) {
    if (row.at("name") == name) return row.at("tokens_per_second").get<double>();
  }
  return std::nan("");
}

/// A row that is another with something changed ("PAIR: 1 lane") against that other.
Json comparisons(const Json& rows) {
  Json all = Json::array();
  for (const Json& row : rows) {
    const auto name = row.at("name").get<std::string>();
    const std::size_t colon = name.find(": ");
    if (colon == std::string::npos) continue;
    const std::string pair = name.substr(0, colon);
    double base = rate_of(rows, pair);
    if (std::isnan(base)) continue;
    const auto rate = row.at("tokens_per_second").get<double>();
    if (row.at("threads").get<int>() > 1) {
      // By the wall clock on both sides: processor time does not shrink with threads.
      for (const Json& one : rows) {
        if (one.at("name") == pair) {
          base = one.at("tokens").get<double>() / median(one.at("wall_seconds").get<std::vector<double>>());
        }
      }
      all.push_back({{"name", name + " over 1, wall clock"}, {"ratio", rate / base}});
    } else {
      all.push_back({{"name", fmt::format("{}: quick engine over {}", pair, name.substr(colon + 2))},
                     {"ratio", base / rate}});
    }
  }
  return all;
}

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
  const Tally probe = pair.quick->decode(bench_gamma, bench_plan(1U << 14U), control).total();
  const double per_round = static_cast<double>(probe.emitted) / static_cast<double>(probe.rounds);

  Json rows = Json::array();
  std::vector<Job> jobs;
  std::vector<double> tokens;
  double goal = static_cast<double>(options.size.least_tokens);
  for (int at = 0; at < options.size.lengths + (options.longer ? 2 : 0); ++at, goal *= 10) {
    const Plan plan = bench_plan(static_cast<std::uint64_t>(goal / per_round));
    const double start = thread_seconds();
    const Tally tally = pair.quick->decode(bench_gamma, plan, control).total();
    const double seconds = thread_seconds() - start;
    rows.push_back({{"name", fmt::format("{}: {:.0e} tokens", stored_shape().name, goal)},
                    {"tokens", tally.emitted},
                    {"peak_bytes", peak_bytes()},
                    {"ns_per_token", 1e9 * seconds / static_cast<double>(tally.emitted)},
                    {"repetitions", 1}});
    if (at >= options.size.lengths) continue;  // minutes long: once is enough
    tokens.push_back(static_cast<double>(tally.emitted));
    jobs.push_back(
        {"", [&pair, plan, control] { static_cast<void>(pair.quick->decode(bench_gamma, plan, control)); }});
  }
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions, [] {});
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    rows[at]["ns_per_token"] = 1e9 * median(timings[at].processor_seconds) / tokens[at];
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
  const bool with_lengths = chosen(stored_shape().name + ": tokens");
  const bool with_numpy = chosen("NumPy: " + numpy_shape.name);
  std::vector<BenchWorkload> todo;
  std::vector<std::string> names{"NumPy"};
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
  for (const auto& [name, pair] : pairs) sizes.push_back(pair.quick->bytes());
  LimitJobs limits(sizes, options.quick);
  std::vector<Job> jobs = limits.jobs();
  const std::size_t first_workload = jobs.size();
  for (Measured& one : measured) {
    jobs.push_back({one.workload.name, [&one] {
                      const Outcome outcome = decode(one.workload, one.pair);
                      one.tally = outcome.total();
                      one.work = outcome.work;
                    }});
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
    if (measured[at].workload.engine != Engine::plain && measured[at].workload.threads == 1) {
      add_bound(row, limits.block_ns(of_limits),
                measured[at].pair != nullptr
                    ? limits.in_flight_ns(of_limits, measured[at].pair->quick->bytes())
                    : 0);
    }
    result["workloads"].push_back(std::move(row));
  }
  result["comparisons"] = comparisons(result.at("workloads"));
  result["numpy"] = Json();
  if (with_numpy) {
    Json numpy = run_numpy_reference(numpy_shape, pairs.at(numpy_shape.name), options.size.numpy_rounds);
    const double quick = rate_of(result.at("workloads"), numpy_shape.name);
    if (numpy.contains("tokens_per_second") && !std::isnan(quick)) {
      numpy["quick_over_numpy"] = quick / numpy.at("tokens_per_second").get<double>();
    }
    result["numpy"] = std::move(numpy);
  }
  if (interrupted()) return std::nullopt;
  return result;
}

}  // namespace speclab
