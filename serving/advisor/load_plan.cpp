#include "serving/advisor/load_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "experiments/base/format/interval_fields.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "serving/advisor/load_policies.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/server/confidence.hpp"
#include "sim/parallel.hpp"

namespace speclab {

SPECLAB_RESULT(LoadPoint, "load point", rate, overloaded, latency_mean, latency, ttft, tpot, gap, kept,
               over_plain, batch, gamma, accepted, utilisation, preempted);
SPECLAB_RESULT(LoadPolicy, "load policy", name, sentence, capacity, highest, points);
SPECLAB_RESULT(ContextTable, "context table", context, rows);
SPECLAB_RESULT(LoadChoice, "load choice", rate, policy, not_told_apart);
SPECLAB_RESULT(LoadPlan, "load plan", arrivals, lengths, acceptance, costs, draft_device, draft_budget,
               cache_tokens, ttft_ms, tpot_ms, percentile, confidence, requests, runs, fits, fits_reason,
               policies, best, off_from, on_until, table, context_tables, settings, warnings);

namespace {

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
                    static_cast<double>(load_size(question, rate).measured * runs.size());
  return point;
}

std::string length_words(const Length& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fmt::format("{}", fixed->tokens);
  if (const auto* geometric = std::get_if<GeometricLength>(&length))
    return fmt::format("{} on average, geometric", geometric->mean);
  const auto& normal = std::get<LogNormalLength>(length);
  return fmt::format("{} on average, log-normal, standard deviation {} of the mean", normal.mean,
                     normal.variation);
}

std::string device_words(const LoadDraftDevice& device) {
  const std::string outcomes =
      device.hit ? fmt::format("has drafted for a round's outcome with probability {:.4g}", *device.hit)
                 : fmt::format("drafts for the {} likeliest outcomes of each sequence", device.outcomes);
  return fmt::format("{}; after another {}", outcomes,
                     device.plain_after_miss ? "its sequence is decoded plain" : "all wait for drafts");
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
  if (question.draft_budget > 0) plan.draft_budget = question.draft_budget;
  if (question.draft_device) plan.draft_device = device_words(*question.draft_device);
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

void choose(LoadPlan& plan, const std::vector<LoadCandidate>& candidates,
            const std::vector<std::vector<std::vector<RunNumbers>>>& runs, const LoadQuestion& question) {
  const std::size_t rates = plan.policies.front().points.size();
  for (std::size_t r = 0; r < rates; ++r) {
    LoadChoice choice{.rate = plan.policies.front().points[r].rate};
    std::optional<std::size_t> best;
    for (std::size_t p = 0; p < plan.policies.size(); ++p) {
      const LoadPoint& point = plan.policies[p].points[r];
      if (point.overloaded) continue;
      if (!best || badness(point) < badness(plan.policies[*best].points[r])) best = p;
    }
    if (best) {
      choice.policy = plan.policies[*best].name;
      for (std::size_t p = 0; p < plan.policies.size(); ++p) {
        if (p == *best || plan.policies[p].points[r].overloaded) continue;
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
}

/// The highest rate at which run `i` keeps the targets, by halving between the rates that were simulated; 0
/// where it keeps them at none.
double highest_rate(const LoadQuestion& question, const ServerOptions& server, std::span<const double> rates,
                    std::span<const std::vector<RunNumbers>> runs, std::size_t i, double capacity,
                    const Control& control) {
  const double wanted = question.percentile / 100;
  double low = 0;
  double high = overloaded_share * capacity;
  for (std::size_t r = 0; r < rates.size() && !runs[r].empty(); ++r) {
    if (runs[r][i].kept < wanted) {
      high = rates[r];
      break;
    }
    low = rates[r];
  }
  constexpr double width = 0.005;  ///< of the rate
  while (high - low > width * high) {
    const double middle = (low + high) / 2;
    if (low == 0 && middle < width * capacity) return 0;
    const ServingRun run = serve(server, load_stream(question, middle), load_size(question, middle),
                                 run_seed(question.seed, i), control);
    if (run.stopped) return 0;
    (numbers_of(run, question.percentile, question.targets).kept >= wanted ? low : high) = middle;
  }
  return low;
}

/// Sets the highest rate of every policy.
void find_highest_rates(const LoadQuestion& question, const std::vector<LoadCandidate>& candidates,
                        std::span<const double> rates,
                        const std::vector<std::vector<std::vector<RunNumbers>>>& runs, LoadPlan& plan,
                        const Control& control) {
  const auto count = static_cast<std::size_t>(question.runs);
  std::vector<std::vector<double>> found(candidates.size(), std::vector<double>(count));
  for_each_index(candidates.size() * count, [&](std::size_t i) {
    const std::size_t p = i / count;
    found[p][i % count] = highest_rate(question, load_server(question, candidates[p]), rates, runs[p],
                                       i % count, plan.policies[p].capacity, control);
    return !control.stop();
  });
  const std::vector<double> ones(count, 1);
  for (std::size_t p = 0; p < candidates.size(); ++p) {
    if (std::all_of(found[p].begin(), found[p].end(), [](double rate) { return rate > 0; }))
      plan.policies[p].highest = ratio_interval(found[p], ones, question.confidence);
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
  const std::size_t steps = draft_runs(question.costs) == DraftRuns::a_token ? 1 : 0;
  const std::size_t others = question.draft_device ? 1 : (question.draft_correlation ? 4 : 3) + steps;
  const std::size_t policies = others + static_cast<std::size_t>(std::min(question.max_gamma, 9));
  std::uint64_t requests = question.rates.empty() ? 10 * load_size(question, 1).all() : 0;
  for (const double rate : question.rates) requests += load_size(question, rate).all();
  // Each highest rate takes about six halvings.
  if (question.targets.any() && question.rates.size() != 1)
    requests += 6 * load_size(question, question.rates.empty() ? 1 : question.rates.back()).all();
  return requests * policies * static_cast<std::size_t>(question.runs);
}

std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control) {
  LoadPlan plan;
  describe(question, plan);
  for (const CostPair& costs : costs_by_device(question)) {
    const MemoryFit fit = memory_fit(costs, {1, mean_context(question.stream)}, question.memory_share);
    if (fit.fits) static_cast<MemoryFit&>(plan) = fit;
    if (fit.fits_reason) return plan;
  }
  std::vector<ContextTable> tables;
  // What a draft device drafts is decided a step before, so that no policy changes it.
  if (!question.draft_device) {
    plan.table = batch_table(question, mean_context(question.stream));
    tables = context_tables(question);
  }
  const std::vector<LoadCandidate> candidates = load_candidates(question, plan.table, tables);
  if (tables.size() > 1) plan.context_tables = std::move(tables);
  plan.policies.resize(candidates.size());
  const Control quiet{.stop = control.stop};
  for_each_index(candidates.size(), [&](std::size_t p) {
    LoadPolicy& policy = plan.policies[p];
    policy.name = candidates[p].name;
    policy.sentence = candidates[p].sentence;
    policy.capacity = requests_per_second(
        serve_full(load_server(question, candidates[p]), question.stream, run_seed(question.seed, 0), quiet));
  });
  if (control.stop()) return std::nullopt;

  std::vector<double> rates = question.rates;
  if (rates.empty()) {
    double most = 0;
    for (const LoadPolicy& policy : plan.policies) most = std::max(most, policy.capacity);
    rates = rates_below(most);
  }
  plan.requests = load_size(question, rates.front()).measured;
  std::vector<std::vector<std::vector<RunNumbers>>> runs(candidates.size(),
                                                         std::vector<std::vector<RunNumbers>>(rates.size()));
  const auto count = static_cast<std::size_t>(question.runs);
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
    // Requests and luck are those of the run, for all policies and rates.
    const ServingRun run = serve(load_server(question, candidates[p]), load_stream(question, rates[r]),
                                 load_size(question, rates[r]), run_seed(question.seed, i % count), control);
    if (run.stopped) return false;
    runs[p][r][i % count] = numbers_of(run, question.percentile, question.targets);
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
  if (question.targets.any() && rates.size() > 1) {
    find_highest_rates(question, candidates, rates, runs, plan, control);
    if (control.stop()) return std::nullopt;
  }
  int longest = 0;
  for (const BatchRange& range : plan.table) longest = std::max(longest, range.gamma);
  if (longest > 0) {
    ServedPlan served = served_plan(question, longest);
    served.batches = plan.table;
    double reached = 1;
    for (const double rate : position_rates(acceptance_of(question), longest))
      served.accepted.push_back(reached *= rate);
    plan.settings = server_settings(served);
  }
  return plan;
}

}  // namespace speclab
