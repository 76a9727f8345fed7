#include "serving/study/load_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/config/config.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/server/confidence.hpp"
#include "serving/study/load_choice.hpp"
#include "serving/study/load_layouts.hpp"
#include "serving/study/load_policies.hpp"
#include "sim/parallel.hpp"

namespace speclab {

SPECLAB_RESULT(LoadPoint, "load point", rate, state, numbers, over_plain);
SPECLAB_RESULT(LoadPolicy, "load policy", name, sentence, settable, capacity, highest, points);
SPECLAB_RESULT(LoadChoice, "load choice", rate, policy, not_told_apart);
SPECLAB_RESULT(LoadAdvice, "load advice", policy, from, to);
SPECLAB_RESULT(LoadLimit, "load limit", policy, capacity, running, binds, next, next_capacity);
SPECLAB_RESULT(LoadLayout, "load layout", replicas, devices, chosen, fits_reason, capacity, served, low_ms,
               high_ms);
SPECLAB_RESULT(LoadPlan, "load plan", arrivals, lengths, acceptance, costs, draft_budget, cache_tokens,
               ttft_ms, tpot_ms, percentile, confidence, requests, runs, fits, fits_reason, policies, best,
               recommended, limit, layouts, table, max_sequences, settings, warnings);

namespace {

LoadTargets targets_of(const LoadQuestion& question) {
  return {question.server.ttft_ms, question.server.tpot_ms};
}

LoadPoint point_of(std::span<const RunNumbers> runs, std::span<const RunNumbers> plain, double rate,
                   const LoadQuestion& question) {
  LoadPoint point;
  point.rate = rate;
  point.state = overloaded_state;
  if (runs.empty()) return point;
  const LoadSize size = load_size(question, rate);
  const bool few = size.after > 0 && too_short(runs, true);
  static_cast<ServingResult&>(point) =
      result_of(question.server, size, runs, few ? std::optional<std::string>(too_short_state) : std::nullopt,
                question.confidence);
  if (!plain.empty() && !few) {
    point.over_plain = difference_over_runs(runs, plain, question.confidence,
                                            [](const RunNumbers& run) { return run.latency.mean; });
  }
  return point;
}

std::string length_words(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fmt::format("{}", fixed->tokens);
  if (const auto* geometric = std::get_if<GeometricLength>(&length))
    return fmt::format("{} on average, geometric", geometric->mean);
  const auto& normal = std::get<LogNormalLength>(length);
  return fmt::format(
      "{} on average, log-normal, standard deviation {}", normal.mean,
      normal.variation == 1 ? "equal to the mean" : fmt::format("{} times the mean", normal.variation));
}

std::string acceptance_words(const LoadQuestion& question, const AcceptanceLaw& law) {
  if (!question.acceptance_words.empty()) return question.acceptance_words;
  const auto& known = question.server.acceptance;
  if (known.name() != "rate") return known.kind->sentence;
  if (const auto* const rounds = std::get_if<RoundLaw>(&law))
    return fmt::format("{:.4g} for every token", rounds->survival.front());
  const auto& [a, b] = std::get<BetaLaw>(law);
  const double mean = a / (a + b);
  return fmt::format("{:.4g} on average, standard deviation {:.4g} between requests", mean,
                     std::sqrt(mean * (1 - mean) / (a + b + 1)));
}

/// Returns where costs come from, and the batches that they were not measured at.
std::string cost_sentence(const LoadQuestion& question) {
  std::string words = question.cost_from;
  const double measured = known_costs(question.costs).max_batch;
  if (measured < question.server.engine.max_sequences)
    words += fmt::format(", up to batch {:g}; their last slope continues beyond", measured);
  if (const auto* const draft = std::get_if<ConstantCost>(&question.costs.draft); draft && draft->ms > 0)
    words += "; a draft run takes as long at every batch as at batch 1";
  return words;
}

void describe(const LoadQuestion& question, const RequestStream& stream, LoadPlan& plan) {
  const ServingSection& server = question.server;
  plan.arrivals =
      server.bursts > 1
          ? fmt::format(
                "in bursts of {:.4g} s on average, a fifth of the time at {:.4g} times the rate of the rest",
                server.burst_seconds, server.bursts)
          : "Poisson";
  plan.lengths =
      fmt::format("prompts {}; outputs {}", length_words(stream.prompt), length_words(stream.output));
  if (const Trace* trace = stream.trace.get()) {
    plan.arrivals = fmt::format("at the times of {} recorded requests, {:.4g} per second as recorded",
                                trace->size(), trace_rate(*trace));
    plan.lengths = "as recorded";
    const auto short_ones = std::ranges::count_if(*trace, [](const Request& one) { return one.output <= 1; });
    if (short_ones > 0)
      plan.lengths += fmt::format("; {} of {} have one output token or none, as failed requests do",
                                  short_ones, trace->size());
  }
  plan.acceptance = acceptance_words(question, law_of(question));
  plan.costs = cost_sentence(question);
  if (server.engine.draft_budget > 0) plan.draft_budget = server.engine.draft_budget;
  plan.ttft_ms = server.ttft_ms;
  plan.tpot_ms = server.tpot_ms;
  plan.percentile = server.percentile;
  plan.confidence = question.confidence;
  plan.runs = static_cast<int>(server.runs);
  plan.max_sequences = server.engine.max_sequences;
  if (const std::uint64_t cache = cache_of(question, mean_context(stream), true); cache > 0)
    plan.cache_tokens = cache;
}

/// The part that all runs of a plan share.
struct Simulation {
  const LoadQuestion& question;
  const RequestStream& stream;
  std::vector<ServerOptions> servers;  ///< by candidate
  const Control& control;

