#include "experiments/advisor/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "analysis/statistics/gamma_choice.hpp"
#include "analysis/statistics/mean_accepted.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/advisor/server_settings.hpp"

namespace speclab {

namespace {

/// A log's departure from i.i.d. is said at this level: one false alarm in a thousand logs, of both tests.
constexpr double fit_level = 0.001;
constexpr double little_loss = 0.01;
/// Below this gain a policy that changes gamma is not worth its trouble.
constexpr double adaptive_threshold = 0.05;
constexpr int stretches = 20;
/// Larger batches want shorter drafts, so that the search over batches can stop here.
constexpr std::size_t longest_in_batches = 32;

std::size_t at(int gamma) { return static_cast<std::size_t>(gamma); }

bool constant(const CostPair& costs) {
  return std::holds_alternative<ConstantCost>(costs.target) &&
         std::holds_alternative<ConstantCost>(costs.draft);
}

/// Speedups by gamma with their interval.
struct SpeedupCurve {
  std::vector<double> tokens;
  std::vector<double> estimate;
  std::vector<double> low;
  std::vector<double> high;
  AcceptanceModel by;

  Interval at(int gamma) const {
    const auto index = static_cast<std::size_t>(gamma);
    return {estimate[index], low[index], high[index]};
  }
};

/// The speedup rises with alpha at every gamma, so an interval of alpha is one of the speedup.
SpeedupCurve iid_curve(const Drafter& drafter, const PlanSettings& settings) {
  const Interval& alpha = drafter.acceptance.alpha;
  const auto by_alpha = [&](double value) {
    return speedups(iid_tokens(value, settings.max_gamma), drafter.costs, settings.at);
  };
  return {iid_tokens(alpha.estimate, settings.max_gamma), by_alpha(alpha.estimate), by_alpha(alpha.low),
          by_alpha(alpha.high), AcceptanceModel::iid};
}

/// As far as the log's rounds reached.
SpeedupCurve position_curve(const Drafter& drafter, const PlanSettings& settings) {
  PositionalTokens found = positional_tokens(drafter.acceptance.log->counts, settings.confidence);
  found.tokens.resize(std::min(found.tokens.size(), at(settings.max_gamma) + 1));
  SpeedupCurve curve{
      found.tokens, speedups(found.tokens, drafter.costs, settings.at), {}, {}, AcceptanceModel::positions};
  for (std::size_t gamma = 0; gamma < found.tokens.size(); ++gamma) {
    const double a_token = curve.estimate[gamma] / found.tokens[gamma];
    curve.low.push_back(a_token * found.low[gamma]);
    curve.high.push_back(a_token * found.high[gamma]);
  }
  return curve;
}

struct GammaChoice {
  int gamma = 0;
  std::string reason;
};

/// The smallest maximiser. Where the speedup grows on and on, the first gamma that comes within 1% of its
/// limit (or of the largest gamma considered).
GammaChoice best_of(const SpeedupCurve& curve, const Drafter& drafter, const PlanSettings& settings) {
  const auto top = std::max_element(curve.estimate.begin(), curve.estimate.end());
  const int last = static_cast<int>(curve.estimate.size()) - 1;
  const int gamma = static_cast<int>(top - curve.estimate.begin());
  if (curve.by == AcceptanceModel::positions) {
    return {gamma, gamma == last && gamma > 0
                       ? "The longest round seen: draft more for a while, and plan again."
                       : "The largest speedup by acceptance as it was measured at each position."};
  }
  if (constant(drafter.costs)) {
    const OptimalGamma closed =
        optimal_gamma(drafter.acceptance.alpha.estimate, draft_cost(drafter.costs, settings.at));
    if (closed.gamma && *closed.gamma <= last) return {*closed.gamma, closed.reason};
    if (!closed.gamma && closed.speedup) {
      for (int enough = 1; enough <= last; ++enough) {
        if (curve.estimate[at(enough)] >= (1 - little_loss) * *closed.speedup) {
          return {enough, closed.reason + " This one comes within 1% of it."};
        }
      }
    }
    if (closed.gamma) {
      return {gamma, fmt::format("The best, {}, lies beyond the largest considered, {} (--max-gamma).",
                                 *closed.gamma, settings.max_gamma)};
    }
    return {gamma, closed.reason + fmt::format(" This is the largest considered, {}.", settings.max_gamma)};
  }
  if (gamma == 0) return {0, "No gamma is faster than plain decoding here: do not speculate."};
  return {gamma, gamma == last
                     ? fmt::format("The largest considered, {}.", settings.max_gamma)
                     : std::string("The largest speedup with the cost of verifying gamma + 1 positions.")};
}

/// The upper bound with drafting paid: the speedup of a choice of gamma that knows how many tokens would be
/// accepted and drafts just these, at most m; for the best m. With free verification and i.i.d. acceptance
/// its limit is 1 / (1 - alpha + c alpha).
double upper_bound_drafting_paid(const SpeedupCurve& curve, const Drafter& drafter,
                                 const PlanSettings& settings) {
  const double c = draft_cost(drafter.costs, settings.at);
  double best = 1;
  double verified = 0;  // sum over n < m of P(exactly n accepted) verify_cost(n)
  for (std::size_t m = 1; m < curve.tokens.size(); ++m) {
    // P(at least n accepted) is tokens[n] - tokens[n - 1].
    const double before = m == 1 ? 1 : curve.tokens[m - 1] - curve.tokens[m - 2];
    const double reached = curve.tokens[m] - curve.tokens[m - 1];
    verified += (before - reached) * verify_cost(drafter.costs, static_cast<int>(m) - 1, settings.at);
    const double cost = c * (curve.tokens[m] - 1) + verified +
                        reached * verify_cost(drafter.costs, static_cast<int>(m), settings.at);
    best = std::max(best, curve.tokens[m] / cost);
  }
  return best;
}

std::vector<GammaRow> gamma_rows(const SpeedupCurve& curve, int best, const Drafter& drafter,
                                 const PlanSettings& settings) {
  const int last = static_cast<int>(curve.estimate.size()) - 1;
  std::set<int> shown{best - 1, best, best + 1};
  for (const int gamma : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32}) {
    if (gamma <= std::max(8, 2 * best)) shown.insert(gamma);
  }
  std::vector<GammaRow> rows;
  for (const int gamma : shown) {
    if (gamma < 1 || gamma > last) continue;
    rows.push_back(
        {gamma, curve.tokens[at(gamma)], curve.at(gamma), verify_cost(drafter.costs, gamma, settings.at)});
  }
  return rows;
}

bool rejected(const LogTest& test) { return test.p < fit_level / 2; }

LogFindings log_findings(const AcceptanceFile& log, double confidence) {
  LogFindings found;
  found.format = log.format;
  found.rounds = log.counts.rounds;
  found.examined = log.counts.total_examined();
  found.accepted = log.counts.total_accepted();
  found.alpha_by_stretches = stretch_interval(log.rounds, stretches, confidence);
  found.positions_alike = position_test(log.counts);
  if (!log.rounds.empty()) found.rounds_independent = neighbour_test(log.rounds);
  found.iid_rejected =
      rejected(found.positions_alike) || (found.rounds_independent && rejected(*found.rounds_independent));
  double reached = 1;
  for (std::size_t i = 0; i < log.counts.examined.size() && log.counts.examined[i] > 0; ++i) {
    const Interval conditional =
        *binomial_interval(log.counts.accepted[i], log.counts.examined[i], confidence);
    reached *= conditional.estimate;
    found.positions.push_back({i + 1, log.counts.examined[i], log.counts.accepted[i], conditional, reached});
  }
  return found;
}

/// alpha of a log that gives means alone. Lines of means whose rounds are not counted are taken as stretches.
Interval alpha_of_means(const LoggedMeans& means, double confidence) {
  if (means.rounds > 0) return alpha_of_mean(means.accepted, means.drafted, means.rounds, confidence);
  const auto alpha = [&](double mean) { return alpha_of_mean(mean, means.drafted); };
  std::vector<double> accepted;
  for (std::size_t i = 0; i < means.weights.size(); ++i) {
    accepted.push_back(means.weights[i] * means.accepted_by_line[i]);
  }
  const auto mean = bounded_ratio_interval(accepted, means.weights, {0, means.drafted}, confidence);
  if (!mean) return unbounded(alpha(means.accepted));
  return {alpha(means.accepted), alpha(std::max(mean->low, 0.0)), alpha(mean->high)};
}

/// What a choice at the edge of a log, or beyond it, rests on; and what to log next.
void add_edge_warning(std::vector<std::string>& warnings, const Acceptance& known, int gamma,
                      bool by_positions) {
  const int longest = known.longest_logged;
  if (gamma < longest) return;
  const int next = std::max(gamma, longest + std::max(2, longest / 2));
  constexpr double examined = 400;  // a standard error of at most 0.025
  constexpr double most_rounds = 1e6;
  const double rounds = examined / std::pow(known.alpha.estimate, next - 1);
  std::string sentence =
      by_positions || gamma == longest
          ? fmt::format("The best gamma, {}, is the longest draft of the log: more may be better.", gamma)
          : fmt::format(
                "The best gamma, {}, is beyond the log, whose drafts had at most {} tokens: acceptance "
                "after that is what the i.i.d. formula makes of it.",
                gamma, longest);
  sentence += rounds <= most_rounds
                  ? fmt::format(
                        " Log about {:.0f} rounds of {} drafted tokens, and plan again: then position {} is "
                        "examined some {:.0f} times.",
                        std::ceil(rounds / 100) * 100, next, next, examined)
                  : fmt::format(" Log rounds of {} drafted tokens, and plan again.", longest + 2);
  warnings.push_back(std::move(sentence));
}

/// The most that a choice of gamma could gain, in words. By positions it never drafts more than the log did.
std::string bound_sentence(double gain, bool by_positions) {
  const std::string bound = fmt::format(
      "a policy that drafted exactly what will be accepted{}, and paid for it, would be {:.{}f}% faster",
      by_positions ? " (at most as many as the log's longest draft)" : "", 100 * gain,
      gain < adaptive_threshold ? 1 : 0);
  if (gain < adaptive_threshold) return fmt::format("Keep gamma fixed: even {}.", bound);
  return fmt::format("At most, {}. {}", bound,
                     by_positions
                         ? "A policy that tells hard rounds from easy ones can have a part of it."
                         : "A policy gains only as far as it tells tokens apart, such as by the draft's "
                           "confidence; where acceptance is i.i.d. it gains nothing.");
}

std::vector<std::string> advice(double gain, int gamma, bool by_positions,
                                const std::optional<LogFindings>& log) {
  std::vector<std::string> sentences{gamma == 0 ? "Decode plainly: drafting costs more than it saves."
                                                : bound_sentence(gain, by_positions)};
  if (by_positions) {
    sentences.emplace_back(
        "Acceptance differs between positions (or between rounds, of which the easy ones get far): the "
        "i.i.d. formula is off, and gamma is chosen by acceptance as measured at each position.");
  }
  if (log && log->rounds_independent && rejected(*log->rounds_independent)) {
    sentences.emplace_back(
        "First tokens are accepted more (or less) often after an accepted one: intervals that take rounds as "
        "independent are too narrow; use that of stretches.");
  }
  return sentences;
}

BestGamma best_gamma(const SpeedupCurve& curve, const GammaChoice& choice) {
  const GammaRange near = near_best(curve.estimate, little_loss);
  return {choice.gamma, curve.at(choice.gamma), curve.tokens[at(choice.gamma)],
          curve.by,     choice.reason,          {near.low, *near.high}};
}

std::vector<ServerSetting> settings_for(const Drafter& drafter, const PlanSettings& settings, int gamma,
                                        const std::vector<BatchRange>& batches) {
  if (gamma == 0) return {};
  ServedPlan served;
  if (!settings.target.empty()) served.target = settings.target;
  if (!drafter.name.empty()) served.draft = drafter.name;
  served.method = settings.method;
  served.gamma = gamma;
  served.batches = batches;
  return server_settings(served);
}

}  // namespace

