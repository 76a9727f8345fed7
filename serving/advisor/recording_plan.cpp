#include "serving/advisor/recording_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "analysis/cost/speedup_curve.hpp"
#include "analysis/recorded/recording_estimates.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "serving/advisor/memory_fit.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

SPECLAB_RESULT(RecordedGamma, "recorded gamma", gamma, tokens_per_target_step, tokens_per_whole_round,
               speedup, verify_cost);
SPECLAB_RESULT(RecordedTask, "recorded task", task, sequences, tokens, alpha, tokens_per_target_step);
SPECLAB_RESULT(RecordedSequenceFindings, "recorded sequence", sequence, tokens, alpha,
               tokens_per_target_step);
SPECLAB_RESULT(RecordedPosition, "recorded position", position, unconditional, conditional);
SPECLAB_RESULT(TextFitFindings, "text fit", ratio_mean, not_above_one, not_below_one, entropy, surprise);
SPECLAB_RESULT(RecordingPlan, "recording plan", file, fits, fits_reason, format, rule, tokens, sequences,
               alpha, alpha_low, alpha_high, alpha_from, interval_note, confidence, c, drafted_in_one_run,
               cost_from, tokens_per_target_step, speedup, optimal_gamma, best_speedup,
               speedup_at_other_costs, within_1_percent, formula_gamma, formula_speedup,
               speedup_at_formula_gamma, gammas, positions, metrics, tasks, sequence_findings, text_fit,
               warnings, settings);

namespace {

constexpr std::size_t max_listed_sequences = 1000;
/// Largest gamma for rules whose work grows with gamma squared.
constexpr std::size_t max_of_square = 32;

struct RecordedCurve {
  IntervalUnits units;
  std::vector<GammaRounds> rounds;  ///< element 0 is for gamma 1
  std::vector<double> tokens;       ///< tokens per target step; element 0 is for gamma 0, then 1, ...
  std::vector<double> speedup;
};

RecordedCurve curve_of(const Recording& recording, const RecordingRule& rule, const CostPair& costs,
                       const PlanSettings& settings) {
  RecordedCurve curve;
  curve.units = interval_units(recording.sequences);
  auto most = static_cast<std::size_t>(settings.max_gamma);
  if (*rule.rounds != RecordedRule::token) most = std::min(most, max_of_square);
  if (recording.by_depth()) most = std::min(most, recording.draft.size());
  curve.rounds = expected_rounds(recording, curve.units.stretches, most, *rule.rounds);
  curve.tokens.push_back(1);
  for (const GammaRounds& one : curve.rounds) {
    curve.tokens.push_back(static_cast<double>(recording.size()) /
                           std::accumulate(one.rounds.begin(), one.rounds.end(), 0.0));
  }
  curve.speedup =
      speedups(curve.tokens, round_costs(costs, static_cast<int>(curve.rounds.size()), settings.at));
  return curve;
}

std::vector<RecordedGamma> gamma_rows(const RecordedCurve& curve, const CostPair& costs,
                                      const PlanSettings& settings) {
  std::vector<RecordedGamma> rows;
  for (std::size_t gamma = 1; gamma < curve.tokens.size(); ++gamma) {
    const GammaRounds& rounds = curve.rounds[gamma - 1];
    RecordedGamma row;
    row.gamma = static_cast<int>(gamma);
    row.tokens_per_target_step = tokens_per_round(curve.units, rounds.rounds, gamma, settings.confidence);
    if (rounds.whole_rounds > 0) row.tokens_per_whole_round = rounds.whole_tokens / rounds.whole_rounds;
    row.speedup = scaled(row.tokens_per_target_step, curve.speedup[gamma] / curve.tokens[gamma]);
    row.verify_cost = verify_cost(costs, static_cast<int>(gamma), settings.at);
    rows.push_back(row);
  }
  return rows;
}

/// Returns each sequence's expected rounds at the best gamma, by its first token; empty if unknown.
std::map<std::size_t, double> rounds_by_sequence(const RecordingPlan& plan, const Recording& recording,
                                                 const RecordingRule& rule) {
  std::map<std::size_t, double> found;
  if (!plan.optimal_gamma) return found;
  std::vector<double> rounds;
  if (const auto gamma = static_cast<std::size_t>(*plan.optimal_gamma); gamma > 0)
    rounds = expected_rounds(recording, sequence_stretches(recording), gamma, *rule.rounds).back().rounds;
  for (std::size_t i = 0; i < recording.sequences.size(); ++i) {
    const RecordedSequence& one = recording.sequences[i];
    found[one.first] = rounds.empty() ? static_cast<double>(one.count) : rounds[i];
  }
  return found;
}

void add_parts(RecordingPlan& plan, const Recording& recording, const RecordingRule& rule) {
  const std::map<std::size_t, double> rounds = rounds_by_sequence(plan, recording, rule);
  const std::vector<double> keep =
      recording.rows.empty() ? keep_probabilities(recording) : recording.rows.overlap;
  const auto tokens_of = [](std::span<const RecordedSequence> sequences) {
    std::size_t tokens = 0;
    for (const RecordedSequence& one : sequences) tokens += one.count;
    return tokens;
  };
  const auto efficiency = [&](std::span<const RecordedSequence> sequences) -> std::optional<double> {
    if (rounds.empty()) return std::nullopt;
    double runs = 0;
    for (const RecordedSequence& one : sequences) runs += rounds.at(one.first);
    return static_cast<double>(tokens_of(sequences)) / runs;
  };
  if (const std::vector<TaskSequences> tasks = by_task(recording); tasks.size() > 1) {
    for (const auto& [task, sequences] : tasks) {
      plan.tasks.push_back({task, sequences.size(), tokens_of(sequences),
                            mean_over_units(interval_units(sequences), keep, plan.confidence),
                            efficiency(sequences)});
    }
  }
  if (recording.sequences.size() > max_listed_sequences) return;
  for (const RecordedSequence& one : recording.sequences) {
    const auto begin = keep.begin() + static_cast<std::ptrdiff_t>(one.first);
    const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(one.count), 0.0);
    plan.sequence_findings.push_back(
        {one.name, one.count, sum / static_cast<double>(one.count), efficiency({&one, 1})});
  }
}

