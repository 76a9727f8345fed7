// What `speclab plan` finds: plain structs, from which its JSON and its text are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/device_speed.hpp"
#include "analysis/cost/speculation_cost.hpp"
#include "analysis/cost/speedup_curve.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/acceptance_metrics.hpp"
#include "analysis/statistics/gamma_choice.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "serving/advisor/memory_fit.hpp"

namespace speclab {

struct PlannedAlpha {
  Interval value{0, 0, 0};  ///< low = high when alpha is known exactly
  std::string from;         ///< "given", "log (maximum likelihood)", "the models, exactly", "simulation"
  double confidence = 0.95;
  std::optional<std::string> note = {};  ///< how it was read, where it may be meant otherwise

  bool estimated() const { return value.low != value.high; }
};

struct PlannedCosts {
  double c = 0;  ///< a draft run over a plain target run
  std::string from;
  double batch = 1;
  double context = 0;
  /// Tokens that this run drafts, where one run drafts all of a round; none where each token is a run.
  std::optional<int> drafted_in_one_run = {};
};

/// Of `within_1_percent`: gammas that lose no more than this share of the best speedup.
inline constexpr double little_loss = 0.01;

struct BestGamma {
  int gamma = 0;
  Interval speedup{0, 0, 0};  ///< its bounds are those of acceptance; costs are taken as exact
  std::optional<SpeedupRange> speedup_at_other_costs = {};  ///< of a roofline
  double tokens_per_target_step = 0;
  AcceptanceModel by = AcceptanceModel::iid;
  std::string reason;
  GammaRange within_1_percent;
};

struct AskedGamma {
  int gamma = 0;
  Interval speedup{0, 0, 0};
  AcceptanceModel by = AcceptanceModel::iid;
  double loss_percent = 0;         ///< of the best speedup
  std::optional<int> batch_limit;  ///< as DrafterPlan::batch_limit, for this gamma
};

struct GammaRow {
  int gamma = 0;
  double tokens_per_target_step = 0;
  Interval speedup{0, 0, 0};
  double verify_cost = 0;  ///< a target run over gamma + 1 positions, in plain target runs
};

struct PlanBounds {
  std::optional<double> guaranteed_speedup;         ///< Leviathan et al. 2023, Cor. 3.9
  std::optional<double> upper_bound_drafting_free;  ///< of choices of gamma that know what will be accepted
  double upper_bound_drafting_paid = 0;
  /// By positions alone: the most tokens that the bound with drafting paid drafts in a round, as far as the
  /// log's rounds went. Longer drafts may be above it.
  std::optional<int> longest_draft;
  double adaptive_gain = 0;  ///< upper_bound_drafting_paid over the best, less 1
};

/// The choice by the other model of acceptance.
struct OtherChoice {
  AcceptanceModel by = AcceptanceModel::iid;
  int gamma = 0;
  Interval speedup{0, 0, 0};
};

/// What a log shows that tells neither rounds nor positions.
struct LogMeans {
  std::string format;        ///< a name of log_formats()
  std::uint64_t rounds = 0;  ///< 0 where they are not counted
  double drafted = 0;        ///< a round
  double accepted = 0;       ///< a round
  std::size_t lines = 0;     ///< of means, where rounds are not counted
  AcceptanceMetrics metrics;
};

/// What a log of rounds shows.
struct LogFindings : LogFit {
  std::string format;  ///< a name of log_formats(); empty of a simulation
  std::uint64_t rounds = 0;
  std::uint64_t examined = 0;
  std::uint64_t accepted = 0;
  bool iid_rejected = false;                 ///< as LogFit has it
  std::optional<AcceptanceMetrics> metrics;  ///< of a log; a simulation has its own
  OtherChoice other_choice;
};

/// How a server is told to carry the plan out.
struct ServerSetting {
  /// The same for versions that do not know the present form.
  struct OlderForm {
    std::string versions;
    std::vector<std::string> lines;
  };
  std::string server;
  std::string checked;  ///< the version whose documentation the options were read from
  std::string check;    ///< what tells whether one's own version knows them
  std::vector<std::string> lines = {};
  std::vector<OlderForm> older = {};
  std::vector<std::string> notes = {};  ///< sentences
  /// The same for benchmarks: drafts are accepted as planned, whatever they are. The text is not the
  /// target's.
  struct Synthetic {
    std::string line;
    std::string law;  ///< of what it accepts, in words
  };
  std::optional<Synthetic> synthetic = {};  ///< none where the server cannot, or acceptance is not known
};

struct DrafterPlan : MemoryFit {
  std::string drafter;
  std::string target;
  PlannedAlpha alpha;
  PlannedCosts costs;
  BestGamma best;
  std::optional<AskedGamma> asked;
  std::vector<GammaRow> gammas;  ///< around the best
  PlanBounds bounds;
  std::vector<std::string> advice;    ///< sentences
  std::vector<std::string> warnings;  ///< sentences
  std::optional<LogFindings> log;
  std::optional<LogMeans> means;
  std::optional<std::vector<BatchRange>> batches;  ///< none when costs do not depend on the batch
  /// The largest batch at which the best gamma, kept fixed, still pays.
  std::optional<int> batch_limit;
  std::optional<DeviceFindings> device;  ///< none without a roofline
  std::vector<ServerSetting> settings;   ///< empty when speculation does not pay, and when it does not fit
};

/// One plan a drafter: those that fit before those that do not, the fastest first.
struct DrafterRanking {
  std::vector<DrafterPlan> ranking;
};

template <>
const Typed<SpeedupRange>& described();
template <>
const Typed<AcceptanceMetrics>& described();
template <>
const Typed<DrafterPlan>& described();
template <>
const Typed<DrafterRanking>& described();

}  // namespace speclab
