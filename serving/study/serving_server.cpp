// What a config says of a server: its requests, its engine, acceptance, policy and costs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "serving/queues/batch_queue.hpp"
#include "serving/study/serving_study.hpp"
#include "serving/traces/arrival_trace.hpp"
#include "serving/traces/confident_rounds.hpp"

namespace speclab {

namespace {

/// Throws ConfigError unless `rate` and `spread` are the mean and the standard deviation of a beta law.
RequestLaw checked_beta_law(double rate, double spread) {
  if (!(spread * spread < rate * (1 - rate))) {
    throw ConfigError("/serving/acceptance/spread",
                      "{}: rates from 0 to 1 with mean {} have a standard deviation below {:.4g}", spread,
                      rate, std::sqrt(rate * (1 - rate)));
  }
  return beta_law(rate, spread);
}

RoundLaw law_of_mean(double mean, MeanLaw law, std::uint32_t gamma) {
  if (mean > gamma) {
    throw ConfigError("/serving/acceptance/mean", "{} accepted tokens are more than gamma, {}", mean, gamma);
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

/// The longest draft of the policy.
std::uint32_t most_drafted(const Config& config) {
  const auto& section = config.section<ServingSection>();
  auto most = static_cast<std::uint32_t>(config.gamma);
  if (section.policy == StepPolicyName::table) {
    most = 0;
    for (const GammaTable::Row& row : section.table) most = std::max(most, row.gamma);
  } else if (section.policy == StepPolicyName::sglang) {
    for (const EmaTiers::Slot& slot : EmaTiers::defaults().slots)
      most = std::max(most, slot.candidates.back());
  }
  return most;
}

/// What `read` makes of a file that the config names at `path`; its errors are the config's.
template <class Read>
auto read_at(const char* path, const std::string& file, const Read& read) {
  try {
    return read(file);
  } catch (const UsageError& error) {
    throw ConfigError(path, error.what());
  } catch (const ConfigError& error) {
    throw ConfigError(path, "{}: {}", file, error.what());
  }
}

RecordedRounds recorded_acceptance(const std::string& file, std::uint32_t gamma) {
  const char* path = "/serving/acceptance/recorded";
  RecordedRounds law = read_at(path, file, read_confident_rounds);
  const auto shortest = std::ranges::min_element(
      *law.rounds, {}, [](const RecordedRounds::Round& round) { return round.confidences.size(); });
  if (shortest->confidences.size() < gamma) {
    throw ConfigError(path,
                      "{}: a round of {} drafted tokens; the policy drafts up to {}, and of longer drafts "
                      "nothing is known",
                      file, shortest->confidences.size(), gamma);
  }
  return law;
}

AcceptanceLaw acceptance_of(const Config& config) {
  const AcceptanceSection& known = config.section<ServingSection>().acceptance;
  const bool given[]{known.rate.has_value(),    known.positions.has_value(), known.rounds.has_value(),
                     known.classes.has_value(), known.mean.has_value(),      known.easy.has_value(),
                     known.recorded.has_value()};
  const auto said = std::ranges::count(given, true);
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
      throw ConfigError("/serving/acceptance/classes", "shares add up to {}, not to 1", sum);
    return law;
  }
  if (known.recorded) return recorded_acceptance(*known.recorded, most_drafted(config));
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

struct StepTimes {
  StepTime step;
  StepTime target;  ///< of a step without its drafts, for a draft device
  StepTime draft;
};

StepTimes times_of(const Config& config) {
  const auto& section = config.section<ServingSection>();
  if (!section.models) return {step_time(section.cost), target_time(section.cost), draft_time(section.cost)};
  const CostPair costs = costs_of(*section.models, config.gamma);
  const StepExtras extras{section.models->step_ms, section.models->idle_draft};
  return {step_time(costs, extras), target_time(costs, extras), draft_time(costs)};
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
                      "the first drafted token is accepted at rate {}: give correlation", first);
  }
  return ConfidenceLaw(correlation_of_auc(*known.auc, first), rates);
}

StepPolicy policy_of(const Config& config, const AcceptanceLaw& law, const StepTime& time) {
  const auto gamma = static_cast<std::uint32_t>(config.gamma);
  const auto& section = config.section<ServingSection>();
  switch (section.policy) {
    case StepPolicyName::table:
      if (section.table.empty())
        throw ConfigError("/serving/table", "no row; the policy \"table\" needs some");
      return GammaTable{section.table};
    case StepPolicyName::sglang:
      return EmaTiers::defaults();
    case StepPolicyName::gate:
      return OneWayGate{.gamma = gamma, .window = section.gate_window, .threshold = section.gate_threshold};
    case StepPolicyName::goodput:
      return GoodputGamma{.most = gamma, .time = time};
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

DraftDevice draft_device_of(const Config& config, const AcceptanceLaw& law, const StepTimes& times) {
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
                     .target = times.target,
                     .draft = times.draft};
  if (known.hit) {
    device.hit = equal_hits(*known.hit, gamma);
    return device;
  }
  if (const auto problem = rank_share_problem(*known.rank_shares)) {
    const std::string path = "/serving/draft_device/rank_shares";
    throw ConfigError(problem->rank ? fmt::format("{}/{}", path, *problem->rank) : path, problem->why);
  }
  device.hit = likeliest_hits(law, *known.rank_shares, known.outcomes, gamma);
  return device;
}

Length length_of(double mean, double variation, const char* path) {
  if (variation == 0 && mean != std::floor(mean))
    throw ConfigError(path, "{}: a fixed length is an integer", mean);
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
  stream.trace = std::make_shared<const Trace>(read_at("/serving/trace", *section.trace, read_trace));
  const double recorded = trace_rate(*stream.trace);
  stream.arrivals = TraceArrivals{section.requests_per_second.value_or(recorded) / recorded};
  return stream;
}

}  // namespace

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
  ServerOptions options{.engine = {},
                        .replicas = engine.replicas,
                        .front_ms = engine.front_ms,
                        .acceptance = acceptance_of(config)};
  const StepTimes times = times_of(config);
  options.engine = engine;
  options.engine.cache_blocks = engine.cache_tokens / engine.block_tokens;
  if (engine.cache_tokens > 0 && options.engine.cache_blocks == 0) {
    throw ConfigError("/serving/engine/cache_tokens",
                      "{} tokens are less than a block, which has {}; 0 is without bound",
                      engine.cache_tokens, engine.block_tokens);
  }
  options.engine.stale = {engine.stale_loss, engine.stale_window};
  options.engine.time = times.step;
  if (section.draft_device) options.engine.draft_device = draft_device_of(config, options.acceptance, times);
  options.policy = policy_of(config, options.acceptance, times.step);
  return options;
}

LoadSize size_of(const ServingSection& section) {
  return {section.requests, section.settle, section.settle_after.value_or(section.settle)};
}

void check_costs(const Config& config) {
  if (config.gamma > static_cast<int>(longest_draft))
    throw ConfigError("/gamma", "{}: serving drafts at most {}", config.gamma, longest_draft);
  StepWork one;
  one.decoding = one.verified = 1;
  const auto& section = config.section<ServingSection>();
  const std::vector<TokenPoint>& curve = section.cost.by_tokens;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    if (curve[i].tokens > curve[i - 1].tokens) continue;
    throw ConfigError(fmt::format("/serving/cost/by_tokens/{}/tokens", i),
                      "{} is not above {}, the one before", curve[i].tokens, curve[i - 1].tokens);
  }
  const bool costs = step_time(section.cost)(one) > 0;
  if (costs && section.models) throw ConfigError("/serving", "give one of cost and models");
  if (!costs && !section.models) {
    throw ConfigError("/serving/cost",
                      "a step of one sequence takes no time: give \"step\", \"sequence\" or \"position\"");
  }
}

}  // namespace speclab