void check_text(RecordingPlan& plan, const Recording& recording, bool cut) {
  const TextFit fit = text_fit(recording, cut);
  const auto words = [](FitVerdict verdict) {
    return std::array{"fits", "does not fit", "cannot tell"}[static_cast<std::size_t>(verdict)];
  };
  plan.text_fit =
      TextFitFindings{fit.ratio_mean, words(fit.too_large), words(fit.too_small),
                      recording.entropy.empty() ? "no entropies" : words(fit.entropy), fit.surprise};
  for (const std::string& sentence : misfit_sentences(fit)) plan.warnings.push_back(sentence);
}

void add_rounds(RecordingPlan& plan, const Recording& recording, const RecordingRule& rule,
                const CostPair& costs, const PlanSettings& settings) {
  const RecordedCurve curve = curve_of(recording, rule, costs, settings);
  const auto most = static_cast<int>(curve.rounds.size());
  const RoundCosts rounds = round_costs(costs, most, settings.at);
  const int best = chosen_gamma(curve.speedup, rounds);
  plan.tokens_per_target_step.assign(curve.tokens.begin() + 1, curve.tokens.end());
  plan.speedup.assign(curve.speedup.begin() + 1, curve.speedup.end());
  plan.optimal_gamma = best;
  plan.gammas = gamma_rows(curve, costs, settings);
  plan.best_speedup = best == 0 ? Interval{1, 1, 1} : plan.gammas[static_cast<std::size_t>(best) - 1].speedup;
  if (best > 0) {
    plan.speedup_at_other_costs =
        speedup_at_other_costs(curve.tokens[static_cast<std::size_t>(best)], costs, best, settings.at);
  }
  plan.within_1_percent = near_best(curve.speedup, little_loss);
  const std::vector<double> formula = speedups(iid_tokens(plan.alpha, most), rounds);
  plan.formula_gamma = chosen_gamma(formula, rounds);
  plan.formula_speedup = formula[static_cast<std::size_t>(*plan.formula_gamma)];
  plan.speedup_at_formula_gamma = curve.speedup[static_cast<std::size_t>(*plan.formula_gamma)];
  if (best > 0) {
    std::vector<double> accepted;
    std::vector<double> given;
    for (const auto& [all, given_before] :
         accepted_by_position(recording, static_cast<std::size_t>(best), *rule.rounds)) {
      plan.positions.push_back({static_cast<int>(accepted.size()) + 1, all, given_before});
      accepted.push_back(all);
      given.push_back(given_before);
    }
    plan.metrics = acceptance_metrics(mean_round(accepted));
    // Each unconditional rate is over rounds with that many tokens left, so ratios of neighbours would
    // compare different rounds; `given` is over the same ones.
    plan.metrics->by_position_given = given;
  }
  if (best == most && most < settings.max_gamma && recording.by_depth()) {
    plan.warnings.push_back(fmt::format(
        "The best γ, {}, is the last that the recording has a column for: record more depths to look further.",
        most));
  } else if (best > 0 && best == known_costs(costs).max_gamma) {
    plan.warnings.push_back(fmt::format(
        "The best γ, {}, is the longest draft whose times are measured: a longer one may be better.", best));
  } else if (best > 0 && best == most) {
    plan.warnings.push_back(
        fmt::format("The best γ, {}, is the largest considered: a larger one may be better.", best));
  }
}

}  // namespace

