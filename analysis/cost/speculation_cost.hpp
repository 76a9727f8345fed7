// Theorem 3.8 of Leviathan et al. 2023 if verifying is not free: its denominator gets the cost of a target
// run over gamma + 1 positions, at a batch and a context.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

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

/// The operating point of a server: sequences decoded together, and tokens before each.
struct Operation {
  double batch = 1;
  double context = 0;
};

/// Returns the milliseconds (for ConstantCost, in its own unit) of drafting `gamma` tokens for each sequence,
/// 0 for none: gamma runs of one token, or one run for all.
double drafting_ms(const CostPair& costs, double gamma, const Operation& at);

/// Returns the same for a draft that reads `run.tokens` known tokens of each sequence: prompts, or the token
/// of a round without drafts. For a drafter of one run per round whose times are constant or measured this is
/// not known; 0 is returned.
double reading_ms(const CostPair& costs, const Run& run);

/// Returns the cost of drafting `gamma` tokens, in plain target runs at the same batch: gamma c if each token
/// takes a run.
double drafting_cost(const CostPair& costs, int gamma, const Operation& at);

/// Returns c: the time of a draft run of one token over that of a plain target run, at the same batch.
double draft_cost(const CostPair& costs, const Operation& at);

/// Returns the tokens of the draft run that drafts `gamma` of them, at least 1; none if each token takes a
/// run.
std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma);

/// Returns the time of a target run over gamma + 1 positions over that of one over a single position: 1 if
/// verifying is free.
double verify_cost(const CostPair& costs, int gamma, const Operation& at);

/// Returns tokens per round for gamma = 0..most under the i.i.d. assumption (Leviathan et al. 2023, Eq. 1).
std::vector<double> iid_tokens(double alpha, int most);

/// Returns the speedup over plain decoding at the same batch, for gamma = 0..tokens.size() - 1: tokens[gamma]
/// / (drafting_cost(gamma) + verify_cost(gamma)). `tokens` are those of one sequence's round, including the
/// correction or bonus; at gamma = 0 both numerator and denominator are 1.
std::vector<double> speedups(std::span<const double> tokens, const CostPair& costs, const Operation& at);

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
  double least_speedup = 1;  ///< smallest speedup over the range, at `gamma`

  /// Returns whether both are the same row of a table, whatever their speedups.
  bool same_row(const BatchRange& other) const {
    return first == other.first && last == other.last && gamma == other.gamma;
  }
};

/// Returns the best gamma for every batch from 1 to `most`; neighbours with the same choice form one range.
/// The speedup need not fall with the batch: long caches and touched experts can make speculation pay again.
std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most);

/// Returns the largest batch of 1..most up to which every batch is faster than plain decoding at this gamma;
/// 0 if one sequence already is not. `tokens_per_round` is the number at gamma.
int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most);

/// The work for one emitted token of one sequence of the batch, at some gamma (0: plain decoding).
struct TokenWork {
  double bytes = 0;
  double flops = 0;
  double joules = 0;  ///< see energy()
};
TokenWork work_per_token(const RooflineCost& target, const RooflineCost& draft, int gamma,
                         double tokens_per_round, const Operation& at);

}  // namespace speclab