  std::size_t runs() const { return question.server.runs; }
  /// Simulates run `i` of a candidate at a rate. All candidates and rates share its requests and random
  /// numbers. Returns nothing if `control` ended it.
  std::optional<RunNumbers> run(std::size_t candidate, double rate, std::size_t i) const {
    const ServingRun run = serve(servers[candidate], at_rate(stream, question.server, rate),
                                 load_size(question, rate), run_seed(question.seed, i), control);
    if (run.stopped) return std::nullopt;
    return numbers_of(run, question.server.percentile, targets_of(question));
  }
};

/// Returns the highest rate at which run `i` meets the SLOs, by bisection between the simulated rates; 0 if
/// it meets them at none.
double highest_rate(const Simulation& simulation, std::size_t candidate, std::size_t i,
                    std::span<const double> rates, std::span<const std::vector<RunNumbers>> runs,
                    double capacity) {
  const double wanted = simulation.question.server.percentile / 100;
  double low = 0;
  double high = overloaded_share * capacity;
  for (std::size_t r = 0; r < rates.size() && !runs[r].empty(); ++r) {
    if (runs[r][i].kept < wanted) {
      high = rates[r];
      break;
    }
    low = rates[r];
  }
  constexpr double width = 0.005;  ///< relative width at which the bisection ends
  while (high - low > width * high) {
    const double middle = (low + high) / 2;
    if (low == 0 && middle < width * capacity) return 0;
    const auto numbers = simulation.run(candidate, middle, i);
    if (!numbers) return 0;
    (numbers->kept >= wanted ? low : high) = middle;
  }
  return low;
}

/// Sets the highest rate of every policy.
void find_highest_rates(const Simulation& simulation, std::span<const double> rates, const PolicyRuns& runs,
                        LoadPlan& plan) {
  const std::size_t count = simulation.runs();
  std::vector<std::vector<double>> found(plan.policies.size(), std::vector<double>(count));
  for_each_index(plan.policies.size() * count, [&](std::size_t i) {
    const std::size_t p = i / count;
    found[p][i % count] = highest_rate(simulation, p, i % count, rates, runs[p], plan.policies[p].capacity);
    return !simulation.control.stop();
  });
  const std::vector<double> ones(count, 1);
  for (std::size_t p = 0; p < plan.policies.size(); ++p) {
    if (std::ranges::find(found[p], 0.0) != found[p].end()) continue;
    plan.policies[p].highest = ratio_interval(found[p], ones, simulation.question.confidence);
    plan.policies[p].highest->low = std::max(plan.policies[p].highest->low, 0.0);
  }
}

/// Returns the settings that carry out an advice. Servers that cannot change gamma with the batch get the
/// best fixed one of these rates, in place of a table.
std::vector<ServerSetting> settings_of(const LoadQuestion& question, const LoadPlan& plan,
                                       const std::vector<LoadCandidate>& candidates,
                                       const LoadAdvice& advice) {
  const auto gamma_of = [&](std::size_t p) { return static_cast<int>(candidates[p].gamma); };
  const auto chosen = static_cast<std::size_t>(
      std::ranges::find(candidates, advice.policy, &LoadCandidate::name) - candidates.begin());
  const std::vector<LoadPoint>& points = plan.policies[chosen].points;
  const auto index_of = [&](double rate) {
    return static_cast<std::size_t>(std::ranges::find(points, rate, &LoadPoint::rate) - points.begin());
  };
  ServedPlan served = served_plan(question, gamma_of(chosen));
  if (candidates[chosen].policy.name() == "table") {
    served.batches = plan.table;
    std::vector<bool> fixed;
    for (const LoadCandidate& one : candidates) fixed.push_back(one.settable && one.policy.name() == "fixed");
    const auto best = best_over_rates(plan, fixed, index_of(advice.from), index_of(advice.to));
    served.gamma = best ? gamma_of(*best) : 0;
  }
  served.max_sequences = question.server.engine.max_sequences;
  served.purpose = fmt::format("{} at {}: computed for α = {}", advice.policy,
                               rate_words(advice.from, advice.to), plan.acceptance);
  const std::uint32_t replicas = question.server.engine.replicas;
  if (!served.machine.empty())
    served.purpose +=
        fmt::format(", {} × {}", replicas * static_cast<std::uint32_t>(served.devices), served.machine);
  if (replicas > 1)
    served.purpose += fmt::format(
        ". Start {} of these servers; a request goes to the one with the fewest requests", replicas);
  const auto longest = static_cast<std::uint32_t>(longest_planned_draft(served));
  double reached = 1;
  for (const double rate : position_rates(law_of(question), longest))
    served.accepted.push_back(reached *= rate);
  return server_settings(served);
}

}  // namespace

std::uint64_t load_work(const LoadQuestion& question) {
  const std::size_t steps = draft_runs(question.costs) == DraftRuns::a_token ? 1 : 0;
  const std::size_t own = has_own_policy(question) ? 1 : 0;
  const std::size_t policies = 3 + own + steps + static_cast<std::size_t>(std::min(question.max_gamma, 9));
  std::uint64_t requests = question.rates.empty() ? 10 * load_size(question, 1).all() : 0;
  for (const double rate : question.rates) requests += load_size(question, rate).all();
  // Each highest rate takes about six bisections.
  if (targets_of(question).any() && question.rates.size() != 1)
    requests += 6 * load_size(question, question.rates.empty() ? 1 : question.rates.back()).all();
  return requests * policies * question.server.runs;
}

LoadQuestion load_question(const Config& config, int max_gamma) {
  const auto& section = config.section<ServingSection>();
  const auto refuse = [](const char* path, const char* why) { throw ConfigError(path, why); };
  constexpr std::uint64_t fewest = 10;
  if (section.requests < fewest)
    throw ConfigError("/serving/requests", "{}: plan load measures {} or more", section.requests, fewest);
  if (section.clients) refuse("/serving/clients", "plan load compares rates of requests; leave it out");
  if (section.acceptance.entry().of_one_gamma)
    refuse("/serving/acceptance/kind",
           "a mean is that of one gamma, and plan load compares several; give a "
           "rate or positions");
  if (!section.cost || !section.cost->entry().of_pair)
    refuse("/serving/cost/kind",
           "plan load compares drafts by the costs of two models: give models or times");
  const auto& costs = section.cost->as<PairStepCosts>();
  if (!has_draft(costs)) refuse("/serving/cost/draft", "missing; plan load compares drafts with none");
  LoadQuestion question{planned_pair(costs, "/serving/cost", served_operation), section};
  const KnownCosts measured = known_costs(question.costs);
  if (measured.max_batch <= measured.min_batch && section.engine.max_sequences > measured.min_batch) {
    throw ConfigError(
        "/serving/cost/target_times",
        "measured at batch {:g} only, and a replica runs up to {} sequences at a time: measure larger batches, or set serving.engine.max_sequences",
        measured.min_batch, section.engine.max_sequences);
  }
  question.extras = {costs.step_ms, costs.idle_draft};
  question.alpha = config.alpha;
  question.seed = config.seed;
  question.confidence = config.confidence;
  question.max_gamma = question.max_drafted ? std::min(max_gamma, *question.max_drafted) : max_gamma;
  // Acceptance is not known beyond the given positions.
  if (const AcceptanceKind& kind = section.acceptance.entry(); kind.positions)
    question.max_gamma = std::min(question.max_gamma, static_cast<int>(kind.positions(section.acceptance)));
  if (section.requests_per_second) question.rates = {*section.requests_per_second};
  if (section.engine.draft_budget > 0 && !std::holds_alternative<RooflineCost>(question.costs.draft))
    refuse("/serving/engine/draft_budget",
           "the time of this draft does not depend on its cache; leave it out");
  return question;
}

std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control) {
  LoadPlan plan;
  const RequestStream stream = load_stream(question);
  const double context = mean_context(stream);
  describe(question, stream, plan);
  append_notes(question.costs, plan.warnings);
  static_cast<MemoryFit&>(plan) =
      memory_fit(question.costs, {1, context}, question.memory_share, question.max_gamma);
  if (plan.fits_reason) return plan;
  plan.table = batch_table(question, context);
  const std::vector<LoadCandidate> candidates = load_candidates(question, plan.table);
  Simulation simulation{question, stream, {}, control};
  for (const LoadCandidate& one : candidates) {
    simulation.servers.push_back(load_server(question, one, context));
    plan.policies.push_back({.name = one.name, .sentence = one.sentence, .settable = one.settable});
  }
  const std::vector<FullServer> full = full_servers(question, candidates, control);
  if (control.stop()) return std::nullopt;
  for (std::size_t p = 0; p < candidates.size(); ++p) plan.policies[p].capacity = full[p].capacity;
  std::vector<double> rates = question.rates;
  if (rates.empty()) rates = rates_below(std::ranges::max(plan.policies, {}, &LoadPolicy::capacity).capacity);
  plan.requests = load_size(question, rates.front()).measured;
  PolicyRuns runs(candidates.size(), std::vector<std::vector<RunNumbers>>(rates.size()));
  const std::size_t count = simulation.runs();
  for (std::size_t p = 0; p < candidates.size(); ++p) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      if (rates[r] < overloaded_share * plan.policies[p].capacity) runs[p][r].resize(count);
    }
  }
  for_each_index(candidates.size() * rates.size() * count, [&](std::size_t i) {
    if (control.stop()) return false;
    const std::size_t p = i / count / rates.size();
    const std::size_t r = i / count % rates.size();
    if (runs[p][r].empty()) return true;
    const auto numbers = simulation.run(p, rates[r], i % count);
    if (numbers) runs[p][r][i % count] = *numbers;
    return numbers.has_value();
  });
  if (control.stop()) return std::nullopt;

  for (std::size_t p = 0; p < candidates.size(); ++p) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      plan.policies[p].points.push_back(point_of(runs[p][r], runs[0][r], rates[r], question));
    }
  }
  for (const auto& [name, cost] :
       {std::pair{"target", &question.costs.target}, {"draft", &question.costs.draft}}) {
    const auto* const times = std::get_if<MeasuredCost>(cost);
    const std::string where = times == nullptr ? "" : times->flat_end();
    if (where.empty()) continue;
    plan.warnings.push_back(fmt::format(
        "The {}'s measured times do not rise {}: larger runs, such as those of prompts, count as no longer, which may be far too short. Measure more tokens and batches",
        name, where));
  }
  plan.best = best_policies(plan, runs);
  plan.recommended = recommended_policies(plan, runs);
  if (targets_of(question).any() && rates.size() > 1) {
    find_highest_rates(simulation, rates, runs, plan);
    if (control.stop()) return std::nullopt;
  }
  plan.limit = limit_of(question, plan, full, control);
  if (control.stop()) return std::nullopt;
  for (const LoadAdvice& advice : plan.recommended) {
    for (ServerSetting& one : settings_of(question, plan, candidates, advice))
      plan.settings.push_back(std::move(one));
  }
  return plan;
}

}  // namespace speclab