RecordingPlan plan_recording(const ReadRecording& read, const std::string& file, const RecordingRule& rule,
                             const PlannedPair& pair, const PlanSettings& settings, bool cut) {
  const Recording& recording = read.recording;
  const CostPair& costs = pair.costs;
  RecordingPlan plan;
  plan.file = file;
  plan.format = read.format;
  plan.rule = rule.name;
  plan.tokens = recording.size();
  plan.sequences = recording.sequences.size();
  plan.confidence = settings.confidence;
  plan.cost_from = pair.cost_from;
  const Interval alpha = recorded_alpha(recording, recording.sequences, settings.confidence);
  plan.alpha = alpha.estimate;
  if (alpha.bounded()) {
    plan.alpha_low = std::clamp(alpha.low, 0.0, 1.0);
    plan.alpha_high = std::clamp(alpha.high, 0.0, 1.0);
    const IntervalUnits units = interval_units(recording.sequences);
    if (units.stretches.size() < min_skewed_batches) {
      plan.interval_note = fmt::format(
          "over {} {}, which are too few to show how skewed they are; if a tenth of them are of another kind, 95% intervals hold in 58% of cases with 8 of them and in 88% with 20: record {} sequences or more",
          units.stretches.size(), units.whole_sequences ? "sequences" : "stretches of the text",
          min_skewed_batches);
    }
  }
  plan.alpha_from =
      recording.rows.empty() ? "mean of min(1, q/p) over the text" : "mean acceptance rate of the rows";
  if (recording.drawn) check_text(plan, recording, cut);
  if (!recording.drawn) {
    plan.warnings.push_back(
        "The text was given to the target, not drawn from it: its rows show acceptance in these contexts, but do not determine rounds. Record a text that the target generates.");
  } else if (!rule.rounds) {
    plan.warnings.push_back(rule.why_no_rounds);
  } else {
    add_rounds(plan, recording, rule, costs, settings);
  }
  const int gamma = plan.optimal_gamma.value_or(0);
  static_cast<MemoryFit&>(plan) = memory_fit(costs, settings.at, settings.memory_share, gamma);
  append_notes(costs, plan.warnings);
  plan.drafted_in_one_run = drafted_in_one_run(costs, plan.optimal_gamma.value_or(1));
  plan.c = drafting_cost(costs, plan.drafted_in_one_run.value_or(1), settings.at);
  if (gamma > 0 && !plan.fits_reason) {
    ServedPlan served = served_plan(pair, gamma);
    served.purpose =
        planned_load(fmt::format("γ = {}", *plan.optimal_gamma), plan.alpha, served, settings.at);
    for (const RecordedPosition& row : plan.positions) served.accepted.push_back(row.unconditional);
    plan.settings = server_settings(served);
  }
  add_parts(plan, recording, rule);
  return plan;
}

}  // namespace speclab
