// The experiment "serving": a server under load, simulated (sim/serving).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "analysis/serving/batch_queue.hpp"
#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/recording/arrival_trace.hpp"
#include "experiments/recording/confident_rounds.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/studies/serving/serving_study.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Throws ConfigError unless `rate` and `spread` are the mean and the standard deviation of a beta law.
RequestLaw checked_beta_law(double rate, double spread) {
  if (!(spread * spread < rate * (1 - rate))) {
    throw ConfigError("/serving/acceptance/spread",
                      fmt::format("{}: rates from 0 to 1 with mean {} have a standard deviation below {:.4g}",
                                  spread, rate, std::sqrt(rate * (1 - rate))));
  }
  return beta_law(rate, spread);
}

RoundLaw law_of_mean(double mean, MeanLaw law, std::uint32_t gamma) {
  if (mean > gamma) {
    throw ConfigError("/serving/acceptance/mean",
                      fmt::format("{} accepted tokens are more than gamma, {}", mean, gamma));
  }
  switch (law) {
    case MeanLaw::least_variance:
      return least_variance_law(mean);
    case MeanLaw::all_or_none:
      return all_or_none_law(mean, gamma);
    default:
      return constant_rate_law(mean, gamma);
  }
}

RecordedRounds recorded_acceptance(const std::string& file, std::uint32_t gamma) {
  const char* path = "/serving/acceptance/recorded";
  try {
    RecordedRounds law = read_confident_rounds(file);
    const auto shortest = std::ranges::min_element(
        *law.rounds, {}, [](const RecordedRounds::Round& round) { return round.confidences.size(); });
    if (shortest->confidences.size() < gamma) {
      throw UsageError(
          fmt::format("{}: a round of {} drafted tokens; \"gamma\" is {}, and of longer drafts "
                      "nothing is known",
                      file, shortest->confidences.size(), gamma));
    }
    return law;
  } catch (const UsageError& error) {
    throw ConfigError(path, error.what());
  } catch (const ConfigError& error) {
    throw ConfigError(path, fmt::format("{}: {}", file, error.what()));
  }
}

AcceptanceLaw acceptance_of(const Config& config) {
  const AcceptanceSection& known = config.section<ServingSection>().acceptance;
  const int said = int(known.rate.has_value()) + int(known.positions.has_value()) +
                   int(known.rounds.has_value()) + int(known.classes.has_value()) +
                   int(known.mean.has_value()) + int(known.easy.has_value()) +
                   int(known.recorded.has_value());
  if (said > 1) {
    throw ConfigError(
        "/serving/acceptance",
        "give one of rate, positions, rounds, classes, mean, easy and recorded: where acceptance is known from");
  }
  if (said == 0 && !config.alpha)
    throw ConfigError("/alpha", "missing; serving needs an acceptance rate, here or in /serving/acceptance");
  if (known.positions) return position_law(*known.positions);
  if (known.rounds) {
    if (std::all_of(known.rounds->begin(), known.rounds->end(), [](auto count) { return count == 0; }))
      throw ConfigError("/serving/acceptance/rounds", "no round");
    return recorded_law(*known.rounds);
  }
  if (known.classes) {
    ClassLaw law;
    double sum = 0;
    for (const ClassSection& one : *known.classes) {
      law.classes.push_back({one.share, position_law(one.positions, true)});
      sum += one.share;
    }
    if (std::abs(sum - 1) > 1e-9)
      throw ConfigError("/serving/acceptance/classes", fmt::format("shares add up to {}, not to 1", sum));
    return law;
  }
  if (known.recorded) {
    return recorded_acceptance(*known.recorded, static_cast<std::uint32_t>(config.gamma));
  }
  if (known.mean) return law_of_mean(*known.mean, known.law, static_cast<std::uint32_t>(config.gamma));
  if (known.easy) return TextLaw{{*known.easy, known.hard}, {1 / known.easy_tokens, 1 / known.hard_tokens}};
  const double rate = known.rate.value_or(config.alpha.value_or(0));
  if (known.spread > 0) return checked_beta_law(rate, known.spread);
  return iid_law(rate);
}

