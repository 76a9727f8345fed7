#include "serving/study/load_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "experiments/base/format/named_entry.hpp"

namespace speclab {

namespace {

/// Returns the best policy at rate `r` of those for which `allowed` is true.
std::optional<std::size_t> best_at_rate(const LoadPlan& plan, std::size_t r,
                                        const std::vector<bool>& allowed) {
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < plan.policies.size(); ++p) {
    const LoadPoint& point = plan.policies[p].points[r];
    if (!allowed[p] || point.state) continue;
    if (!best || is_better(plan, point, plan.policies[*best].points[r])) best = p;
  }
  return best;
}

/// Returns whether the runs at rate `r` show that policy `p` is worse than policy `best`.
bool told_apart(const LoadPlan& plan, const PolicyRuns& runs, std::size_t r, std::size_t p,
                std::size_t best) {
  const bool by_latency =
      meets_targets(plan, plan.policies[p].points[r]) && meets_targets(plan, plan.policies[best].points[r]);
  const auto difference =
      difference_over_runs(runs[p][r], runs[best][r], plan.confidence,
                           [&](const RunNumbers& run) { return by_latency ? run.latency.mean : -run.kept; });
  return difference && difference->low > 0;
}

/// Returns the policies at rate `r` that are as good as policy `best`: they meet the targets as it does, with
/// a mean latency within kept_loss; or neither meets them, and their shares differ by no more than chance.
std::vector<bool> as_good_at_rate(const LoadPlan& plan, const PolicyRuns& runs, std::size_t r,
                                  std::size_t best, const std::vector<bool>& allowed) {
  std::vector<bool> good(plan.policies.size());
  const LoadPoint& other = plan.policies[best].points[r];
  const bool met = meets_targets(plan, other);
  for (std::size_t p = 0; p < good.size(); ++p) {
    const LoadPoint& point = plan.policies[p].points[r];
    if (!allowed[p] || point.state || meets_targets(plan, point) != met) continue;
    good[p] = met ? mean_latency(point) <= (1 + kept_loss) * mean_latency(other)
                  : !told_apart(plan, runs, r, p, best);
  }
  return good;
}

}  // namespace

double mean_latency(const LoadPoint& point) { return simulated(point, "latency mean")->estimate; }

double kept_share(const LoadPoint& point) {
  const Interval* kept = simulated(point, "targets kept");
  return kept == nullptr ? 1 : kept->estimate;
}

bool meets_targets(const LoadPlan& plan, const LoadPoint& point) {
  constexpr double percent = 100;
  return kept_share(point) >= plan.percentile / percent;
}

bool is_better(const LoadPlan& plan, const LoadPoint& first, const LoadPoint& second) {
  const bool meets = meets_targets(plan, first);
  if (meets != meets_targets(plan, second)) return meets;
  return meets ? mean_latency(first) < mean_latency(second) : kept_share(first) > kept_share(second);
}

std::vector<LoadChoice> best_policies(const LoadPlan& plan, const PolicyRuns& runs) {
  std::vector<LoadChoice> choices;
  const std::vector<bool> all(plan.policies.size(), true);
  for (std::size_t r = 0; r < plan.policies.front().points.size(); ++r) {
    LoadChoice& choice = choices.emplace_back();
    choice.rate = plan.policies.front().points[r].rate;
    const auto best = best_at_rate(plan, r, all);
    if (!best) continue;
    choice.policy = plan.policies[*best].name;
    for (std::size_t p = 0; p < plan.policies.size(); ++p) {
      if (p == *best || plan.policies[p].points[r].state || told_apart(plan, runs, r, p, *best)) continue;
      choice.not_told_apart.push_back(plan.policies[p].name);
    }
  }
  return choices;
}

std::optional<std::size_t> best_over_rates(const LoadPlan& plan, const std::vector<bool>& allowed,
                                           std::size_t from, std::size_t to) {
  std::optional<std::size_t> best;
  std::pair<double, double> least;
  for (std::size_t p = 0; p < plan.policies.size(); ++p) {
    const auto points = std::span(plan.policies[p].points).subspan(from, to - from + 1);
    const auto has_state = [](const LoadPoint& point) { return point.state.has_value(); };
    if (!allowed[p] || std::ranges::any_of(points, has_state)) continue;
    std::pair<double, double> score{0, 0};  // the share of requests that is missing, then latencies
    for (const LoadPoint& point : points) {
      if (!meets_targets(plan, point)) score.first += 1 - kept_share(point);
      score.second += std::log(mean_latency(point));
    }
    if (best && score >= least) continue;
    best = p;
    least = score;
  }
  return best;
}

std::vector<LoadAdvice> recommended_policies(const LoadPlan& plan, const PolicyRuns& runs) {
  std::vector<bool> settable;
  for (const LoadPolicy& one : plan.policies) settable.push_back(one.settable);
  std::vector<LoadAdvice> advice;
  const std::size_t rates = plan.policies.front().points.size();
  // Each stretch of rates goes on while some policy is as good as the best at all of them. This gives the
  // fewest stretches.
  std::vector<bool> open;
  std::size_t from = 0;
  const auto end_before = [&](std::size_t r) {
    if (open.empty()) return;
    const std::size_t p = *best_over_rates(plan, open, from, r - 1);
    const std::vector<LoadPoint>& points = plan.policies[p].points;
    advice.push_back({plan.policies[p].name, points[from].rate, points[r - 1].rate});
    open.clear();
  };
  for (std::size_t r = 0; r < rates; ++r) {
    const auto best = best_at_rate(plan, r, settable);
    std::vector<bool> good;
    if (best) good = as_good_at_rate(plan, runs, r, *best, settable);
    std::vector<bool> both;  // empty unless there is an open stretch, and a best policy at this rate
    std::ranges::transform(open, good, std::back_inserter(both), std::logical_and());
    if (std::ranges::find(both, true) != both.end()) {
      open = std::move(both);
      continue;
    }
    end_before(r);
    open = std::move(good);
    from = r;
  }
  end_before(rates);
  return advice;
}

std::string rate_words(double from, double to) {
  return fmt::format("{:.4g}{} requests per second", from, to > from ? fmt::format(" to {:.4g}", to) : "");
}

const LoadPolicy* recommended_at(const LoadPlan& plan, double rate) {
  for (const LoadAdvice& one : plan.recommended) {
    if (rate >= one.from && rate <= one.to) return find_named(plan.policies, one.policy);
  }
  return nullptr;
}

}  // namespace speclab
