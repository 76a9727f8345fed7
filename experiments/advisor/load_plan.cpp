#include "experiments/advisor/load_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/cost/device_speed.hpp"
#include "experiments/advisor/memory_fit.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/run/result.hpp"
#include "sim/parallel.hpp"

namespace speclab {

SPECLAB_RESULT(LoadPoint, "load point", rate, overloaded, latency_mean, latency, ttft, tpot, gap, kept,
               over_plain, batch, gamma, accepted, utilisation, preempted);
SPECLAB_RESULT(LoadPolicy, "load policy", name, sentence, engine, capacity, points);
SPECLAB_RESULT(LoadChoice, "load choice", rate, policy, not_told_apart);
SPECLAB_RESULT(LoadPlan, "load plan", arrivals, lengths, acceptance, costs, cache_tokens, ttft_ms, tpot_ms,
               percentile, confidence, requests, runs, fits, fits_reason, policies, best, off_from, on_until,
               keeps_targets_until, table, settings, warnings);

namespace {

constexpr double ms_of_a_second = 1e3;
constexpr double saturated = 0.98;  ///< of the capacity, from which on a rate is not simulated

/// A policy with what an engine needs for it.
struct Candidate {
  std::string name;
  std::string sentence;
  StepPolicy policy;
  bool drafts = true;  ///< false: no draft model is loaded
  bool engine = true;
  bool fixed = false;  ///< one gamma above 0
};

AcceptanceLaw acceptance_of(const LoadQuestion& question) {
  if (question.alpha_spread == 0) return iid_law(question.alpha);
  return beta_law(question.alpha, question.alpha_spread);
}

double mean_of(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* geometric = std::get_if<GeometricLength>(&length)) return geometric->mean;
  return std::get<LogNormalLength>(length).mean;
}

/// Mean tokens of a request's cache: its prompt and half of its output.
double mean_context(const RequestStream& stream) {
  if (stream.trace) {
    double sum = 0;
    for (const Request& request : *stream.trace) sum += request.prompt + request.output / 2.0;
    return sum / static_cast<double>(stream.trace->size());
  }
  return mean_of(stream.prompt) + mean_of(stream.output) / 2;
}

/// Tokens of caches that a replica holds; 0 without bound.
std::uint64_t cache_of(const LoadQuestion& question, bool drafts) {
  if (question.cache_tokens != 0) return question.cache_tokens;
  CostPair costs = question.costs;
  if (!drafts) costs.draft = ConstantCost{0};
  const double context = mean_context(question.stream);
  const auto memory = device_memory(costs, {1, context}, question.memory_share);
  if (!memory || !memory->largest_batch) return 0;
  return static_cast<std::uint64_t>(std::max(0.0, *memory->largest_batch) * context);
}

ServerOptions server_of(const LoadQuestion& question, const Candidate& candidate) {
  ServerOptions server;
  server.replicas = question.replicas;
  server.policy = candidate.policy;
  server.acceptance = acceptance_of(question);
  EngineOptions& engine = server.engine;
  engine.max_sequences = question.max_sequences;
  engine.step_tokens = question.step_tokens;
  engine.cache_blocks = cache_of(question, candidate.drafts) / engine.block_tokens;
  CostPair costs = question.costs;
  StepExtras extras = question.extras;
  if (!candidate.drafts) costs.draft = ConstantCost{0};
  if (!candidate.drafts || !candidate.engine) extras.draft_follows = false;
  engine.time = step_time(costs, extras);
  return server;
}

/// gamma by batch, as `plan` has it: the best at each batch for the mean context.
std::vector<BatchRange> batch_table(const LoadQuestion& question) {
  return gamma_by_batch(iid_tokens(question.alpha, question.max_gamma), question.costs,
                        mean_context(question.stream), static_cast<int>(question.max_sequences));
}

std::vector<Candidate> candidates_of(const LoadQuestion& question, const std::vector<BatchRange>& table) {
  std::vector<Candidate> candidates;
  candidates.push_back({"plain", "no draft model", FixedGamma{0}, false});
  for (const int gamma : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
    if (gamma > question.max_gamma) break;
    candidates.push_back({fmt::format("γ = {}", gamma), "at every batch",
                          FixedGamma{static_cast<std::uint32_t>(gamma)}, true, true, true});
  }
  GammaTable by_batch;
  for (const BatchRange& range : table) {
    by_batch.rows.push_back(
        {static_cast<std::uint32_t>(range.last), 0, static_cast<std::uint32_t>(range.gamma)});
  }
  const StepTime time = step_time(question.costs, question.extras);
  const auto most = static_cast<std::uint32_t>(question.max_gamma);
  candidates.push_back(
      {"table by batch", "the γ of each batch below, with a draft run where it is 0", by_batch});
  candidates.push_back(
      {"SGLang's steps", "its default slots by batch, moved by what is accepted", EmaTiers::defaults()});
  candidates.push_back({"goodput", "the γ of the most expected tokens a millisecond, α as it is seen",
                        GoodputGamma{.most = most, .time = time}});
  candidates.push_back(
      {"clairvoyant",
       "knows what each request will accept, and drafts for the fastest next step; no engine can",
       Clairvoyant{most, step_time(question.costs, {question.extras.step_ms, false})}, true, false});
  return candidates;
}

Arrivals arrivals_at(const LoadQuestion& question, double rate) {
  if (question.stream.trace) return TraceArrivals{rate / trace_rate(*question.stream.trace)};
  return bursty_arrivals(rate, question.burst_factor, question.burst_seconds);
}

LoadSize size_at(const LoadQuestion& question, double rate) {
  constexpr std::uint64_t usual = 1000;
  constexpr double turns = 10;
  std::uint64_t measured = question.requests.value_or(usual);
  // A phase between bursts lasts four times as long.
  if (!question.requests && question.burst_factor > 1)
    measured = std::max(measured, static_cast<std::uint64_t>(turns * 5 * question.burst_seconds * rate));
  return {measured, measured / 5, measured / 10};
}

double mean_latency(const RunNumbers& run) { return run.latency.mean; }

LoadPoint point_of(std::span<const RunNumbers> runs, std::span<const RunNumbers> plain, double rate,
                   const LoadQuestion& question) {
  LoadPoint point{.rate = rate};
  const auto interval = [&](const auto& value) { return over_runs(runs, question.confidence, value); };
  point.latency_mean = interval([](const RunNumbers& run) { return run.latency.mean; });
  point.latency = interval([](const RunNumbers& run) { return run.latency.high; });
  point.ttft = interval([](const RunNumbers& run) { return run.ttft.high; });
  point.tpot = interval([](const RunNumbers& run) { return run.tpot.high; });
  point.gap = interval([](const RunNumbers& run) { return run.gap_high; });
  if (question.targets.any()) point.kept = interval([](const RunNumbers& run) { return run.kept; });
  if (!plain.empty()) point.over_plain = difference_over_runs(runs, plain, question.confidence, mean_latency);
  StepTotals sum;
  double window = 0;
  for (const RunNumbers& run : runs) {
    sum += run.totals;
    window += run.window_ms;
  }
  const auto rounds = static_cast<double>(std::max<std::uint64_t>(1, sum.decoding));
  point.batch = sum.running_ms / sum.busy_ms;
  point.gamma = static_cast<double>(sum.drafted) / rounds;
  point.accepted = static_cast<double>(sum.accepted) / rounds;
  point.utilisation = std::min(1.0, sum.busy_ms / (window * question.replicas));
  point.preempted = static_cast<double>(sum.preempted) /
                    static_cast<double>(size_at(question, rate).measured * runs.size());
  return point;
}

/// Requests a second of a server that always has as many waiting as run.
double capacity_of(const LoadQuestion& question, const ServerOptions& server, const Control& control) {
  RequestStream stream = question.stream;
  const std::uint32_t clients = 2 * question.max_sequences * question.replicas;
  stream.arrivals = ClosedLoop{clients};
  const std::uint64_t settled = 2 * std::uint64_t{clients};
  const ServingRun run = serve(server, stream, {2 * settled, settled, settled}, question.seed, control);
  if (run.stopped) return 0;
  return 2 * static_cast<double>(settled) / run.window_ms * ms_of_a_second;
}

std::string length_words(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fmt::format("{}", fixed->tokens);
  if (const auto* geometric = std::get_if<GeometricLength>(&length))
    return fmt::format("{} on average, geometric", geometric->mean);
  const auto& normal = std::get<LogNormalLength>(length);
  return fmt::format("{} on average, log-normal, standard deviation {} of the mean", normal.mean,
                     normal.variation);
}

void describe(const LoadQuestion& question, LoadPlan& plan) {
  const bool bursts = question.burst_factor > 1;
  plan.arrivals =
      bursts
          ? fmt::format(
                "in bursts of {:.4g} s on average, a fifth of the time at {:.4g} times the rate of the rest",
                question.burst_seconds, question.burst_factor)
          : "Poisson";
  plan.lengths = fmt::format("prompts {}; outputs {}", length_words(question.stream.prompt),
                             length_words(question.stream.output));
  if (const Trace* trace = question.stream.trace.get()) {
    plan.arrivals = fmt::format("at the times of {} recorded requests, {:.4g} a second as recorded",
                                trace->size(), trace_rate(*trace));
    plan.lengths = "as recorded";
  }
  plan.acceptance = question.alpha_spread > 0
                        ? fmt::format("{:.4g} on average, standard deviation {:.4g} between requests",
                                      question.alpha, question.alpha_spread)
                        : fmt::format("{:.4g} for every token", question.alpha);
  plan.costs = question.cost_from;
  plan.ttft_ms = question.targets.ttft_ms;
  plan.tpot_ms = question.targets.tpot_ms;
  plan.percentile = question.percentile;
  plan.confidence = question.confidence;
  plan.runs = question.runs;
  if (const std::uint64_t cache = cache_of(question, true); cache > 0) plan.cache_tokens = cache;
}

/// Compared by the targets where there are some, else by mean latency: less is better.
double badness(const LoadPoint& point) {
  if (point.kept) return -point.kept->estimate;
  return point.latency_mean->estimate;
}

void choose(LoadPlan& plan, const std::vector<Candidate>& candidates,
            const std::vector<std::vector<std::vector<RunNumbers>>>& runs, const LoadQuestion& question) {
  const std::size_t rates = plan.policies.front().points.size();
  for (std::size_t r = 0; r < rates; ++r) {
    LoadChoice choice{.rate = plan.policies.front().points[r].rate};
    std::optional<std::size_t> best;
    for (std::size_t p = 0; p < plan.policies.size(); ++p) {
      const LoadPoint& point = plan.policies[p].points[r];
      if (!plan.policies[p].engine || point.overloaded) continue;
      if (!best || badness(point) < badness(plan.policies[*best].points[r])) best = p;
    }
    if (best) {
      choice.policy = plan.policies[*best].name;
      for (std::size_t p = 0; p < plan.policies.size(); ++p) {
        if (p == *best || !plan.policies[p].engine || plan.policies[p].points[r].overloaded) continue;
        const auto difference =
            difference_over_runs(runs[p][r], runs[*best][r], question.confidence, [&](const RunNumbers& run) {
              return plan.policies[p].points[r].kept ? -run.kept : run.latency.mean;
            });
        if (!difference || !(difference->low > 0)) choice.not_told_apart.push_back(plan.policies[p].name);
      }
    }
    plan.best.push_back(choice);
  }
  // Speculation is off from the first rate on above which plain decoding is the better at every rate.
  const LoadPolicy& plain = plan.policies.front();
  for (std::size_t r = rates; r-- > 0;) {
    bool pays = false;
    for (std::size_t p = 1; p < plan.policies.size(); ++p) {
      const LoadPoint& point = plan.policies[p].points[r];
      if (!candidates[p].fixed || point.overloaded) continue;
      pays = pays || plain.points[r].overloaded ||
             point.latency_mean->estimate < plain.points[r].latency_mean->estimate;
    }
    if (pays) {
      if (plan.off_from) plan.on_until = plain.points[r].rate;
      break;
    }
    if (!plain.points[r].overloaded) plan.off_from = plain.points[r].rate;
  }
  if (question.targets.any()) {
    for (const LoadChoice& choice : plan.best) {
      for (const LoadPolicy& policy : plan.policies) {
        if (policy.name != choice.policy) continue;
        for (const LoadPoint& point : policy.points) {
          if (point.rate == choice.rate && point.kept && 100 * point.kept->estimate >= question.percentile)
            plan.keeps_targets_until = std::max(plan.keeps_targets_until.value_or(0), choice.rate);
        }
      }
    }
  }
}

std::vector<double> rates_below(double capacity) {
  std::vector<double> rates;
  for (const double share : {.05, .1, .2, .3, .4, .5, .6, .7, .8, .9}) {
    // Two significant digits.
    const double rate = share * capacity;
    const double unit = std::pow(10, std::floor(std::log10(rate)) - 1);
    rates.push_back(std::round(rate / unit) * unit);
  }
  return rates;
}

}  // namespace

