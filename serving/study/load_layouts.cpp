#include "serving/study/load_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/planning.hpp"
#include "serving/study/load_choice.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

std::vector<LoadCandidate> candidates_of(const LoadQuestion& question) {
  return load_candidates(question, batch_table(question, mean_context(load_stream(question))));
}

/// Returns the question for this many devices per replica; the others run further replicas.
LoadQuestion laid_out(const LoadQuestion& question, int devices) {
  LoadQuestion changed = question;
  changed.any_layout = false;
  Machine& target = std::get<RooflineCost>(changed.costs.target).machine;
  changed.server.engine.replicas = static_cast<std::uint32_t>(target.devices / devices);
  target.devices = devices;
  if (auto* const draft = std::get_if<RooflineCost>(&changed.costs.draft))
    draft->machine.devices = std::min(draft->machine.devices, devices);
  return changed;
}

std::vector<LoadQuestion> allowed_layouts(const LoadQuestion& question) {
  const auto* const target = std::get_if<RooflineCost>(&question.costs.target);
  const double context = mean_context(load_stream(question));
  if (!question.any_layout || target == nullptr) {
    refuse_unservable(question.costs, "/serving/cost", context);
    return {question};
  }
  std::vector<LoadQuestion> layouts;
  for (int devices = target->machine.devices; devices >= 1; --devices) {
    // Engines give each device the same number of heads.
    if (target->machine.devices % devices == 0 && target->model.heads % devices == 0)
      layouts.push_back(laid_out(question, devices));
  }
  refuse_unservable(layouts.back().costs, "/serving/cost", context);
  return layouts;
}

/// Returns the largest capacity of a policy; 0 if the models or a request do not fit into the memory.
double max_capacity(const LoadQuestion& question, const Control& control) {
  const double context = mean_context(load_stream(question));
  if (memory_fit(question.costs, {1, context}, question.memory_share, question.max_gamma).fits_reason)
    return 0;
  try {
    const auto full = full_servers(question, candidates_of(question), control);
    return std::ranges::max(full, {}, &FullServer::capacity).capacity;
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

/// Returns the number of rates at which the recommended policy meets the targets, and minus the sum of the
/// logarithms of its mean latencies there.
std::pair<int, double> score_of(const LoadPlan& plan) {
  std::pair<int, double> score{0, 0};
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const LoadPolicy* const policy = recommended_at(plan, plan.best[r].rate);
    if (policy == nullptr || !meets_targets(plan, policy->points[r])) continue;
    ++score.first;
    score.second -= std::log(mean_latency(policy->points[r]));
  }
  return score;
}

std::optional<double> latency_at(const LoadPlan& plan, double rate) {
  const LoadPolicy* const policy = recommended_at(plan, rate);
  if (policy == nullptr) return std::nullopt;
  return mean_latency(*std::ranges::find(policy->points, rate, &LoadPoint::rate));
}

}  // namespace

std::vector<FullServer> full_servers(const LoadQuestion& question,
                                     const std::vector<LoadCandidate>& candidates, const Control& control) {
  const RequestStream stream = load_stream(question);
  const double context = mean_context(stream);
  const Control quiet{.stop = control.stop};
  std::vector<FullServer> full(candidates.size());
  for_each_index(candidates.size(), [&](std::size_t p) {
    const ServingRun run =
        serve_full(load_server(question, candidates[p], context), stream, run_seed(question.seed, 0), quiet);
    if (run.stopped) return false;
    full[p] = {requests_per_second(run),
               run.totals.running_ms / run.window_ms / question.server.engine.replicas};
    return true;
  });
  return full;
}

std::vector<double> rates_below(double capacity) {
  std::vector<double> rates;
  for (const double share : {.05, .1, .2, .3, .4, .5, .6, .7, .8, .9}) {
    // Rounds the rate to two significant digits.
    const double rate = share * capacity;
    const double unit = std::pow(10, std::floor(std::log10(rate)) - 1);
    rates.push_back(std::round(rate / unit) * unit);
  }
  return rates;
}