/// The table of the least mean latency where the server is small and without memory; ConfigError elsewhere.
GammaByState optimal_table(const Config& config, const AcceptanceLaw& law, const StepTime& time) {
  const auto& section = config.section<ServingSection>();
  const auto refuse = [](const std::string& why) {
    throw ConfigError("/serving/policy", "\"optimal\" is solved for a small queue without memory: " + why);
  };
  constexpr std::uint32_t max_batch = 8;
  const auto* rounds = std::get_if<RoundLaw>(&law);
  if (rounds == nullptr) refuse("give acceptance as a rate or positions");
  if (!section.geometric_output || section.length_variation > 0)
    refuse("\"geometric_output\" is to be true, and \"length_variation\" 0");
  if (!section.requests_per_second || section.bursts > 1 || section.trace)
    refuse("arrivals are to be Poisson");
  if (section.engine.replicas > 1 || section.engine.max_sequences > max_batch)
    refuse(fmt::format("one engine of at most {} sequences", max_batch));
  const BatchQueue queue{.arrivals_per_ms = *section.requests_per_second / 1000,
                         .batch = section.engine.max_sequences,
                         .prompt = static_cast<std::uint32_t>(section.prompt),
                         .mean_output = section.output,
                         .max_gamma = static_cast<std::uint32_t>(config.gamma),
                         .survival = rounds->survival,
                         .time = time,
                         .max_waiting = 60};
  const QueueSolution solved = least_latency(queue);
  if (solved.turned_away > 1e-3)
    refuse(fmt::format("more than {} requests wait in {:.2g} of all cases", queue.max_waiting,
                       solved.turned_away));
  return solved.gamma;
}

/// What the draft says of its tokens; none where that is recorded with rounds.
std::optional<ConfidenceLaw> confidence_of(const Config& config, const AcceptanceLaw& law) {
  const VerificationSection& known = config.section<ServingSection>().verification;
  if (std::holds_alternative<RecordedRounds>(law)) {
    if (known.correlation || known.auc)
      throw ConfigError("/serving/verification",
                        "confidences are recorded with the rounds: leave out correlation and auc");
    return std::nullopt;
  }
  if (known.correlation.has_value() == known.auc.has_value()) {
    throw ConfigError(
        "/serving/verification",
        "give one of correlation and auc: how much the draft knows of the acceptance of its tokens");
  }
  const std::vector<double> rates = position_rates(law, static_cast<std::uint32_t>(config.gamma));
  if (known.correlation) return ConfidenceLaw(*known.correlation, rates);
  const double first = rates.empty() ? 0 : rates.front();
  if (!(first > 0 && first < 1)) {
    throw ConfigError("/serving/verification/auc",
                      fmt::format("the first drafted token is accepted at rate {}: give correlation", first));
  }
  return ConfidenceLaw(correlation_of_auc(*known.auc, first), rates);
}

StepPolicy policy_of(const Config& config, const AcceptanceLaw& law, const StepTime& time) {
  const auto gamma = static_cast<std::uint32_t>(config.gamma);
  const auto& section = config.section<ServingSection>();
  switch (section.policy) {
    case StepPolicyName::sglang:
      return EmaTiers::defaults();
    case StepPolicyName::gate: {
      OneWayGate gate;
      gate.gamma = gamma;
      gate.window = section.gate_window;
      gate.threshold = section.gate_threshold;
      return gate;
    }
    case StepPolicyName::goodput: {
      GoodputGamma goodput;
      goodput.most = gamma;
      goodput.time = time;
      return goodput;
    }
    case StepPolicyName::adaptive:
      return AdaptiveVerification{.gamma = gamma,
                                  .confidence = confidence_of(config, law),
                                  .waits = section.verification.waits,
                                  .step_ms = section.verification.step_ms,
                                  .time = time};
    case StepPolicyName::optimal:
      return GammaByStateTable{optimal_table(config, law, time)};
    case StepPolicyName::clairvoyant:
      return Clairvoyant{gamma, time};
    default:
      return FixedGamma{gamma};
  }
}

