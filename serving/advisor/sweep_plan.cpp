#include "serving/advisor/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/cost/speedup_curve.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "serving/advisor/sweep_table.hpp"

namespace speclab {

SPECLAB_RESULT(SweepPoint, "point", k, tokens_per_step, tokens_per_second, step_ms, fitted_ms);
SPECLAB_RESULT(SweepFit, "fit", base_ms, per_token_ms, scatter_percent);
SPECLAB_RESULT(Sweep, "sweep", name, points, fit, best_k, low_k, high_k);
SPECLAB_RESULT(SweepOther, "other", costs, acceptance, best_k, tokens_per_second);
SPECLAB_RESULT(SweepPlan, "sweeps", file, acceptance, confidence, sweeps, others, warnings);

namespace {

/// Returns rows of one sweep, those of equal K averaged, by increasing K.
std::vector<SweepPoint> points_of(const std::vector<SweepRow>& rows, const std::string& name) {
  std::map<int, std::pair<SweepPoint, int>> by_k;
  for (const SweepRow& row : rows) {
    if (row.sweep != name) continue;
    auto& [sum, count] =
        by_k.try_emplace(row.point.k, SweepPoint{.k = row.point.k, .tokens_per_step = 0, .fitted_ms = {}}, 0)
            .first->second;
    sum.tokens_per_step += row.point.tokens_per_step;
    sum.tokens_per_second += row.point.tokens_per_second;
    sum.step_ms += row.point.step_ms;
    ++count;
  }
  std::vector<SweepPoint> points;
  for (auto& [k, sums] : by_k) {
    auto& [sum, count] = sums;
    points.push_back(
        {k, sum.tokens_per_step / count, sum.tokens_per_second / count, sum.step_ms / count, {}});
  }
  return points;
}

/// Fits the line, and marks the Ks that chance does not tell from the best.
void fit(Sweep& sweep, double confidence) {
  double n = 0, mean_k = 0, mean_ms = 0, squares = 0, products = 0, errors = 0;
  const auto each = [&](auto&& visit) {
    for (SweepPoint& point : sweep.points) {
      if (point.k > 0) visit(point);
    }
  };
  each([&](SweepPoint& point) { ++n, mean_k += point.k, mean_ms += point.step_ms; });
  if (n < 2) return;
  mean_k /= n, mean_ms /= n;
  each([&](SweepPoint& point) {
    squares += (point.k - mean_k) * (point.k - mean_k);
    products += (point.k - mean_k) * (point.step_ms - mean_ms);
  });
  const double slope = products / squares;
  const double base = mean_ms - slope * mean_k;
  each([&](SweepPoint& point) {
    point.fitted_ms = base + slope * point.k;
    errors += std::pow(point.step_ms - *point.fitted_ms, 2);
  });
  sweep.fit = SweepFit{unbounded(base), unbounded(slope), 0};
  if (n < 3) return;
  const double scatter = std::sqrt(errors / (n - 2));
  const double quantile = student_quantile(n - 2, confidence);
  const auto around = [&](double estimate, double deviation) {
    return Interval{estimate, estimate - quantile * deviation, estimate + quantile * deviation};
  };
  sweep.fit = SweepFit{around(base, scatter * std::sqrt(1 / n + mean_k * mean_k / squares)),
                       around(slope, scatter / std::sqrt(squares)), 100 * scatter / mean_ms};
  if (n < 4 || sweep.best_k == 0) return;
  const auto best = std::find_if(sweep.points.begin(), sweep.points.end(),
                                 [&](const SweepPoint& point) { return point.k == sweep.best_k; });
  const double least = best->tokens_per_second * (1 - quantile * std::sqrt(2.0) * scatter / mean_ms);
  auto low = best;
  auto high = best;
  while (low != sweep.points.begin() && (low - 1)->k > 0 && (low - 1)->tokens_per_second >= least) --low;
  while (high + 1 != sweep.points.end() && (high + 1)->tokens_per_second >= least) ++high;
  sweep.low_k = low->k;
  sweep.high_k = high->k;
}

/// Returns the best K with a sweep's step times, if `tokens(k)` are emitted in a step; empty: unknown.
template <class Tokens>
SweepOther best_with(const Sweep& costs, const std::string& acceptance, double batch, const Tokens& tokens) {
  SweepOther other{costs.name, acceptance};
  for (const SweepPoint& point : costs.points) {
    const std::optional<double> emitted = tokens(point.k);
    constexpr double milli = 1e3;
    const double rate = emitted ? milli * batch * *emitted / point.step_ms : 0;
    if (rate > other.tokens_per_second) {
      other.best_k = point.k;
      other.tokens_per_second = rate;
    }
  }
  return other;
}

void add_others(const SweepQuestion& question, SweepPlan& plan) {
  for (const Sweep& costs : plan.sweeps) {
    for (const Sweep& acceptance : plan.sweeps) {
      if (&costs == &acceptance) continue;
      plan.others.push_back(
          best_with(costs, acceptance.name, question.batch, [&](int k) -> std::optional<double> {
            for (const SweepPoint& point : acceptance.points) {
              if (point.k == k) return point.tokens_per_step;
            }
            return std::nullopt;
          }));
    }
    for (const double alpha : question.alphas) {
      plan.others.push_back(best_with(costs, fmt::format("α = {:g}", alpha), question.batch, [&](int k) {
        return std::optional(iid_tokens(alpha, k)[static_cast<std::size_t>(k)]);
      }));
    }
  }
}

/// Warns of step times that cannot be, so that a column probably means something else.
void add_doubts(const Sweep& sweep, SweepPlan& plan) {
  const std::string of = sweep.name.empty() ? "" : sweep.name + ": ";
  constexpr double noise = 0.95;
  const SweepPoint& plain = sweep.points.front();
  for (const SweepPoint& point : sweep.points) {
    if (plain.k > 0 || point.step_ms >= noise * plain.step_ms) continue;
    plan.warnings.push_back(fmt::format(
        "{}a step at K = {} would take {:.4g} ms, less than the {:.4g} ms without drafts, which cannot be: check the columns, and that all rows had one load",
        of, point.k, point.step_ms, plain.step_ms));
    break;
  }
  if (!sweep.fit) return;
  const Interval& slope = sweep.fit->per_token_ms;
  if ((slope.bounded() ? slope.high : slope.estimate) < 0) {
    plan.warnings.push_back(fmt::format(
        "{}the line falls by {:.4g} ms for each drafted token, which cannot be: check the columns, and that all rows had one load",
        of, -slope.estimate));
  }
}

}  // namespace

SweepPlan plan_sweep(const SweepQuestion& question) {
  const SweepRows table = read_sweep_table(question);
  std::vector<std::string> names;
  for (const SweepRow& row : table.rows) {
    if (std::find(names.begin(), names.end(), row.sweep) == names.end()) names.push_back(row.sweep);
  }
  SweepPlan plan{.file = question.file};
  plan.acceptance = table.by_length
                        ? "accepted lengths, with the correction or bonus"
                        : "1 + K times the acceptance, taken as accepted / drafted of rounds of K tokens";
  plan.confidence = question.confidence;
  for (const std::string& name : names) {
    Sweep sweep{.name = name, .points = points_of(table.rows, name)};
    const auto best = std::max_element(
        sweep.points.begin(), sweep.points.end(),
        [](const SweepPoint& a, const SweepPoint& b) { return a.tokens_per_second < b.tokens_per_second; });
    sweep.best_k = best->k;
    fit(sweep, question.confidence);
    if (best + 1 == sweep.points.end() && best->k > 0) {
      plan.warnings.push_back(fmt::format("{}the best K, {}, is the largest of the table: more may be better",
                                          name.empty() ? "" : name + ": ", best->k));
    }
    add_doubts(sweep, plan);
    plan.sweeps.push_back(std::move(sweep));
  }
  add_others(question, plan);
  return plan;
}

}  // namespace speclab