std::uint64_t load_work(const LoadQuestion& question) {
  const std::size_t policies = 5 + static_cast<std::size_t>(std::min(question.max_gamma, 9));
  std::uint64_t requests = question.rates.empty() ? 10 * size_at(question, 1).all() : 0;
  for (const double rate : question.rates) requests += size_at(question, rate).all();
  return requests * policies * static_cast<std::size_t>(question.runs);
}

std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control) {
  LoadPlan plan;
  describe(question, plan);
  if (const auto fit =
          memory_fit(question.costs, {1, mean_context(question.stream)}, question.memory_share)) {
    plan.fits = fit->fits;
    if (!fit->fits) {
      plan.fits_reason = fit->reason;
      return plan;
    }
  }
  plan.table = batch_table(question);
  const std::vector<Candidate> candidates = candidates_of(question, plan.table);
  plan.policies.resize(candidates.size());
  const Control quiet{.stop = control.stop};
  for_each_index(candidates.size(), [&](std::size_t p) {
    LoadPolicy& policy = plan.policies[p];
    policy.name = candidates[p].name;
    policy.sentence = candidates[p].sentence;
    policy.engine = candidates[p].engine;
    policy.capacity = capacity_of(question, server_of(question, candidates[p]), quiet);
  });
  if (control.stop()) return std::nullopt;

  std::vector<double> rates = question.rates;
  if (rates.empty()) {
    double most = 0;
    for (const LoadPolicy& policy : plan.policies) {
      if (policy.engine) most = std::max(most, policy.capacity);
    }
    rates = rates_below(most);
  }
  plan.requests = size_at(question, rates.front()).measured;
  std::vector<std::vector<std::vector<RunNumbers>>> runs(candidates.size(),
                                                         std::vector<std::vector<RunNumbers>>(rates.size()));
  struct One {
    std::size_t policy;
    std::size_t rate;
    std::size_t run;
  };
  std::vector<One> all;
  for (std::size_t p = 0; p < candidates.size(); ++p) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      if (rates[r] >= saturated * plan.policies[p].capacity) continue;
      runs[p][r].resize(static_cast<std::size_t>(question.runs));
      for (std::size_t i = 0; i < runs[p][r].size(); ++i) all.push_back({p, r, i});
    }
  }
  for_each_index(all.size(), [&](std::size_t i) {
    if (control.stop()) return false;
    const One& one = all[i];
    RequestStream stream = question.stream;
    stream.arrivals = arrivals_at(question, rates[one.rate]);
    // Requests and luck are those of the run, for all policies and rates.
    const std::uint64_t seed = question.seed + one.run;
    const ServingRun run = serve(server_of(question, candidates[one.policy]), stream,
                                 size_at(question, rates[one.rate]), seed, control);
    if (run.stopped) return false;
    runs[one.policy][one.rate][one.run] = numbers_of(run, question.percentile, question.targets);
    return true;
  });
  if (control.stop()) return std::nullopt;

  for (std::size_t p = 0; p < candidates.size(); ++p) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      plan.policies[p].points.push_back(runs[p][r].empty()
                                            ? LoadPoint{.rate = rates[r], .overloaded = true}
                                            : point_of(runs[p][r], runs[0][r], rates[r], question));
    }
  }
  choose(plan, candidates, runs, question);
  const bool speculates = std::any_of(plan.table.begin(), plan.table.end(),
                                      [](const BatchRange& range) { return range.gamma > 0; });
  if (speculates) {
    ServedPlan served;
    if (!question.target.empty()) served.target = question.target;
    if (!question.draft.empty()) served.draft = question.draft;
    served.method = question.method;
    served.gamma = std::max_element(plan.table.begin(), plan.table.end(), [](const auto& a, const auto& b) {
                     return a.gamma < b.gamma;
                   })->gamma;
    served.batches = plan.table;
    plan.settings = server_settings(served);
  }
  return plan;
}

}  // namespace speclab
