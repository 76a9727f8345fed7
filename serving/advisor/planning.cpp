#include "serving/advisor/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "analysis/statistics/mean_accepted.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

namespace {

/// Below this gain a policy that changes gamma is not worth its trouble.
constexpr double adaptive_threshold = 0.05;
/// Larger batches want shorter drafts, so that the search over batches can stop here.
constexpr std::size_t longest_in_batches = 32;

std::size_t at(int gamma) { return static_cast<std::size_t>(gamma); }

std::vector<GammaRow> gamma_rows(const SpeedupCurve& curve, int best, const Drafter& drafter,
                                 const PlanSettings& settings) {
  const int last = curve.last();
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

LogFindings log_findings(const AcceptanceFile& log, double confidence) {
  LogFindings found;
  static_cast<LogFit&>(found) = log_fit(log.rounds, log.counts, confidence);
  found.format = log.format;
  found.rounds = log.counts.rounds;
  found.examined = log.counts.total_examined();
  found.accepted = log.counts.total_accepted();
  found.iid_rejected = found.LogFit::iid_rejected();
  if (log.drafted > 0) {
    found.metrics = acceptance_metrics(
        log.rounds.empty() ? sums_of(log.counts, static_cast<double>(log.drafted)) : sums_of(log.rounds));
  }
  return found;
}

bool reads_text_alone(DraftMethod method) {
  return method == DraftMethod::draft || method == DraftMethod::ngram;
}

/// What a choice at the edge of a log, or beyond it, rests on; and what to log next.
void add_edge_warning(std::vector<std::string>& warnings, const Acceptance& known, int gamma,
                      bool by_positions) {
  const int longest = known.longest_logged;
  if (gamma < longest) return;
  const int next = std::max(gamma, longest + std::max(2, longest / 2));
  constexpr double examined = 400;  // a standard error of at most 0.025
  constexpr double most_rounds = 1e6;
  const double rounds = rounds_to_examine(known.alpha.estimate, next, examined);
  std::string sentence =
      by_positions || gamma == longest
          ? fmt::format("The best gamma, {}, is the longest draft of the log: more may be better.", gamma)
          : fmt::format(
                "The best gamma, {}, is beyond the log, whose drafts had at most {} tokens: acceptance after that is what the i.i.d. formula makes of it.",
                gamma, longest);
  sentence +=
      rounds <= most_rounds
          ? fmt::format(
                " Log about {:.0f} rounds of {} drafted tokens, and plan again: then position {} is examined some {:.0f} times.",
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
  return fmt::format(
      "At most, {}. {}", bound,
      by_positions
          ? "A policy that tells hard rounds from easy ones can have a part of it."
          : "A policy gains only as far as it tells tokens apart, such as by the draft's confidence; where acceptance is i.i.d. it gains nothing.");
}

std::vector<std::string> advice(double gain, int gamma, AcceptanceModel by, bool rounds_rejected) {
  std::vector<std::string> sentences{gamma == 0 ? "Decode plainly: drafting costs more than it saves."
                                                : bound_sentence(gain, by != AcceptanceModel::iid)};
  if (by == AcceptanceModel::replay) {
    sentences.emplace_back(
        "The text has easy and hard stretches, so that rates by position depend on gamma: each gamma is judged by the rounds that it would have had along the logged text, which is to be of one sequence after another. Drafts of heads (--method eagle, eagle3, mtp, medusa, dflash) are judged by positions.");
  }
  if (by == AcceptanceModel::positions) {
    sentences.emplace_back(
        "Acceptance differs between positions (or between rounds, of which the easy ones get far): the i.i.d. formula is off, and gamma is chosen by acceptance as measured at each position.");
  }
  if (rounds_rejected) {
    sentences.emplace_back(
        "First tokens are accepted more (or less) often after an accepted one: intervals that take rounds as independent are too narrow; use that of stretches.");
  }
  return sentences;
}

/// Of gammas considered; an asked one that the drafter cannot draft is refused.
int most_gamma(const Drafter& drafter, const PlanSettings& settings) {
  if (!drafter.most_drafted) return settings.max_gamma;
  if (settings.asked_gamma && *settings.asked_gamma > *drafter.most_drafted) {
    const auto* const head = std::get_if<RooflineCost>(&drafter.costs.draft);
    throw UsageError("--gamma {}: {} drafts at most {} tokens a round", *settings.asked_gamma,
                     head == nullptr ? drafter.draft : head->model.source, *drafter.most_drafted);
  }
  return std::min(settings.max_gamma, *drafter.most_drafted);
}

/// c is that of the run of one token, or of the best gamma where one run drafts all.
PlannedCosts planned_costs(const Drafter& drafter, int gamma, const Operation& at) {
  const std::optional<int> in_one_run = drafted_in_one_run(drafter.costs, gamma);
  return {drafting_cost(drafter.costs, in_one_run.value_or(1), at), drafter.cost_from, at.batch, at.context,
          in_one_run};
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
  const CostPair& costs = drafter.costs;
  const double alpha = known.alpha.estimate;
  const int max_gamma = most_gamma(drafter, settings);
  DrafterPlan plan;
  if (known.log && known.log->means) {
    const LoggedMeans& means = *known.log->means;
    plan.means =
        LogMeans{known.log->format,
                 means.rounds,
                 means.drafted,
                 means.accepted,
                 means.weights.size(),
                 acceptance_metrics({.rounds = 1, .drafted = means.drafted, .accepted = means.accepted})};
  } else if (known.log) {
    plan.log = log_findings(*known.log, settings.confidence);
  }
  const SpeedupCurve iid = iid_curve(known.alpha, max_gamma, costs, settings.at);
  std::optional<SpeedupCurve> measured;
  const bool rounds_rejected = plan.log && plan.log->rounds_rejected();
  if (plan.log) {
    const AcceptanceFile& log = *known.log;
    measured = position_curve(log.rounds.empty() ? positional_tokens(log.counts, settings.confidence)
                                                 : positional_tokens(log.rounds, settings.confidence),
                              max_gamma, costs, settings.at);
    // Dependent rounds: the text has easy and hard stretches. A head drafts from its own states, so that what
    // it accepts at a position of the text depends on where its round began.
    if (rounds_rejected && reads_text_alone(drafter.method)) {
      SpeedupCurve replay =
          replay_curve(known.log->rounds, settings.confidence, max_gamma, costs, settings.at);
      if (replay.last() >= 1) measured = std::move(replay);
    }
  }
  const bool by_measured =
      measured && (measured->by == AcceptanceModel::replay || plan.log->positions_rejected());
  const SpeedupCurve& curve = by_measured ? *measured : iid;
  GammaChoice choice = best_of(curve, alpha, costs, settings.at);
  const bool all = drafter.most_drafted == choice.gamma;
  if (all) choice.reason = "As many as the drafter can draft.";
  const double best = curve.estimate[at(choice.gamma)];

  const SpeedupBounds bounds = speedup_bounds(curve, alpha, costs, settings.at);
  plan.bounds.guaranteed_speedup = bounds.guaranteed;
  plan.bounds.upper_bound_drafting_free = bounds.drafting_free;
  plan.bounds.upper_bound_drafting_paid = bounds.drafting_paid;
  if (by_measured) plan.bounds.longest_draft = curve.last();
  plan.bounds.adaptive_gain = std::max(bounds.drafting_paid / best - 1, 0.0);

  plan.device =
      device_speed(costs, settings.at, settings.memory_share, choice.gamma, curve.tokens[at(choice.gamma)]);
  static_cast<MemoryFit&>(plan) = memory_fit(costs, settings.at, settings.memory_share);
  const int max_batch =
      constant(costs) ? 0 : max_planned_batch(costs, settings.at, settings.memory_share, settings.max_batch);
  const auto limit_of = [&](const SpeedupCurve& used, int gamma) -> std::optional<int> {
    if (max_batch == 0 || gamma == 0) return std::nullopt;
    return batch_limit(used.tokens[at(gamma)], gamma, costs, settings.at.context, max_batch);
  };
  if (max_batch > 0) {
    const auto considered = std::min(curve.tokens.size(), std::max(at(choice.gamma), longest_in_batches) + 1);
    plan.batches =
        gamma_by_batch(std::span(curve.tokens.data(), considered), costs, settings.at.context, max_batch);
  }

  plan.drafter = drafter.name.empty() ? drafter.draft : drafter.name;
  plan.target = drafter.target;
  plan.alpha = {known.alpha, known.from, settings.confidence, known.note};
  plan.costs = planned_costs(drafter, choice.gamma, settings.at);
  const double tokens = curve.tokens[at(choice.gamma)];
  plan.best = {choice.gamma,
               curve.at(choice.gamma),
               speedup_at_other_costs(tokens, costs, choice.gamma, settings.at),
               tokens,
               curve.by,
               choice.reason,
               near_best(curve.estimate, little_loss)};
  if (settings.asked_gamma) {
    // A log says nothing of positions that it never reached; there the formula stands in.
    const int gamma = *settings.asked_gamma;
    const SpeedupCurve& used = gamma <= curve.last() ? curve : iid;
    plan.asked = AskedGamma{gamma, used.at(gamma), used.by, 100 * (1 - used.estimate[at(gamma)] / best),
                            limit_of(used, gamma)};
  }
  if (known.log) plan.warnings = known.log->warnings;
  if (known.longest_logged > 0 && !all) add_edge_warning(plan.warnings, known, choice.gamma, by_measured);
  plan.gammas = gamma_rows(curve, choice.gamma, drafter, settings);
  plan.advice = advice(plan.bounds.adaptive_gain, choice.gamma, curve.by, rounds_rejected);
  if (measured) {
    const SpeedupCurve& other = by_measured ? iid : *measured;
    const int gamma = best_of(other, alpha, costs, settings.at).gamma;
    plan.log->other_choice = {other.by, gamma, other.at(gamma)};
  }
  plan.batch_limit = limit_of(curve, choice.gamma);
  if (!plan.fits_reason && choice.gamma > 0) {
    ServedPlan served = served_plan(drafter, choice.gamma);
    if (plan.batches) served.batches = *plan.batches;
    const int longest = longest_planned_draft(served);
    for (int n = 1; n <= longest; ++n) served.accepted.push_back(curve.accepts(longest, n));
    plan.settings = server_settings(served);
  }
  return plan;
}

DrafterRanking rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings) {
  DrafterRanking ranked;
  for (const Drafter& drafter : drafters) ranked.ranking.push_back(make_plan(drafter, settings));
  std::stable_sort(ranked.ranking.begin(), ranked.ranking.end(),
                   [](const DrafterPlan& a, const DrafterPlan& b) {
                     if (a.fits_reason.has_value() != b.fits_reason.has_value()) return !a.fits_reason;
                     return a.best.speedup.estimate > b.best.speedup.estimate;
                   });
  return ranked;
}

}  // namespace speclab