DraftDevice draft_device_of(const Config& config, const AcceptanceLaw& law) {
  const auto& section = config.section<ServingSection>();
  const DraftDeviceSection& known = *section.draft_device;
  const auto gamma = static_cast<std::uint32_t>(config.gamma);
  if (known.hit.has_value() == known.rank_shares.has_value())
    throw ConfigError("/serving/draft_device", "give one of hit and rank_shares");
  if (section.policy != StepPolicyName::fixed) {
    throw ConfigError("/serving/policy",
                      "what a draft device drafts is decided a step before: only \"fixed\" is simulated with "
                      "/serving/draft_device");
  }
  DraftDevice device{.outcomes = known.outcomes,
                     .plain_after_miss = known.plain_after_miss,
                     .target = target_time(section.cost),
                     .draft = draft_time(section.cost)};
  if (known.hit) {
    device.hit = equal_hits(*known.hit, gamma);
    return device;
  }
  const std::vector<double>& shares = *known.rank_shares;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    if (shares[i] <= shares[i - 1]) continue;
    throw ConfigError(fmt::format("/serving/draft_device/rank_shares/{}", i),
                      fmt::format("{} is above the share before it, {}: order choices by their shares",
                                  shares[i], shares[i - 1]));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum > 1 + 1e-9) {
    throw ConfigError("/serving/draft_device/rank_shares",
                      fmt::format("shares add up to {}: give shares of all rounds, 1 at most together", sum));
  }
  device.hit = likeliest_hits(law, shares, known.outcomes, gamma);
  return device;
}

Length length_of(double mean, double variation, const char* path) {
  if (variation == 0 && mean != std::floor(mean))
    throw ConfigError(path, fmt::format("{}: a fixed length is an integer", mean));
  return varied_length(mean, variation);
}

/// Of a section with a trace.
RequestStream recorded_stream(const ServingSection& section) {
  if (section.clients || section.bursts > 1)
    throw ConfigError("/serving/trace", "a trace has its own arrivals: leave out clients and bursts");
  if (section.geometric_output || section.length_variation > 0)
    throw ConfigError("/serving/trace",
                      "a trace has its own lengths: leave out geometric_output and length_variation");
  RequestStream stream;
  try {
    stream.trace = std::make_shared<const Trace>(read_trace(*section.trace));
  } catch (const UsageError& error) {
    throw ConfigError("/serving/trace", error.what());
  } catch (const ConfigError& error) {
    throw ConfigError("/serving/trace", fmt::format("{}: {}", *section.trace, error.what()));
  }
  const double recorded = trace_rate(*stream.trace);
  stream.arrivals = TraceArrivals{section.requests_per_second.value_or(recorded) / recorded};
  return stream;
}

RequestStream stream_of(const ServingSection& section) {
  if (section.trace) return recorded_stream(section);
  if (section.requests_per_second.has_value() == section.clients.has_value()) {
    throw ConfigError("/serving", "give one of requests_per_second, clients and trace");
  }
  RequestStream stream;
  stream.prompt = length_of(section.prompt, section.length_variation, "/serving/prompt");
  stream.output = length_of(section.output, section.length_variation, "/serving/output");
  if (section.geometric_output) stream.output = GeometricLength{section.output};
  if (section.clients) {
    stream.arrivals = ClosedLoop{*section.clients};
  } else {
    stream.arrivals = bursty_arrivals(*section.requests_per_second, section.bursts, section.burst_seconds);
  }
  return stream;
}

