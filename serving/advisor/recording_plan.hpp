// Plans gamma from a recording (`speclab plan recording`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/text_fit.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/recording/recording_file.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/advisor/planning.hpp"

namespace speclab {

class AnyRule;

struct RecordedGamma {
  int gamma = 0;
  Interval tokens_per_target_step{0, 0, 0};  ///< recorded tokens divided by expected target runs
  /// The same over rounds that the end of a text does not cut short, as in endless text; empty without one.
  std::optional<double> tokens_per_whole_round;
  Interval speedup{0, 0, 0};
  double verify_cost = 0;
};

struct RecordedTask {
  std::string task;
  std::size_t sequences = 0;
  std::size_t tokens = 0;
  Interval alpha{0, 0, 0};
  std::optional<double> tokens_per_target_step;  ///< at the best gamma
};

struct RecordedSequenceFindings {
  std::string sequence;
  std::size_t tokens = 0;
  double alpha = 0;
  std::optional<double> tokens_per_target_step;  ///< at the best gamma
};

struct RecordedPosition {
  int position = 0;          ///< counted from 1 in each round
  double unconditional = 0;  ///< P[accepted]
  double conditional = 0;    ///< P[accepted | all before it accepted]
};

/// Results of checking that the text was sampled from the target, in words.
struct TextFitFindings {
  double ratio_mean = 0;
  std::string not_above_one;  ///< "fits", "does not fit", "cannot tell"
  std::string not_below_one;
  std::string entropy;
  std::optional<Interval> surprise;  ///< mean of -log p(y) minus the entropy
};

struct RecordingPlan : MemoryFit {
  std::string file;
  std::string format;
  std::string rule;
  std::size_t tokens = 0;
  std::size_t sequences = 0;
  double alpha = 0;
  std::optional<double> alpha_low, alpha_high;  ///< empty: unknown error
  std::string alpha_from;
  std::optional<std::string> interval_note;  ///< why intervals may be too narrow
  double confidence = 0.95;
  double c = 0;
  std::optional<int> drafted_in_one_run;  ///< tokens per run, if one run drafts all tokens of a round
  std::string cost_from;
  /// For gamma = 1, 2, ...; empty if the recording does not determine rounds.
  std::vector<double> tokens_per_target_step;
  std::vector<double> speedup;  ///< likewise
  /// 0: do not speculate; empty if the recording does not determine rounds.
  std::optional<int> optimal_gamma;
  std::optional<Interval> best_speedup;  ///< as BestGamma::speedup
  std::optional<SpeedupRange> speedup_at_other_costs;
  std::optional<GammaRange> within_1_percent;
  /// Best gamma by the i.i.d. formula at this alpha, its speedup by the formula, and its true speedup.
  std::optional<int> formula_gamma;
  std::optional<double> formula_speedup;
  std::optional<double> speedup_at_formula_gamma;
  std::vector<RecordedGamma> gammas;
  std::vector<RecordedPosition> positions;  ///< at the best gamma
  /// At the best gamma, over rounds that the end of a text does not cut short; empty if no gamma pays.
  std::optional<AcceptanceMetrics> metrics;
  std::vector<RecordedTask> tasks;                          ///< empty without tasks
  std::vector<RecordedSequenceFindings> sequence_findings;  ///< empty above 1,000
  std::optional<TextFitFindings> text_fit;                  ///< empty for a given text
  std::vector<std::string> warnings;                        ///< sentences; also on standard error
  std::vector<ServerSetting> settings;
};
SPECLAB_IS_DESCRIBED(RecordingPlan);

/// A rule for which a recording determines rounds, or at least an acceptance rate.
struct RecordingRule {
  std::string name = "token";
  std::optional<RecordedRule> rounds = RecordedRule::token;  ///< empty: only the rate is known, from rows
  std::string why_no_rounds = {};
};

/// Returns the rule with this name. Throws UsageError if its rate needs rows and there are none.
RecordingRule recording_rule(const std::string& name, bool has_rows);

/// Returns the rule if its rate is computed from rows. Throws UsageError for a rule without an acceptance
/// rate for single rows, and for one with required parameters.
std::optional<AnyRule> rate_rule(const std::string& name);

/// Makes the plan. `cut` says that top-k, top-p or temperature 0 were applied to the target's column.
RecordingPlan plan_recording(const ReadRecording& read, const std::string& file, const RecordingRule& rule,
                             const PlannedPair& pair, const PlanSettings& settings, bool cut = false);

Listing recording_plan_text(const RecordingPlan& plan);
std::string recording_headline(const RecordingPlan& plan);
/// Returns figures of the speedup by gamma, and of acceptance by position at the best gamma.
std::vector<Figure> recording_figures(const RecordingPlan& plan);

}  // namespace speclab
