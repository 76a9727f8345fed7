// The experiment "serving": a server under load, simulated (sim/serving).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "analysis/serving/batch_queue.hpp"
#include "core/stop.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/studies/serving/serving_study.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Throws ConfigError unless `rate` and `spread` are the mean and the standard deviation of a beta law.
RequestLaw beta_law(double rate, double spread) {
  if (!(spread * spread < rate * (1 - rate))) {
    throw ConfigError("/serving/acceptance/spread",
                      fmt::format("{}: rates from 0 to 1 with mean {} have a standard deviation below {:.4g}",
                                  spread, rate, std::sqrt(rate * (1 - rate))));
  }
  const double concentration = rate * (1 - rate) / (spread * spread) - 1;
  return {rate * concentration, (1 - rate) * concentration};
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

AcceptanceLaw acceptance_of(const Config& config) {
  const AcceptanceSection& known = config.section<ServingSection>().acceptance;
  const int said = int(known.rate.has_value()) + int(known.positions.has_value()) +
                   int(known.rounds.has_value()) + int(known.classes.has_value()) +
                   int(known.mean.has_value()) + int(known.easy.has_value());
  if (said > 1) {
    throw ConfigError(
        "/serving/acceptance",
        "give one of rate, positions, rounds, classes, mean and easy: where acceptance is known from");
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
  if (known.mean) return law_of_mean(*known.mean, known.law, static_cast<std::uint32_t>(config.gamma));
  if (known.easy) return TextLaw{{*known.easy, known.hard}, {1 / known.easy_tokens, 1 / known.hard_tokens}};
  const double rate = known.rate.value_or(config.alpha.value_or(0));
  if (known.spread > 0) return beta_law(rate, known.spread);
  return iid_law(rate);
}

/// The table of the least mean latency where the server is small and without memory; ConfigError elsewhere.
GammaByState optimal_table(const Config& config, const AcceptanceLaw& law, const StepTime& time) {
  const auto& section = config.section<ServingSection>();
  const auto refuse = [](const std::string& why) {
    throw ConfigError("/serving/policy", "\"optimal\" is solved for a small queue without memory: " + why);
  };
  constexpr std::uint32_t most_batch = 8;
  const auto* rounds = std::get_if<RoundLaw>(&law);
  if (rounds == nullptr) refuse("give acceptance as a rate or positions");
  if (!section.geometric_output || section.length_variation > 0)
    refuse("\"geometric_output\" is to be true, and \"length_variation\" 0");
  if (!section.requests_per_second || section.bursts > 1) refuse("arrivals are to be Poisson");
  if (section.engine.replicas > 1 || section.engine.max_sequences > most_batch)
    refuse(fmt::format("one engine of at most {} sequences", most_batch));
  const BatchQueue queue{.arrivals_per_ms = *section.requests_per_second / 1000,
                         .batch = section.engine.max_sequences,
                         .prompt = static_cast<std::uint32_t>(section.prompt),
                         .mean_output = section.output,
                         .max_gamma = static_cast<std::uint32_t>(config.gamma),
                         .survival = rounds->survival,
                         .time = time,
                         .most_waiting = 60};
  const QueueSolution solved = least_latency(queue);
  if (solved.turned_away > 1e-3)
    refuse(fmt::format("more than {} requests wait in {:.2g} of all cases", queue.most_waiting,
                       solved.turned_away));
  return solved.gamma;
}

StepPolicy policy_of(const Config& config, const AcceptanceLaw& law, const StepTime& time) {
  const auto gamma = static_cast<std::uint32_t>(config.gamma);
  switch (config.section<ServingSection>().policy) {
    case StepPolicyName::sglang:
      return EmaTiers::defaults();
    case StepPolicyName::gate: {
      OneWayGate gate;
      gate.gamma = gamma;
      return gate;
    }
    case StepPolicyName::goodput: {
      GoodputGamma goodput;
      goodput.most = gamma;
      goodput.time = time;
      return goodput;
    }
    case StepPolicyName::optimal:
      return GammaByStateTable{optimal_table(config, law, time)};
    case StepPolicyName::clairvoyant:
      return Clairvoyant{gamma, time};
    default:
      return FixedGamma{gamma};
  }
}

Length length_of(double mean, double variation, const char* path) {
  if (variation > 0) return LogNormalLength{mean, variation, static_cast<std::uint32_t>(32 * mean)};
  if (mean != std::floor(mean))
    throw ConfigError(path, fmt::format("{}: a fixed length is an integer", mean));
  return FixedLength{static_cast<std::uint32_t>(mean)};
}

RequestStream stream_of(const ServingSection& section) {
  if (section.requests_per_second.has_value() == section.clients.has_value()) {
    throw ConfigError("/serving", "give one of requests_per_second and clients");
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

std::vector<RunNumbers> run_all(const Config& config, const Control& control) {
  const auto& section = config.section<ServingSection>();
  const ServerOptions server = server_of(config);
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
  all.push_back(
      {"running", [](const RunNumbers& run) { return run.totals.running_ms / run.totals.busy_ms; }});
  all.push_back({"utilisation", [replicas = section.engine.replicas](const RunNumbers& run) {
                   return std::min(1.0, run.totals.busy_ms / (run.window_ms * replicas));
                 }});
  all.push_back({"put back", [requests = section.requests](const RunNumbers& run) {
                   return static_cast<double>(run.totals.preempted) / static_cast<double>(requests);
                 }});
  return all;
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
    number.simulated = over_runs(runs, confidence, value.of);
    for (const auto& [name, measured] : section.measured) {
      if (name == value.name) number.measured = measured;
    }
  }
}

Work prepare_serving(const CellSpec& cell, JobList&) {
  check_costs(cell.config);
  server_of(cell.config);
  const auto& section = cell.config.section<ServingSection>();
  stream_of(section);
  check_measured(section);
  const auto finish = [&config = cell.config](CellResult& result, const RunContext& context) {
    ServingResult own;
    try {
      describe(config, run_all(config, context.control), context.confidence, own);
    } catch (const std::invalid_argument& error) {
      throw ConfigError("/serving/engine/cache_tokens", error.what());
    }
    result.own = std::move(own);
  };
  return {.finish = finish, .own_steps = (section.requests + 2 * section.settle) * section.runs};
}

const Typed<ClassSection>& class_type() {
  using C = ClassSection;
  static const auto type = object<C>(
      "serving class", "Requests of one kind.",
      {required(field("share", &C::share, number(0, 1), "Of all requests; shares add up to 1.")),
       required(field(
           "positions", &C::positions, list(number(0, 1), 1, longest_draft),
           "Acceptance rate of each position, given that those before are accepted; the last goes on."))});
  return type;
}

const Typed<AcceptanceSection>& acceptance_type() {
  using A = AcceptanceSection;
  static const auto type = object<A>(
      "serving acceptance",
      "What is known of acceptance: one of rate, positions, rounds, classes, mean and easy; else \"alpha\" of the config.",
      {field("rate", &A::rate, number(0, 1), "Acceptance rate of every token."),
       field("spread", &A::spread, number(0, 0.5),
             "Standard deviation of the rate between requests, which is beta distributed."),
       field("positions", &A::positions, list(number(0, 1), 1, longest_draft),
             "Acceptance rate of each position, given that those before are accepted."),
       field("rounds", &A::rounds, list(count<std::uint64_t>(), 1, longest_draft + 1),
             "Counts of rounds by accepted tokens, 0 first."),
       field("classes", &A::classes, list(class_type(), 1, 100), "Requests of several kinds."),
       field("mean", &A::mean, number(0, longest_draft),
             "Accepted tokens a round with \"gamma\" drafted ones, by \"law\"."),
       field("law", &A::law,
             choice<MeanLaw>({{"constant_rate", MeanLaw::constant_rate},
                              {"least_variance", MeanLaw::least_variance},
                              {"all_or_none", MeanLaw::all_or_none}}),
             "Of \"mean\": one rate a token, two neighbouring numbers, or all of gamma or none."),
       field("easy", &A::easy, number(0, 1), "Acceptance rate in easy stretches of a text."),
       field("hard", &A::hard, number(0, 1), "The same in hard stretches."),
       field("easy_tokens", &A::easy_tokens, number(1, 1e9), "Mean length of an easy stretch."),
       field("hard_tokens", &A::hard_tokens, number(1, 1e9), "Mean length of a hard stretch.")});
  return type;
}

const Typed<LinearStep>& cost_type() {
  using C = LinearStep;
  const auto ms = number(0, 1e9);
  static const auto type = object<C>(
      "serving cost", "Milliseconds of a step, which add up.",
      {field("step", &C::step, ms, "Of a step."),
       field("sequence", &C::sequence, ms, "Of each decoding sequence."),
       field("position", &C::position, ms, "Of each verified position: gamma + 1 of each decoding sequence."),
       field("prompt_token", &C::prompt_token, ms, "Of each token of a prompt."),
       field("context_token", &C::context_token, ms, "Of each token of a cache that is read."),
       field("speculation", &C::speculation, ms, "Of a step that drafts."),
       field("idle_draft", &C::idle_draft, ms, "Of a step that could draft and does not."),
       field("draft_run", &C::draft_run, ms, "Of each of gamma draft runs."),
       field("draft_sequence", &C::draft_sequence, ms, "Of each draft run, for each decoding sequence."),
       field("draft_context_token", &C::draft_context_token, ms,
             "Of each draft run, for each token of a cache.")});
  return type;
}

const Typed<EngineSection>& engine_type() {
  using E = EngineSection;
  static const auto type = object<E>(
      "serving engine", "The engines.",
      {integer_field("replicas", &E::replicas, 1, 1024,
                     "Engines; a request goes to the one of the fewest requests."),
       field("front_ms", &E::front_ms, number(0, 1e9),
             "Milliseconds from a request's arrival to its place in a queue: network, tokenisation."),
       integer_field("max_sequences", &E::max_sequences, 1, 65536,
                     "Requests that run at a time in an engine."),
       integer_field("step_tokens", &E::step_tokens, 64, 1e9,
                     "Most tokens of a step; prompts are read in chunks."),
       integer_field("cache_tokens", &E::cache_tokens, 0, 1e15,
                     "Tokens of caches in an engine; 0: without bound."),
       field("replays", &E::replays, boolean(),
             "Accepted tokens of a partly rejected draft run again, as in models with a state."),
       field("switch_ms", &E::switch_ms, number(0, 1e9),
             "Milliseconds of a step whose gamma is another than before."),
       field("stale_loss", &E::stale_loss, number(0, 1),
             "Share of the rate that is lost when the draft has missed \"stale_window\" tokens."),
       integer_field("stale_window", &E::stale_window, 1, 1e6,
                     "Tokens without a draft until the whole loss, and with one until none is left.")});
  return type;
}

}  // namespace

const SectionKind& serving_section() {
  using S = ServingSection;
  static const SectionKind kind{
      "serving",
      object<S>(
          "serving", "The server of the experiment serving, and what asks it.",
          {field("requests_per_second", &S::requests_per_second, number_above(0, 1e9), "Poisson arrivals."),
           integer_field("clients", &S::clients, 1, 1e6,
                         "Instead: clients that each wait for an answer before they ask again."),
           field("bursts", &S::bursts, number(1, 1000),
                 "The rate in bursts over the rate between them; bursts take a fifth of the time."),
           field("burst_seconds", &S::burst_seconds, number(1e-3, 1e6), "Mean duration of a burst."),
           field("prompt", &S::prompt, number(1, 1e7), "Mean tokens of a prompt."),
           field("output", &S::output, number(1, 1e7), "Mean tokens of an output."),
           field("length_variation", &S::length_variation, number(0, 10),
                 "Standard deviation of both over their means, log-normal; 0: all alike."),
           field("geometric_output", &S::geometric_output, boolean(),
                 "Outputs of geometric length, without memory, instead."),
           field("acceptance", &S::acceptance, acceptance_type(), "Acceptance of drafted tokens."),
           field(
               "policy", &S::policy,
               choice<StepPolicyName>({{"fixed", StepPolicyName::fixed},
                                       {"sglang", StepPolicyName::sglang},
                                       {"gate", StepPolicyName::gate},
                                       {"goodput", StepPolicyName::goodput},
                                       {"optimal", StepPolicyName::optimal},
                                       {"clairvoyant", StepPolicyName::clairvoyant}}),
               "How many tokens a step drafts: \"gamma\"; SGLang's default slots; \"gamma\" until few are accepted, never again then; up to \"gamma\" by expected tokens a millisecond; of the least mean latency, where that can be solved; or by what will be accepted, which no engine knows."),
           field("cost", &S::cost, cost_type(), "How long a step takes."),
           field("engine", &S::engine, engine_type(), "The engines."),
           integer_field("requests", &S::requests, 1, 1e9, "Requests measured in a run."),
           integer_field("settle", &S::settle, 0, 1e9,
                         "Requests before and after these, which are not measured."),
           integer_field("runs", &S::runs, 2, 100000,
                         "Runs with seeds of their own; intervals are over them."),
           field("percentile", &S::percentile, number(1, 99.999), "Of latencies."),
           field("ttft_ms", &S::ttft_ms, number(0, 1e12), "Target of the time to the first token."),
           field("tpot_ms", &S::tpot_ms, number(0, 1e12), "Target of the mean time a token after it."),
           field(
               "measured", &S::measured, map(number(-1e12, 1e12)),
               "What was measured of such a server, by the names of the result: \"TTFT p95\"; stands beside what is simulated.")})
          .type};
  return kind;
}

const Experiment& serving_experiment() {
  static const Experiment experiment{
      .name = "serving",
      .sentence =
          "A server under load, simulated: latencies, throughput and acceptance of a policy of gamma.",
      .sections = {"serving"},
      .prepare = prepare_serving,
      // Of every cell.
      .intervals = [](const Config&) { return 22; },
      .own_key = "serving",
      .own_result = described<ServingResult>().type,
      .presentation = presented({.tables = serving_tables,
                                 .figures = serving_figures,
                                 .headline = serving_headline,
                                 .csv = serving_csv})};
  return experiment;
}

}  // namespace speclab
