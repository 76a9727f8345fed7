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

namespace speclab {

namespace {

/// Smallest gain for which changing gamma during decoding is worth the effort.
constexpr double adaptive_threshold = 0.05;
/// Longest draft in the search over batches; larger batches favour shorter drafts.
constexpr std::size_t longest_in_batches = 32;

std::size_t at(int gamma) { return static_cast<std::size_t>(gamma); }

std::vector<GammaRow> gamma_rows(const SpeedupCurve& curve, int best) {
  const int last = curve.last();
  std::set<int> shown{best - 1, best, best + 1};
  for (const int gamma : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32}) {
    if (gamma <= std::max(8, 2 * best)) shown.insert(gamma);
  }
  std::vector<GammaRow> rows;
  for (const int gamma : shown) {
    if (gamma < 1 || gamma > last) continue;
    rows.push_back({gamma, curve.tokens[at(gamma)], curve.at(gamma), curve.costs.verify[at(gamma)]});
  }
  return rows;
}

/// Adds results of a log of rounds, or of means.
void add_log(const Acceptance& known, double confidence, DrafterPlan& plan) {
  if (!known.log) return;
  const AcceptanceFile& log = *known.log;
  if (log.means) {
    const LoggedMeans& means = *log.means;
    plan.means =
        LogMeans{log.format,
                 means.rounds,
                 means.drafted,
                 means.accepted,
                 means.weights.size(),
                 acceptance_metrics({.rounds = 1, .drafted = means.drafted, .accepted = means.accepted})};
    return;
  }
  LogFindings& found = plan.log.emplace();
  static_cast<LogFit&>(found) = log_fit(log.rounds, log.counts, confidence);
  found.format = log.format;
  found.rounds = log.counts.rounds;
  found.examined = log.counts.total_examined();
  found.accepted = log.counts.total_accepted();
  found.iid_rejected = found.LogFit::iid_rejected();
  found.metrics = acceptance_metrics(
      log.rounds.empty() ? sums_of(log.counts, static_cast<double>(log.drafted)) : sums_of(log.rounds));
}

/// Returns the largest gamma to consider, for a log of any length.
int max_gamma(const Drafter& drafter, const PlanSettings& settings) {
  return std::min(settings.max_gamma, drafter.max_drafted.value_or(settings.max_gamma));
}

/// Speedups by gamma, by the i.i.d. formula and, if a log gives it, by measured acceptance.
struct Curves {
  SpeedupCurve iid;
  std::optional<SpeedupCurve> measured = {};
  bool by_measured = false;  ///< the i.i.d. formula is rejected

