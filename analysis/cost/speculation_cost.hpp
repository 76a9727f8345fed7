// Theorem 3.8 of Leviathan et al. 2023 when verifying is not free: its denominator with the cost of a target
// run over gamma + 1 positions, at a batch and a context.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

/// How a drafter makes the tokens of a round: by one run a token, each after the one before, or all in one
/// run, as Medusa heads and DFlash blocks do.
enum class DraftRuns { a_token, a_round };

struct CostPair {
  CostModel target;
  CostModel draft;
  /// Of a draft whose time is constant or measured; a Transformer says it itself. The times of a drafter of
  /// one run a round are by the tokens that it drafts.
  DraftRuns stated = DraftRuns::a_token;
};

DraftRuns draft_runs(const CostPair& costs);

/// Where a server works: sequences decoded together, and tokens before each.
struct Operation {
  double batch = 1;
  double context = 0;
};

/// Milliseconds (of ConstantCost its own unit) in which `gamma` tokens are drafted for each sequence, 0 for
/// none: so many runs of one token, or one run of all.
double drafting_ms(const CostPair& costs, double gamma, const Operation& at);

/// The same for a draft to read `run.tokens` known tokens of each sequence: prompts, or the token of a round
/// without drafts. Not known, and 0, of a drafter of one run a round whose times are constant or measured.
double reading_ms(const CostPair& costs, const Run& run);

/// What drafting `gamma` tokens costs, in plain target runs at the same batch: gamma c where each token is a
/// run.
double drafting_cost(const CostPair& costs, int gamma, const Operation& at);

/// c: a draft run of one token over a plain target run, at the same batch.
double draft_cost(const CostPair& costs, const Operation& at);

/// The tokens of the draft run that drafts `gamma` of them, 1 at least; none where each token is a run.
std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma);

/// A target run over gamma + 1 positions over one over a single position: 1 when verifying is free.
double verify_cost(const CostPair& costs, int gamma, const Operation& at);

/// Tokens per round of gamma = 0..most under the i.i.d. assumption (Leviathan et al. 2023, Eq. 1).
std::vector<double> iid_tokens(double alpha, int most);

/// Speed over plain decoding at the same batch, for gamma = 0..tokens.size() - 1: tokens[gamma] /
/// (drafting_cost(gamma) + verify_cost(gamma)). `tokens` are those of one sequence's round, the correction or
/// bonus included; at gamma = 0 both are 1.
std::vector<double> speedups(std::span<const double> tokens, const CostPair& costs, const Operation& at);

struct SpeedupRange {
  double low = 0;
  double high = 0;
};

/// The speedup at `gamma`, whose rounds have `tokens`, over what the roofline's assumptions may be wrong by:
/// both efficiencies a fifth lower or higher (1 at most), and all overheads half or double, in every
/// combination, alike for target and draft. A draft run of constant time stays the same share of a plain
/// target run. None without a roofline, and for gamma 0.
std::optional<SpeedupRange> speedup_at_other_costs(double tokens, const CostPair& costs, int gamma,
                                                   const Operation& at);

/// Batches first..last for which `gamma` is the best (0: do not speculate).
struct BatchRange {
  int first = 1;
  int last = 1;
  int gamma = 0;
  double least_speedup = 1;  ///< over the range, at `gamma`

  /// As a row of a table: speedups apart.
  bool same_row(const BatchRange& other) const {
    return first == other.first && last == other.last && gamma == other.gamma;
  }
};

/// The best gamma for every batch from 1 to `most`, neighbours with the same choice together. Speed need not
/// fall with the batch: long caches and touched experts can make speculation pay again.
std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most);

/// The largest batch of 1..most up to which every batch is faster than plain decoding at this gamma; 0 when
/// already one sequence is not. `tokens_per_round` are those at gamma.
int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most);

/// What one emitted token costs one sequence of the batch, at some gamma (0: plain decoding).
struct TokenWork {
  double bytes = 0;
  double flops = 0;
  double joules = 0;  ///< see energy()
};
TokenWork work_per_token(const RooflineCost& target, const RooflineCost& draft, int gamma,
                         double tokens_per_round, const Operation& at);

}  // namespace speclab
