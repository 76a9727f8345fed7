// Theorem 3.8 of Leviathan et al. 2023 with the cost of verification: its denominator includes the time of a
// target run over gamma + 1 positions, at a given batch and context.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

/// The draft runs of a round: one per token, in sequence, or one for all tokens (Medusa, DFlash).
enum class DraftRuns { a_token, a_round };

struct CostPair {
  CostModel target;
  CostModel draft;
  /// For a draft of constant or measured time; a Transformer's shape determines it. If one run drafts a
  /// round, times are by its number of drafted tokens.
  DraftRuns stated = DraftRuns::a_token;
};

DraftRuns draft_runs(const CostPair& costs);

/// The operating point of a server: the batch, and the context in tokens.
struct Operation {
  double batch = 1;
  double context = 0;
};

/// Returns the milliseconds (for ConstantCost, in its own unit) of drafting `gamma` tokens for each sequence,
/// 0 for none: gamma runs of one token, or one run for all.
double drafting_ms(const CostPair& costs, double gamma, const Operation& at);

/// Returns the same for a draft that reads `run.tokens` known tokens of each sequence: prompts, or the token
/// of a round without drafts. Returns 0 for a drafter of one run per round and constant or measured time, for
/// which it is unknown.
double reading_ms(const CostPair& costs, const Run& run);

/// Returns the time of drafting `gamma` tokens, in target runs over one position at the same batch: gamma c
/// if each token takes a run.
double drafting_cost(const CostPair& costs, int gamma, const Operation& at);

/// Returns c: the time of a draft run of one token divided by that of a target run over one position, at the
/// same batch.
double draft_cost(const CostPair& costs, const Operation& at);

/// Returns the number of tokens of the run that drafts `gamma` tokens, at least 1; none if each token takes a
/// run.
std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma);

/// Returns the time of a target run over gamma + 1 positions divided by that over one position: 1 if
/// verification is free.
double verify_cost(const CostPair& costs, int gamma, const Operation& at);

/// Returns tokens per round for gamma = 0..most under the i.i.d. assumption (Leviathan et al. 2023, Eq. 1).
std::vector<double> iid_tokens(double alpha, int most);

/// Returns the speedup at the same batch, for gamma = 0..tokens.size() - 1: tokens[gamma] /
/// (drafting_cost(gamma) + verify_cost(gamma)). `tokens` counts one sequence's round, including the
/// correction or bonus; at gamma = 0 numerator and denominator are 1.
std::vector<double> speedups(std::span<const double> tokens, const CostPair& costs, const Operation& at);

struct SpeedupRange {
  double low = 0;
  double high = 0;
};

/// Returns the range of the speedup at `gamma`, whose rounds emit `tokens`, over possible errors of the
/// roofline's assumptions: both efficiencies a fifth lower or higher (at most 1), and all overheads half or
/// double, in every combination, the same for target and draft. For a draft of constant time, c stays the
/// same. Returns none without a roofline, and for gamma 0.
std::optional<SpeedupRange> speedup_at_other_costs(double tokens, const CostPair& costs, int gamma,
                                                   const Operation& at);

/// Batches first..last for which `gamma` is the best (0: do not speculate).
struct BatchRange {
  int first = 1;
  int last = 1;
  int gamma = 0;
  double least_speedup = 1;  ///< smallest speedup over the range, at `gamma`

  /// Returns whether both give the same row of a table, except for speedups.
  bool same_row(const BatchRange& other) const {
    return first == other.first && last == other.last && gamma == other.gamma;
  }
};

/// Returns the best gamma for every batch from 1 to `most`; adjacent batches with the same choice form one
/// range. The speedup need not fall with the batch: long caches and touched experts can make speculation pay
/// again.
std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most);

/// Returns the largest batch of 1..most up to which every batch has a speedup above 1 at this gamma; 0 if a
/// batch of 1 has none. `tokens_per_round` is the number at gamma.
int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most);

/// The work for one emitted token of one sequence of the batch, at some gamma (0: no speculation).
struct TokenWork {
  double bytes = 0;
  double flops = 0;
  double joules = 0;  ///< see energy()
};
TokenWork work_per_token(const RooflineCost& target, const RooflineCost& draft, int gamma,
                         double tokens_per_round, const Operation& at);

}  // namespace speclab