Acceptance logged_acceptance(AcceptanceFile log, double confidence) {
  const auto longest = static_cast<int>(log.longest());
  if (log.means) {
    const Interval alpha = alpha_of_means(*log.means, confidence);
    return {alpha, "log (mean accepted tokens a round, i.i.d.)", std::move(log), longest};
  }
  const Interval alpha =
      *binomial_interval(log.counts.total_accepted(), log.counts.total_examined(), confidence);
  return {alpha, "log (maximum likelihood)", std::move(log), longest};
}

DrafterPlan make_plan(const Drafter& drafter, const PlanSettings& settings) {
  const Acceptance& known = drafter.acceptance;
  const bool fixed_costs = constant(drafter.costs);
  const double c = draft_cost(drafter.costs, settings.at);
  DrafterPlan plan;
  if (known.log && known.log->means) {
    const LoggedMeans& means = *known.log->means;
    plan.means =
        LogMeans{known.log->format, means.rounds, means.drafted, means.accepted, means.weights.size()};
  } else if (known.log) {
    plan.log = log_findings(*known.log, settings.confidence);
  }
  const SpeedupCurve iid = iid_curve(drafter, settings);
  const bool by_positions = plan.log && rejected(plan.log->positions_alike);
  const SpeedupCurve curve = by_positions ? position_curve(drafter, settings) : iid;
  const GammaChoice choice = best_of(curve, drafter, settings);
  const double best = curve.estimate[at(choice.gamma)];

  // Closed forms of alpha are those of i.i.d. acceptance, and of free verification.
  const bool closed = fixed_costs && !by_positions;
  const auto paid = speedup_bound_drafting_paid(known.alpha.estimate, c);
  // The choice that knows what will be accepted may also draft nothing.
  plan.bounds.upper_bound_drafting_paid =
      closed && paid ? std::max(*paid, 1.0) : upper_bound_drafting_paid(curve, drafter, settings);
  if (by_positions) plan.bounds.longest_draft = static_cast<int>(curve.tokens.size()) - 1;
  plan.bounds.adaptive_gain = std::max(plan.bounds.upper_bound_drafting_paid / best - 1, 0.0);
  if (closed) plan.bounds.guaranteed_speedup = guaranteed_speedup(known.alpha.estimate, c);
  if (!by_positions)
    plan.bounds.upper_bound_drafting_free = speedup_bound_drafting_free(known.alpha.estimate);

  const int most_batch = largest_planned_batch(drafter, settings);
  const auto limit_of = [&](const SpeedupCurve& used, int gamma) -> std::optional<int> {
    if (fixed_costs || gamma == 0) return std::nullopt;
    return batch_limit(used.tokens[at(gamma)], gamma, drafter.costs, settings.at.context, most_batch);
  };
  std::vector<BatchRange> batches;
  if (!fixed_costs) {
    const auto considered = std::min(curve.tokens.size(), std::max(at(choice.gamma), longest_in_batches) + 1);
    batches = gamma_by_batch(std::span(curve.tokens.data(), considered), drafter.costs, settings.at.context,
                             most_batch);
  }

  plan.drafter = drafter.name;
  plan.target = settings.target;
  plan.alpha = {known.alpha, known.from, settings.confidence};
  plan.costs = {c, drafter.cost_from, settings.at.batch, settings.at.context};
  plan.best = best_gamma(curve, choice);
  if (settings.asked_gamma) {
    // A log says nothing of positions that it never reached; there the formula stands in.
    const int gamma = *settings.asked_gamma;
    const SpeedupCurve& used = at(gamma) < curve.estimate.size() ? curve : iid;
    plan.asked = AskedGamma{gamma, used.at(gamma), used.by, 100 * (1 - used.estimate[at(gamma)] / best),
                            limit_of(used, gamma)};
  }
  if (known.log) plan.warnings = known.log->warnings;
  if (known.longest_logged > 0) add_edge_warning(plan.warnings, known, choice.gamma, by_positions);
  plan.gammas = gamma_rows(curve, choice.gamma, drafter, settings);
  plan.advice = advice(plan.bounds.adaptive_gain, choice.gamma, by_positions, plan.log);
  if (plan.log) {
    const SpeedupCurve other = by_positions ? iid : position_curve(drafter, settings);
    const int gamma = best_of(other, drafter, settings).gamma;
    plan.log->other_choice = {other.by, gamma, other.at(gamma)};
  }
  if (!fixed_costs) plan.batches = batches;
  plan.batch_limit = limit_of(curve, choice.gamma);
  plan.device = device_plan(drafter, settings, choice.gamma, curve.tokens[at(choice.gamma)]);
  plan.settings = settings_for(drafter, settings, choice.gamma, batches);
  return plan;
}

DrafterRanking rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings) {
  DrafterRanking ranked;
  for (const Drafter& drafter : drafters) ranked.ranking.push_back(make_plan(drafter, settings));
  std::stable_sort(ranked.ranking.begin(), ranked.ranking.end(),
                   [](const DrafterPlan& a, const DrafterPlan& b) {
                     return a.best.speedup.estimate > b.best.speedup.estimate;
                   });
  return ranked;
}

}  // namespace speclab