ServerOptions server_of(const Config& config) {
  const auto& section = config.section<ServingSection>();
  const EngineSection& engine = section.engine;
  ServerOptions options;
  options.replicas = engine.replicas;
  options.front_ms = engine.front_ms;
  options.acceptance = acceptance_of(config);
  options.engine.max_sequences = engine.max_sequences;
  options.engine.step_tokens = engine.step_tokens;
  options.engine.cache_blocks = engine.cache_tokens / options.engine.block_tokens;
  options.engine.replays = engine.replays;
  options.engine.switch_ms = engine.switch_ms;
  options.engine.stale = {engine.stale_loss, engine.stale_window};
  options.engine.time = step_time(section.cost);
  options.engine.draft_budget = engine.draft_budget;
  if (section.draft_device) options.engine.draft_device = draft_device_of(config, options.acceptance);
  options.policy = policy_of(config, options.acceptance, options.engine.time);
  return options;
}

void check_costs(const Config& config) {
  if (config.gamma > static_cast<int>(longest_draft))
    throw ConfigError("/gamma", fmt::format("{}: serving drafts at most {}", config.gamma, longest_draft));
  StepWork one;
  one.decoding = one.verified = 1;
  const auto& section = config.section<ServingSection>();
  if (!(step_time(section.cost)(one) > 0)) {
    throw ConfigError("/serving/cost",
                      "a step of one sequence takes no time: give \"step\", \"sequence\" or \"position\"");
  }
}

std::vector<RunNumbers> run_all(const Config& config, const ServerOptions& server, const Control& control) {
  const auto& section = config.section<ServingSection>();
  const RequestStream stream = stream_of(section);
  const LoadTargets targets{section.ttft_ms, section.tpot_ms};
  std::vector<RunNumbers> runs(section.runs);
  for_each_index(runs.size(), [&](std::size_t i) {
    const ServingRun run =
        serve(server, stream, {section.requests, section.settle, section.settle}, config.seed + i, control);
    if (run.stopped) return false;
    runs[i] = numbers_of(run, section.percentile, targets);
    return true;
  });
  if (control.stop()) throw Stopped{};
  return runs;
}

/// Every number of a run by its name, in the order of tables.
struct NamedValue {
  std::string name;
  std::function<double(const RunNumbers& run)> of;
  bool yes_or_no = false;  ///< 1 or 0 of a run: its mean is a probability
};

std::vector<NamedValue> numbers_of(const ServingSection& section) {
  const std::string high = fmt::format("p{:g}", section.percentile);
  const auto per_round = [](std::uint64_t StepTotals::*sum) {
    return [sum](const RunNumbers& run) {
      return static_cast<double>(run.totals.*sum) /
             static_cast<double>(std::max<std::uint64_t>(1, run.totals.decoding));
    };
  };
  std::vector<NamedValue> all{{"tokens/s", [](const RunNumbers& run) { return run.tokens_per_second(); }}};
  const std::pair<const char*, Latencies RunNumbers::*> kinds[]{
      {"latency", &RunNumbers::latency}, {"TTFT", &RunNumbers::ttft}, {"TPOT", &RunNumbers::tpot}};
  for (const auto& [kind, member] : kinds) {
    const std::pair<std::string, double Latencies::*> parts[]{{"mean", &Latencies::mean},
                                                              {"p50", &Latencies::median},
                                                              {high, &Latencies::high},
                                                              {"deviation", &Latencies::deviation}};
    for (const auto& [part, value] : parts) {
      if (part == "p50" && high == "p50") continue;
      all.push_back({fmt::format("{} {}", kind, part),
                     [member = member, value = value](const RunNumbers& run) { return run.*member.*value; }});
    }
  }
  all.push_back({"ITL mean", [](const RunNumbers& run) { return run.gap_mean; }});
  all.push_back({"ITL " + high, [](const RunNumbers& run) { return run.gap_high; }});
  if (section.ttft_ms || section.tpot_ms)
    all.push_back({"targets kept", [](const RunNumbers& run) { return run.kept; }});
  all.push_back({"accepted", per_round(&StepTotals::accepted)});
  all.push_back({"drafted", per_round(&StepTotals::drafted)});
  if (section.policy == StepPolicyName::adaptive)
    all.push_back({"verified", per_round(&StepTotals::verified)});
  if (section.draft_device) all.push_back({"prepared", per_round(&StepTotals::prepared)});
  all.push_back(
      {"running", [](const RunNumbers& run) { return run.totals.running_ms / run.totals.busy_ms; }});
  all.push_back({"utilisation", [replicas = section.engine.replicas](const RunNumbers& run) {
                   return std::min(1.0, run.totals.busy_ms / (run.window_ms * replicas));
                 }});
  all.push_back({"without drafts", [](const RunNumbers& run) {
                   const auto& ms = run.totals.ms_by_gamma;
                   return ms[0] / std::max(std::accumulate(ms.begin(), ms.end(), 0.0), 1e-300);
                 }});
  all.push_back(
      {"stops drafting", [](const RunNumbers& run) { return run.totals.ms_by_gamma[0] > 0 ? 1 : 0; }, true});
  all.push_back({"switches", [](const RunNumbers& run) {
                   return 1000 * static_cast<double>(run.totals.switches) /
                          static_cast<double>(std::max<std::uint64_t>(1, run.totals.decoding_steps));
                 }});
  all.push_back({"put back", [requests = section.requests](const RunNumbers& run) {
                   return static_cast<double>(run.totals.preempted) / static_cast<double>(requests);
                 }});
  return all;
}