LoadLimit limit_of(const LoadQuestion& question, const LoadPlan& plan, const std::vector<FullServer>& full,
                   const Control& control) {
  const auto policy =
      plan.recommended.empty()
          ? std::ranges::max_element(plan.policies, {}, &LoadPolicy::capacity)
          : std::ranges::find(plan.policies, plan.recommended.back().policy, &LoadPolicy::name);
  const FullServer& own = full[static_cast<std::size_t>(policy - plan.policies.begin())];
  LoadLimit limit{.policy = policy->name, .capacity = own.capacity, .running = own.running};
  constexpr double close = 0.95;
  if (policy->highest && policy->highest->estimate < close * overloaded_share * own.capacity) {
    limit.binds = "targets";
    return limit;
  }
  const auto consider = [&](const char* binds, std::string next, const LoadQuestion& changed) {
    std::vector<LoadCandidate> candidates = candidates_of(changed);
    std::erase_if(candidates, [&](const LoadCandidate& one) { return one.name != policy->name; });
    const double capacity = full_servers(changed, candidates, control).front().capacity;
    if (!limit.binds.empty() && capacity <= limit.next_capacity) return;
    limit.binds = binds;
    limit.next = std::move(next);
    limit.next_capacity = capacity;
  };
  const EngineSection& engine = question.server.engine;
  LoadQuestion changed = question;
  if (own.running >= close * engine.max_sequences) {
    changed.server.engine.max_sequences *= 2;
    consider("sequences", fmt::format("{} sequences at a time", 2 * engine.max_sequences), changed);
  } else {
    changed.server.engine.step_tokens *= 2;
    consider("step tokens", fmt::format("{} tokens a step", 2 * engine.step_tokens), changed);
    changed = question;
    const double context = mean_context(load_stream(question));
    changed.server.engine.cache_tokens = 2 * cache_of(question, context, policy->name != "plain");
    if (changed.server.engine.cache_tokens > 0) consider("cache", "twice the cache", changed);
  }
  if (limit.next_capacity < (1 + little_loss) * limit.capacity) limit.binds = "speed";
  return limit;
}

std::uint64_t layouts_work(const LoadQuestion& question) {
  std::uint64_t work = 0;
  for (const LoadQuestion& one : allowed_layouts(question)) work += load_work(one);
  return work;
}

std::optional<LoadPlan> plan_layouts(const LoadQuestion& question, const Control& control) {
  std::vector<LoadQuestion> questions = allowed_layouts(question);
  if (questions.size() == 1) return plan_load(questions.front(), control);
  if (question.rates.empty()) {
    double capacity = 0;
    for (const LoadQuestion& one : questions) capacity = std::max(capacity, max_capacity(one, control));
    if (control.stop()) return std::nullopt;
    if (capacity > 0) {
      for (LoadQuestion& one : questions) one.rates = rates_below(capacity);
    }
  }
  std::vector<LoadPlan> plans;
  for (const LoadQuestion& one : questions) {
    try {
      std::optional<LoadPlan> plan = plan_load(one, control);
      if (!plan) return std::nullopt;
      plans.push_back(std::move(*plan));
    } catch (const std::invalid_argument& error) {
      // A request does not fit into the cache of a replica.
      if (&one == &questions.front()) throw;
      plans.emplace_back().fits_reason = error.what();
    }
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    if (plans[i].fits_reason) continue;
    if (plans[best].fits_reason || score_of(plans[i]) > score_of(plans[best])) best = i;
  }
  LoadPlan plan = plans[best];
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Machine& machine = std::get<RooflineCost>(questions[i].costs.target).machine;
    LoadLayout& layout = plan.layouts.emplace_back();
    layout.replicas = static_cast<int>(questions[i].server.engine.replicas);
    layout.devices = machine.devices;
    layout.chosen = i == best;
    layout.fits_reason = plans[i].fits_reason;
    if (layout.fits_reason) continue;
    layout.capacity = std::ranges::max(plans[i].policies, {}, &LoadPolicy::capacity).capacity;
    layout.served = score_of(plans[i]).first;
    layout.low_ms = latency_at(plans[i], plan.best.front().rate);
    if (!plan.recommended.empty()) layout.high_ms = latency_at(plans[i], plan.recommended.back().to);
  }
  return plan;
}

}  // namespace speclab