  const SpeedupCurve& used() const { return by_measured ? *measured : iid; }
};

Curves curves_of(const Drafter& drafter, const PlanSettings& settings,
                 const std::optional<LogFindings>& found) {
  // Acceptance beyond the log's longest draft is not known.
  int longest = max_gamma(drafter, settings);
  if (const auto& log = drafter.acceptance.log) longest = std::min(longest, static_cast<int>(log->longest()));
  const RoundCosts costs = round_costs(drafter.costs, longest, settings.at);
  Curves curves{iid_curve(drafter.acceptance.alpha, costs)};
  if (!found) return curves;
  const AcceptanceFile& log = *drafter.acceptance.log;
  curves.measured = position_curve(log.rounds.empty() ? positional_tokens(log.counts, settings.confidence)
                                                      : positional_tokens(log.rounds, settings.confidence),
                                   costs);
  curves.by_measured = found->positions_rejected();
  // Rounds are dependent because some passages of text are easier than others. The log is replayed only for
  // drafts that read the text alone: for a head, a position's acceptance depends on where the round began.
  const bool reads_text_alone = drafter.method == DraftMethod::draft || drafter.method == DraftMethod::ngram;
  if (!found->rounds_rejected() || !reads_text_alone) return curves;
  SpeedupCurve replay = replay_curve(log.rounds, settings.confidence, costs);
  if (replay.last() < 1) return curves;
  curves.measured = std::move(replay);
  curves.by_measured = true;
  return curves;
}

/// Adds the best gamma and those around it, and the costs: c is that of a run that drafts one token or, if
/// one run drafts all tokens of a round, that of the run for the best gamma.
void add_choice(const GammaChoice& choice, const Drafter& drafter, const PlanSettings& settings,
                const Curves& curves, DrafterPlan& plan) {
  const SpeedupCurve& curve = curves.used();
  const double tokens = curve.tokens[at(choice.gamma)];
  plan.best = {choice.gamma,
               curve.at(choice.gamma),
               speedup_at_other_costs(tokens, drafter.costs, choice.gamma, settings.at),
               tokens,
               curve.by,
               drafter.max_drafted != choice.gamma ? choice.reason
               : known_costs(drafter.costs).max_gamma <= choice.gamma
                   ? "This is the longest draft whose times are measured: a longer one may be better."
                   : "This is the most that the drafter can draft.",
               near_best(curve.estimate, little_loss)};
  const std::optional<int> in_one_run = drafted_in_one_run(drafter.costs, choice.gamma);
  plan.costs = {.c = drafting_cost(drafter.costs, in_one_run.value_or(1), settings.at),
                .from = drafter.cost_from,
                .batch = settings.at.batch,
                .drafted_in_one_run = in_one_run};
  if (!known_costs(drafter.costs).measured()) plan.costs.context = settings.at.context;
  plan.gammas = gamma_rows(curve, choice.gamma);
}

void add_bounds(const SpeedupBounds& bounds, const Drafter& drafter, const Curves& curves,
                DrafterPlan& plan) {
  plan.bounds.guaranteed_speedup = bounds.guaranteed;
  plan.bounds.upper_bound_drafting_free = bounds.drafting_free;
  plan.bounds.upper_bound_drafting_paid = bounds.drafting_paid;
  const bool of_log = drafter.acceptance.log && !bounds.guaranteed;
  if (of_log || known_costs(drafter.costs).measured()) plan.bounds.longest_draft = curves.used().last();
  plan.bounds.adaptive_gain = std::max(bounds.drafting_paid / plan.best.speedup.estimate - 1, 0.0);
}

/// Adds device results and, if costs depend on the batch, gamma by batch and the best gamma's largest batch.
void add_device(const CostPair& costs, const PlanSettings& settings, const Curves& curves,
                DrafterPlan& plan) {
  plan.device = device_speed(costs, settings.at, settings.memory_share, plan.best.gamma,
                             plan.best.tokens_per_target_step);
  static_cast<MemoryFit&>(plan) = memory_fit(costs, settings.at, settings.memory_share, plan.best.gamma);
  const PlannedBatches batches = planned_batches(plan, costs, settings.at.batch, settings.max_batch);
  if (batches.last < batches.first) return;
  plan.batches_measured = batches.measured;
  const std::vector<double>& tokens = curves.used().tokens;
  const auto considered = std::min(tokens.size(), std::max(at(plan.best.gamma), longest_in_batches) + 1);
  plan.batches = gamma_by_batch(std::span(tokens.data(), considered), costs, settings.at.context,
                                batches.last, batches.first);
  if (plan.best.gamma > 0)
    plan.batch_limit = batch_limit(tokens[at(plan.best.gamma)], plan.best.gamma, costs, settings.at.context,
                                   batches.last, batches.first);
}

/// Warns if the best gamma is the longest draft of a log and more may be better, and says what to log next.
void add_edge_warning(const Drafter& drafter, const PlanSettings& settings, const Curves& curves,
                      DrafterPlan& plan) {
  const Acceptance& known = drafter.acceptance;
  if (!known.log) return;
  const auto longest = static_cast<int>(known.log->longest());
  const int most = max_gamma(drafter, settings);
  if (plan.best.gamma < longest || most <= longest) return;
  const SpeedupCurve beyond = iid_curve(known.alpha, round_costs(drafter.costs, most, settings.at));
  const int best = curves.by_measured ? longest : best_of(beyond).gamma;
  if (!curves.by_measured && best <= longest) return;
  const int next = std::min(most, std::max(best, longest + std::max(2, longest / 2)));
  std::string sentence =
      fmt::format("The best gamma, {}, is the longest draft of the log: more may be better.", longest);
  if (best > longest)
    sentence += fmt::format(
        " If later positions are accepted as often, gamma = {} gives {:.4g}; no log shows that yet.", best,
        beyond.at(best).estimate);
  constexpr double examined = 400;  // gives a standard error of at most 0.025
  constexpr double max_rounds = 1e6;
  const double rounds = rounds_to_examine(known.alpha.estimate, next, examined);
  sentence +=
      rounds <= max_rounds
          ? fmt::format(
                " Log about {:.0f} rounds of {} drafted tokens, and plan again: then position {} is examined some {:.0f} times.",
                std::ceil(rounds / 100) * 100, next, next, examined)
          : fmt::format(" Log rounds of {} drafted tokens, and plan again.", std::min(most, longest + 2));
  plan.warnings.push_back(std::move(sentence));
}

/// Returns a sentence about the largest gain that any choice of gamma could bring. `longest` is the longest
/// draft for which it holds; `by_positions` says that acceptance by position is known.
std::string bound_sentence(double gain, bool by_positions, const std::optional<int>& longest) {
  const std::string bound = fmt::format(
      "a policy that drafted exactly what will be accepted{}, and paid for it, would be {:.{}f}% faster",
      longest ? fmt::format(" (at most {} tokens)", *longest) : "", 100 * gain,
      gain < adaptive_threshold ? 1 : 0);
  if (gain < adaptive_threshold) return fmt::format("Keep gamma fixed: even {}.", bound);
  return fmt::format(
      "At most, {}. {}", bound,
      by_positions
          ? "A policy that tells hard rounds from easy ones can reach a part of it."
          : "A policy gains only if it can tell tokens apart, such as by the draft's confidence; if acceptance is i.i.d. it gains nothing.");
}

std::vector<std::string> advice(const PlanBounds& bounds, int gamma, AcceptanceModel by,
                                bool rounds_rejected) {
  std::vector<std::string> sentences{
      gamma == 0 ? "Do not speculate: drafting costs more than it saves."
                 : bound_sentence(bounds.adaptive_gain, by != AcceptanceModel::iid, bounds.longest_draft)};
  if (by == AcceptanceModel::replay) {
    sentences.emplace_back(
        "The text has easy and hard passages, so rates by position depend on gamma: each gamma is judged by the rounds that it would have had along the logged text, which must consist of one sequence after another. Drafts of heads (--method eagle, eagle3, mtp, medusa, dflash) are judged by positions.");
  }
  if (by == AcceptanceModel::positions) {
    sentences.emplace_back(
        "Acceptance differs between positions (or between rounds: easy ones reach later positions). The i.i.d. formula is wrong here; gamma is chosen by the measured acceptance at each position.");
  }
  if (rounds_rejected) {
    sentences.emplace_back(
        "First tokens are accepted more (or less) often after an accepted one: intervals that take rounds as independent are too narrow; use the one by pieces of the log.");
  }
  return sentences;
}

}  // namespace