Interval share_of_runs(const std::vector<RunNumbers>& runs, double confidence,
                       const std::function<double(const RunNumbers& run)>& holds) {
  const auto count =
      std::count_if(runs.begin(), runs.end(), [&](const RunNumbers& run) { return holds(run) > 0; });
  return *binomial_interval(static_cast<std::uint64_t>(count), runs.size(), confidence);
}

void check_measured(const ServingSection& section) {
  std::vector<std::string> names;
  for (const NamedValue& value : numbers_of(section)) names.push_back(value.name);
  for (const auto& [name, value] : section.measured) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw ConfigError("/serving/measured",
                      fmt::format("unknown number \"{}\"{}", name, suggestion(name, names)));
  }
}

void describe(const Config& config, const std::vector<RunNumbers>& runs, double confidence,
              ServingResult& own) {
  const auto& section = config.section<ServingSection>();
  for (const NamedValue& value : numbers_of(section)) {
    ServingNumber& number = own.numbers.emplace_back();
    number.name = value.name;
    number.simulated =
        value.yes_or_no ? share_of_runs(runs, confidence, value.of) : over_runs(runs, confidence, value.of);
    for (const auto& [name, measured] : section.measured) {
      if (name == value.name) number.measured = measured;
    }
  }
}

Work prepare_serving(const CellSpec& cell, JobList&) {
  check_costs(cell.config);
  const ServerOptions server = server_of(cell.config);
  const auto& section = cell.config.section<ServingSection>();
  stream_of(section);
  check_measured(section);
  const auto finish = [&config = cell.config, server](CellResult& result, const RunContext& context) {
    ServingResult own;
    try {
      describe(config, run_all(config, server, context.control), context.confidence, own);
    } catch (const std::invalid_argument& error) {
      throw ConfigError("/serving/engine/cache_tokens", error.what());
    }
    result.own = std::move(own);
  };
  return {.finish = finish, .own_steps = (section.requests + 2 * section.settle) * section.runs};
}

}  // namespace

const Experiment& serving_experiment() {
  static const Experiment experiment{
      .name = "serving",
      .sentence =
          "A server under load, simulated: latencies, throughput and acceptance of a policy of gamma.",
      .sections = {"serving"},
      .prepare = prepare_serving,
      // Of every cell.
      .intervals = [](const Config&) { return 25; },
      .own_key = "serving",
      .own_result = described<ServingResult>().type,
      .presentation = presented({.tables = serving_tables,
                                 .figures = serving_figures,
                                 .headline = serving_headline,
                                 .csv = serving_csv})};
  return experiment;
}

}  // namespace speclab
