// The results of `speclab plan` as plain structs, from which its JSON and text are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "analysis/cost/device_speed.hpp"
#include "analysis/cost/speedup_curve.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/acceptance_metrics.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "serving/advisor/memory_fit.hpp"

namespace speclab {

struct PlannedAlpha {
  Interval value{0, 0, 0};  ///< low = high if alpha is exact
  std::string from;         ///< "given", "log (maximum likelihood)"
  double confidence = 0.95;
  std::optional<std::string> note = {};  ///< how alpha was interpreted, if there are other ways

  bool estimated() const { return value.low != value.high; }
};

struct PlannedCosts {
  double c = 0;  ///< time of a draft run divided by that of a target run over one token
  std::string from;
  double batch = 1;
  std::optional<double> context = {};  ///< empty for measured times, whose context is not known
  /// Tokens per run if one run drafts all tokens of a round; empty if each token takes a run.
  std::optional<int> drafted_in_one_run = {};
};

/// `within_1_percent` holds gammas that lose at most this share of the best speedup.
inline constexpr double little_loss = 0.01;

struct BestGamma {
  int gamma = 0;
  Interval speedup{0, 0, 0};  ///< interval from acceptance only; costs count as exact
  std::optional<SpeedupRange> speedup_at_other_costs = {};  ///< only for a roofline
  double tokens_per_target_step = 0;
  AcceptanceModel by = AcceptanceModel::iid;
  std::string reason;
  GammaRange within_1_percent;
};

struct GammaRow {
  int gamma = 0;
  double tokens_per_target_step = 0;
  Interval speedup{0, 0, 0};
  double verify_cost = 0;  ///< time of a target run over gamma + 1 positions, relative to one position
};

struct PlanBounds {
  std::optional<double> guaranteed_speedup;  ///< Leviathan et al. 2023, Cor. 3.9
  /// Speedups of a drafter that drafts exactly the tokens that will be accepted: upper bounds.
  std::optional<double> upper_bound_drafting_free;
  double upper_bound_drafting_paid = 0;
  /// The longest draft that the bound with drafting paid may use, if acceptance is known by position or times
  /// are measured: the log's longest, or the longest measured. Longer drafts may exceed the bound.
  std::optional<int> longest_draft;
  double adaptive_gain = 0;  ///< upper_bound_drafting_paid divided by the best speedup, minus 1
};

/// The best gamma under the other assumption about acceptance: i.i.d., or by position.
struct OtherChoice {
  AcceptanceModel by = AcceptanceModel::iid;
  int gamma = 0;
  Interval speedup{0, 0, 0};
};

/// Results of a log without rounds or positions.
struct LogMeans {
  std::string format;        ///< name of an entry of log_formats()
  std::uint64_t rounds = 0;  ///< 0 if not counted
  double drafted = 0;        ///< per round
  double accepted = 0;       ///< per round
  std::size_t lines = 0;     ///< number of lines of means, if rounds are not counted
  AcceptanceMetrics metrics;
};

/// Results of a log of rounds.
struct LogFindings : LogFit {
  std::string format;  ///< name of an entry of log_formats()
  std::uint64_t rounds = 0;
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
  bool iid_rejected = false;  ///< LogFit::iid_rejected()
  AcceptanceMetrics metrics;
  OtherChoice other_choice;
};

/// Settings with which a server carries out the plan.
struct ServerSetting {
  /// The settings for versions that do not know the present form.
  struct OlderForm {
    std::string versions;
    std::vector<std::string> lines;
  };
  std::string server;
  std::string purpose;  ///< the planned choice and the load it was computed for, in words
  std::string checked;  ///< version whose documentation the options come from
  std::string check;    ///< command or page that shows whether a version knows the options
  std::vector<std::string> lines = {};
  std::vector<OlderForm> older = {};
  std::vector<std::string> notes = {};  ///< sentences
  /// Settings for benchmarks: the server accepts drafts with the planned probabilities, whatever their
  /// tokens, so the text is meaningless.
  struct Synthetic {
    std::string line;
    std::string law;  ///< distribution of the number of accepted tokens, in words
  };
  std::optional<Synthetic> synthetic = {};  ///< empty if the server cannot do it, or acceptance is unknown
};

struct DrafterPlan : MemoryFit {
  std::string drafter;
  std::string target;
  PlannedAlpha alpha;
  PlannedCosts costs;
  BestGamma best;
  std::vector<GammaRow> gammas;  ///< gammas around the best
  PlanBounds bounds;
  std::vector<std::string> advice;    ///< sentences
  std::vector<std::string> warnings;  ///< sentences
  std::optional<LogFindings> log;
  std::optional<LogMeans> means;
  /// Empty if costs do not depend on the batch, or are measured at one batch only.
  std::optional<std::vector<BatchRange>> batches;
  bool batches_measured = false;  ///< `batches` ends with the largest that was measured; not written
  /// Largest batch at which speculation pays with the best gamma, kept fixed.
  std::optional<int> batch_limit;
  std::optional<DeviceFindings> device;  ///< empty without a roofline
  std::vector<ServerSetting> settings;   ///< by drafter_settings
  SpeedupCurve curve = {};               ///< from which gamma was chosen; not written
};

SPECLAB_IS_DESCRIBED(SpeedupRange);
SPECLAB_IS_DESCRIBED(AcceptanceMetrics);
SPECLAB_IS_DESCRIBED(DrafterPlan);

}  // namespace speclab