Acceptance logged_acceptance(AcceptanceFile log, double confidence) {
  if (log.means) {
    const Interval alpha = alpha_of_means(*log.means, confidence);
    return {alpha, "log (mean accepted tokens per round, i.i.d.)", std::move(log)};
  }
  const Interval alpha =
      *binomial_interval(log.counts.total_accepted(), log.counts.total_examined(), confidence);
  return {alpha, "log (maximum likelihood)", std::move(log)};
}

void refuse_unservable(const CostPair& costs, const std::string& path, double context) {
  for (const CostModel* cost : {&costs.target, &costs.draft}) {
    const auto* const times = std::get_if<MeasuredCost>(cost);
    const bool one_token = cost == &costs.target || draft_runs(costs) == DraftRuns::a_token;
    if (times == nullptr || times->min_tokens() <= 1 || !one_token) continue;
    throw ConfigError(
        path + (cost == &costs.target ? "/target_times" : "/draft_times"),
        "the shortest measured run is over {:g} tokens, and c and speedups are relative to a run over one: measure one over 1 token, too",
        times->min_tokens());
  }
  const auto* const target = std::get_if<RooflineCost>(&costs.target);
  const auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  if (target != nullptr && target->model.heads % target->machine.devices != 0)
    throw ConfigError(path + "/devices",
                      "{}: engines give each device the same number of heads, and {} has {}",
                      target->machine.devices, target->model.name, target->model.heads);
  if (target != nullptr && draft != nullptr && target->model.vocab > 0 && draft->model.vocab > 0 &&
      std::abs(std::log(double(draft->model.vocab) / target->model.vocab)) > 0.01)  // more than padding
    throw ConfigError(
        path + "/draft",
        "{} has {} tokens and the target {} {}: a draft model needs the target's. For an engine that translates tokens, give c",
        draft->model.name, draft->model.vocab, target->model.name, target->model.vocab);
  for (const auto& [key, cost] : {std::pair{"/target", target}, {"/draft", draft}}) {
    if (cost == nullptr || cost->model.is_head() || cost->model.positions == 0 ||
        context <= cost->model.positions)
      continue;
    throw ConfigError(
        path + key,
        "{} reads at most {:.0f} tokens (/max_position_embeddings), and the context has {:.6g}: give a shorter one, or a config.json with its rope_scaling",
        cost->model.name, cost->model.positions, context);
  }
}

