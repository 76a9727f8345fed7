// The time of one run of a model: constant (Leviathan et al. 2023), measured, or by the roofline; and the
// costs of rounds that a pair of models has.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Every run takes the same time for any tokens and sequences: a target run 1, a draft run c (Leviathan et
/// al. 2023, section 3.3, "enough compute resources").
struct ConstantCost {
  double ms = 1;
};

/// One measurement: a run over `tokens` positions of each of `batch` sequences took `ms` milliseconds.
struct MeasuredPoint {
  double tokens = 1;
  double batch = 1;
  double ms = 0;
};

/// Measured times on a complete grid of tokens and batches; between grid points the time is bilinear. Below
/// the grid it is the first value; beyond the grid the last slope continues if it is positive. The context
/// length is that of the measurement.
class MeasuredCost {
 public:
  /// Throws std::invalid_argument if there are no points, a number is not positive, a point is given twice,
  /// or (tokens, batch) of the grid is missing.
  explicit MeasuredCost(std::span<const MeasuredPoint> points);

  double ms(double tokens, double batch) const;
  /// Returns where the times do not rise from the last but one point of an axis to the last, such as "from 2
  /// to 4 tokens at batch 8": runs beyond the grid then take no longer. Empty if they rise, or if the axis
  /// has one point.
  std::string flat_end() const;

  /// Returns whether a run over the most tokens takes at least 2% less time than one over the fewest.
  bool falls() const {
    constexpr double noise = 0.02;
    return std::any_of(batches_.begin(), batches_.end(), [&](double batch) {
      return ms(max_tokens(), batch) < (1 - noise) * ms(min_tokens(), batch);
    });
  }

  double min_tokens() const { return tokens_.front(); }
  double max_tokens() const { return tokens_.back(); }
  double min_batch() const { return batches_.front(); }
  double max_batch() const { return batches_.back(); }

 private:
  std::vector<double> tokens_;   ///< increasing
  std::vector<double> batches_;  ///< increasing
  std::vector<double> ms_;       ///< by tokens, then batch
};

struct RooflineCost {
  Machine machine;
  Transformer model;
};

using CostModel = std::variant<ConstantCost, MeasuredCost, RooflineCost>;

/// Returns milliseconds of one run; for ConstantCost, in its own unit.
double run_ms(const CostModel& cost, const Run& run);

/// The runs in which a drafter makes the tokens of a round: one run per token, in sequence, or one run for
/// all, as Medusa heads and DFlash blocks do.
enum class DraftRuns { a_token, a_round };

struct CostPair {
  CostModel target;
  CostModel draft;
  /// For a draft whose time is constant or measured; a Transformer determines it itself. If one run drafts a
  /// round, times are by the number of tokens that it drafts.
  DraftRuns stated = DraftRuns::a_token;
};

DraftRuns draft_runs(const CostPair& costs);

/// The batches and drafts at which the times of a pair are known: no bounds, except those of measured times.
struct KnownCosts {
  double min_batch = 1;
  double max_batch = std::numeric_limits<double>::infinity();
  double max_gamma = std::numeric_limits<double>::infinity();  ///< 0 if only runs over one token are measured

  bool measured() const { return max_batch < std::numeric_limits<double>::infinity(); }
};
KnownCosts known_costs(const CostPair& costs);

/// Returns whether neither cost depends on tokens, batch or context.
bool constant(const CostPair& costs);

/// The operating point of a server: sequences decoded together, and tokens before each.
struct Operation {
  double batch = 1;
  double context = 0;
};

/// Returns the target run that verifies `gamma` drafts.
Run verifying(int gamma, const Operation& at);

/// Returns the milliseconds (for ConstantCost, in its own unit) of drafting `gamma` tokens for each sequence,
/// 0 for none: gamma runs of one token, or one run for all.
double drafting_ms(const CostPair& costs, double gamma, const Operation& at);

/// Returns the time, in the unit of drafting_ms, in which the draft reads `run.tokens` known tokens of each
/// sequence: a prompt, or the token of a round with gamma = 0. Returns 0 for DraftRuns::a_round with constant
/// or measured times, from which it is not known.
double reading_ms(const CostPair& costs, const Run& run);

/// Returns the cost of drafting `gamma` tokens, in plain target runs at the same batch: gamma c if each token
/// takes a run.
double drafting_cost(const CostPair& costs, int gamma, const Operation& at);

/// Returns c: the time of a draft run of one token over that of a plain target run, at the same batch.
double draft_cost(const CostPair& costs, const Operation& at);

/// Returns the number of tokens in the draft run that drafts all `gamma` tokens, at least 1; empty if each
/// token takes a run.
std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma);

/// Returns the time of a target run over gamma + 1 positions over that of one over a single position: 1 if
/// verifying is free.
double verify_cost(const CostPair& costs, int gamma, const Operation& at);

/// The costs of rounds at one operating point, in plain target runs at the same batch. Theorem 3.8 of
/// Leviathan et al. 2023 if verifying is not free: its denominator gets the cost of a target run over gamma +
/// 1 positions.
struct RoundCosts {
  double c = 0;                     ///< a draft run of one token
  std::vector<double> drafts = {};  ///< drafting gamma tokens, indexed by gamma
  std::vector<double> verify = {};  ///< a target run over gamma + 1 positions, indexed by gamma
  DraftRuns runs = DraftRuns::a_token;
  bool constant = false;  ///< neither cost depends on tokens, batch or context

  int last() const { return static_cast<int>(drafts.size()) - 1; }
  /// Returns the cost of a round that drafts `gamma` tokens.
  double of(int gamma) const;
};

/// Returns the costs for gamma = 0..most, `most` 0 or more.
RoundCosts round_costs(const CostPair& costs, int most, const Operation& at);

/// Returns the gamma to choose among `speeds`, indexed by gamma (not empty): the first of the largest or, if
/// drafting takes no time, the smallest gamma above 0 down to which speeds are within 1% of the largest.
int chosen_gamma(std::span<const double> speeds, const RoundCosts& costs);

struct SpeedupRange {
  double low = 0;
  double high = 0;
};

/// Returns the range of the speedup at `gamma`, whose rounds emit `tokens`, over possible errors of the
/// roofline's assumptions: both efficiencies a fifth lower or higher (at most 1), and all overheads half or
/// double, in every combination, the same for target and draft. A draft run of constant time stays the same
/// share of a plain target run. Returns none without a roofline, and for gamma 0.
std::optional<SpeedupRange> speedup_at_other_costs(double tokens, const CostPair& costs, int gamma,
                                                   const Operation& at);

/// Batches first..last for which `gamma` is the best (0: do not speculate).
struct BatchRange {
  int first = 1;
  int last = 1;
  int gamma = 0;
  double min_speedup = 1;  ///< smallest speedup over the range, at `gamma`
};

/// Returns the best gamma for every batch from `first` to `most`; neighbours with the same choice form one
/// range. The speedup need not fall with the batch: long caches and touched experts can make speculation pay
/// again.
std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most, int first = 1);

/// Returns the largest batch of first..most up to which every batch is faster than plain decoding at this
/// gamma; first - 1 if the first already is not. `tokens_per_round` is the number at gamma.
int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most,
                int first = 1);

}  // namespace speclab
