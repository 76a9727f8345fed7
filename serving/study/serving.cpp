// The experiment "serving": simulates a server under load (serving/server).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "serving/study/serving_study.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// The runs of a cell, and its state (see ServingResult).
struct CellRuns {
  std::vector<RunNumbers> runs;
  std::optional<std::string> state = {};
  std::optional<double> load = {};  ///< rate of arrivals, in units of the full server's
};

CellRuns run_all(const Config& config, const ServerOptions& server, const Control& control) {
  const auto& section = config.section<ServingSection>();
  const RequestStream stream = stream_of(section);
  const LoadSize size = size_of(section);
  const LoadTargets targets{section.ttft_ms, section.tpot_ms};
  CellRuns all{std::vector<RunNumbers>(section.runs)};
  const auto run_each = [&](const auto& run_with) {
    for_each_index(all.runs.size(), [&](std::size_t i) {
      const ServingRun run = run_with(run_seed(config.seed, i));
      if (run.stopped) throw Stopped{};
      all.runs[i] = numbers_of(run, section.percentile, targets);
    });
  };
  const Control quiet{.stop = control.stop};
  const auto full = [&](std::uint64_t seed) { return serve_full(server, stream, seed, quiet); };
  const std::optional<double> rate = mean_rate(stream);
  // A server that has room for all requests is never full.
  if (rate && size.all() > std::uint64_t{server.replicas} * server.engine.max_sequences) {
    const ServingRun first = full(run_seed(config.seed, 0));
    if (first.stopped) throw Stopped{};
    all.load = *rate / requests_per_second(first);
    if (*all.load >= overloaded_share) all.state = overloaded_state;
  }
  // A run without requests after the measured ones is a benchmark: it ends when all are served.
  if (all.state && size.after > 0) {
    run_each(full);
    control.progress(size.all() * section.runs);
    return all;
  }
  run_each([&](std::uint64_t seed) { return serve(server, stream, size, seed, control); });
  if (size.after > 0 && too_short(all.runs, rate.has_value())) all.state = too_short_state;
  return all;
}

/// A number of a run, by its name. They are listed in the order of tables.
struct NamedValue {
  std::string name;
  std::function<double(const RunNumbers& run)> of;
  bool yes_or_no = false;  ///< the number is 1 or 0 in a run, so its mean is a probability
};

std::vector<NamedValue> named_values(const ServingSection& section) {
  using Run = RunNumbers;
  const std::string high = fmt::format("p{:g}", section.percentile);
  const auto per_round = [](std::uint64_t StepTotals::*sum) {
    return [sum](const Run& run) {
      return real(run.totals.*sum) / real(std::max<std::uint64_t>(1, run.totals.decoding));
    };
  };
  std::vector<NamedValue> all{{"tokens/s", &Run::tokens_per_second}};
  const std::pair<const char*, Latencies Run::*> kinds[]{
      {"latency", &Run::latency}, {"TTFT", &Run::ttft}, {"TPOT", &Run::tpot}};
  for (const auto& [kind, member] : kinds) {
    const std::pair<std::string, double Latencies::*> parts[]{{"mean", &Latencies::mean},
                                                              {"p50", &Latencies::median},
                                                              {high, &Latencies::high},
                                                              {"deviation", &Latencies::deviation}};
    for (const auto& [part, value] : parts) {
      if (part == "p50" && high == "p50") continue;
      all.push_back({fmt::format("{} {}", kind, part),
                     [member = member, value = value](const Run& run) { return run.*member.*value; }});
    }
  }
  all.push_back({"ITL mean", &Run::gap_mean});
  all.push_back({"ITL " + high, &Run::gap_high});
  if (section.ttft_ms || section.tpot_ms) all.push_back({"targets kept", &Run::kept});
  all.push_back({"accepted", per_round(&StepTotals::accepted)});
  all.push_back({"drafted", per_round(&StepTotals::drafted)});
  if (section.policy.entry().verifies_part) all.push_back({"verified", per_round(&StepTotals::verified)});
  all.push_back({"running", [](const Run& run) { return run.totals.running_ms / run.totals.busy_ms; }});
  all.push_back({"utilisation", [replicas = section.engine.replicas](const Run& run) {
                   return std::min(1.0, run.totals.busy_ms / (run.window_ms * replicas));
                 }});
  all.push_back({"without drafts", [](const Run& run) {
                   const auto& ms = run.totals.ms_by_gamma;
                   return ms[0] / std::max(std::accumulate(ms.begin(), ms.end(), 0.0), 1e-300);
                 }});
  all.push_back(
      {"stops drafting", [](const Run& run) { return run.totals.ms_by_gamma[0] > 0 ? 1 : 0; }, true});
  all.push_back({"switches", [](const Run& run) {
                   return 1000 * real(run.totals.switches) /
                          real(std::max<std::uint64_t>(1, run.totals.decoding_steps));
                 }});
  all.push_back({"put back", [](const Run& run) { return real(run.totals.preempted) / run.requests; }});
  return all;
}