DrafterPlan make_plan(const Drafter& drafter, const PlanSettings& settings) {
  DrafterPlan plan;
  plan.drafter = drafter.draft;
  if (const auto* known = std::get_if<RooflineCost>(&drafter.costs.draft); known && plan.drafter.empty())
    plan.drafter = known->model.name;
  plan.target = drafter.target;
  plan.alpha = {drafter.acceptance.alpha, drafter.acceptance.from, settings.confidence,
                drafter.acceptance.note};
  add_log(drafter.acceptance, settings.confidence, plan);
  const Curves curves = curves_of(drafter, settings, plan.log);
  const GammaChoice choice = best_of(curves.used());
  if (curves.measured) {
    const SpeedupCurve& other = curves.by_measured ? curves.iid : *curves.measured;
    const int gamma = best_of(other).gamma;
    plan.log->other_choice = {other.by, gamma, other.at(gamma)};
  }
  const SpeedupBounds bounds = speedup_bounds(curves.used());
  add_choice(choice, drafter, settings, curves, plan);
  add_bounds(bounds, drafter, curves, plan);
  add_device(drafter.costs, settings, curves, plan);
  if (drafter.acceptance.log) plan.warnings = drafter.acceptance.log->warnings;
  append_notes(drafter.costs, plan.warnings);
  if (plan.best.speedup.estimate > bounds.drafting_paid * (1 + 1e-9)) {
    plan.warnings.emplace_back(
        "The speedup exceeds its bound, because a longer run of the target takes less time than a shorter one: check the measured times.");
  }
  add_edge_warning(drafter, settings, curves, plan);
  plan.advice =
      advice(plan.bounds, plan.best.gamma, curves.used().by, plan.log && plan.log->rounds_rejected());
  if (plan.log && plan.log->rounds_rejected() && plan.log->alpha_by_stretches) {
    plan.alpha.value = *plan.log->alpha_by_stretches;
    plan.alpha.from = "log (by 20 pieces, because its rounds are not independent)";
  }
  plan.curve = curves.used();
  return plan;
}

std::vector<ServerSetting> drafter_settings(const PlannedPair& pair, const DrafterPlan& plan) {
  if (plan.fits_reason || plan.best.gamma == 0) return {};
  ServedPlan served = served_plan(pair, plan.best.gamma);
  if (plan.batches) served.batches = *plan.batches;
  served.purpose = planned_load(fmt::format("γ = {}", plan.best.gamma), plan.alpha.value.estimate, served,
                                {plan.costs.batch, plan.costs.context.value_or(0)});
  const int longest = longest_planned_draft(served);
  for (int n = 1; n <= longest; ++n) served.accepted.push_back(plan.curve.accepts(longest, n));
  return server_settings(served);
}

}  // namespace speclab