/// At the start all clients send a request at once. The server is in its steady state after as many answers.
void check_size(const ServingSection& section) {
  const LoadSize size = size_of(section);
  if (!section.clients || size.after == 0 || size.before >= *section.clients) return;
  throw ConfigError(
      "/serving/settle",
      "{} requests before the measured ones; {} clients need at least as many. For a benchmark that begins with an empty server and ends when all are served, give \"settle_after\": 0",
      size.before, *section.clients);
}

void check_measured(const ServingSection& section) {
  const std::vector<NamedValue> numbers = named_values(section);
  for (const auto& [name, value] : section.measured) {
    named_entry(numbers, name, [&name = name](const std::string& near) {
      return ConfigError("/serving/measured", "unknown number \"{}\"{}", name, near);
    });
  }
}

/// Throws ConfigError if gamma is given and neither policy nor acceptance of this cell read it. If the cell
/// sets one of them, gamma may be for other cells.
void check_gamma(const CellSpec& cell) {
  const auto& section = cell.config.section<ServingSection>();
  const StepPolicyKind& policy = section.policy.entry();
  if (!policy.max_drafted || section.acceptance.entry().of_one_gamma) return;
  const auto sets = [&](const char* path) {
    return std::ranges::any_of(cell.set, [&](const auto& one) { return one.first.starts_with(path); });
  };
  const Json* input = cell.config.input.get();  // null for cells that set something
  const bool given = input != nullptr ? input->contains("gamma") : cell.config.gamma != Config().gamma;
  if (sets("/gamma") || (given && !sets("/serving/policy") && !sets("/serving/acceptance")))
    throw ConfigError("/gamma", "the policy \"{}\" chooses the drafted tokens; leave it out", policy.name);
}

/// Returns true if a number is meaningful in this state. Waits of a full server grow with the run, unless it
/// is a benchmark, which has no requests after the measured ones.
bool is_known(const std::optional<std::string>& state, const LoadSize& size, const std::string& number) {
  if (state == too_short_state) return false;
  if (state != overloaded_state || size.after == 0) return true;
  return !number.starts_with("latency") && !number.starts_with("TTFT") && number != "targets kept";
}

Work prepare_serving(const CellSpec& cell, JobList&) {
  const ServerOptions server = server_of(cell.config);
  const auto& section = cell.config.section<ServingSection>();
  stream_of(section);
  check_size(section);
  check_measured(section);
  check_gamma(cell);
  const auto finish = [&config = cell.config, server](CellResult& result, const RunContext& context) {
    try {
      const auto& own = config.section<ServingSection>();
      const CellRuns all = run_all(config, server, context.control);
      ServingResult found = result_of(own, size_of(own), all.runs, all.state, context.confidence);
      if (all.load && !all.state && few_requests_at(*all.load, size_of(own).measured))
        found.few_requests = true;
      result.own = std::move(found);
    } catch (const std::invalid_argument& error) {
      throw ConfigError("/serving/engine/cache_tokens", error.what());
    }
  };
  return {.finish = finish, .own_steps = size_of(section).all() * section.runs};
}

}  // namespace

bool too_short(std::span<const RunNumbers> runs, bool open) {
  constexpr double confidence = 0.999;
  constexpr double enough = 0.95;
  const auto nothing = [](const RunNumbers& run) { return !(run.window_ms > 0 && run.totals.busy_ms > 0); };
  if (std::ranges::any_of(runs, nothing)) return true;
  const auto share = [](const RunNumbers& run) { return real(run.totals.emitted) / run.asked; };
  return open && over_runs(runs, confidence, share).high < enough;
}

ServingResult result_of(const ServingSection& section, const LoadSize& size, std::span<const RunNumbers> runs,
                        std::optional<std::string> state, double confidence) {
  ServingResult own{.state = std::move(state)};
  for (const NamedValue& value : named_values(section)) {
    const auto holds = [&](const RunNumbers& run) { return value.of(run) > 0; };
    ServingNumber& number = own.numbers.emplace_back();
    number.name = value.name;
    const bool share =
        std::ranges::count(std::array{"targets kept", "utilisation", "without drafts"}, value.name) > 0;
    if (is_known(own.state, size, value.name)) {
      number.simulated =
          value.yes_or_no ? binomial_interval(static_cast<std::uint64_t>(std::ranges::count_if(runs, holds)),
                                              runs.size(), confidence)
                          : over_runs(runs, confidence, value.of, share ? 1 : HUGE_VAL);
    }
    for (const auto& [name, measured] : section.measured) {
      if (name == value.name) number.measured = measured;
    }
  }
  return own;
}

const Interval* simulated(const ServingResult& result, const std::string& name) {
  const ServingNumber* number = find_named(result.numbers, name);
  return number != nullptr && number->simulated ? &*number->simulated : nullptr;
}

const Experiment& serving_experiment() {
  static const Experiment experiment{
      .name = "serving",
      .sentence =
          "A server under load, simulated: latencies, throughput and acceptance of a policy of gamma.",
      .sections = {"serving"},
      .reads = {"alpha", "gamma"},
      .prepare = prepare_serving,
      // for each cell
      .intervals = [](const Config&) { return 25; },
      .own_key = "serving",
      .own_result = described<ServingResult>().type,
      .presentation = presented(serving_presentation())};
  return experiment;
}

}  // namespace speclab
