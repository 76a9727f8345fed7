// `speclab exact`: computes how speculative decoding behaves with models that have context, exactly, and
// compares with the i.i.d. formulas and a simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "core/token.hpp"
#include "experiments/base/format/type.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

struct Config;

// The quantities of rounds, computed by formula, exactly and by simulation. "First" and "second" are drafted
// tokens of one round. The relative gain is not a correlation: it is at most 1 and can be far below -1.
// clang-format off
#define SPECLAB_EXACT_QUANTITIES(ENTRY) \
  ENTRY(alpha, "Acceptance rate, averaged over the contexts of plain decoding.") \
  ENTRY(alpha_overlap, "Acceptance rate, averaged over the contexts of all emitted tokens.") \
  ENTRY(alpha_examined, "Accepted tokens over examined tokens.") \
  ENTRY(alpha_drafted, "Accepted tokens over drafted tokens; only simulated.") \
  ENTRY(tokens_per_target_step, "Expected tokens of a round.") \
  ENTRY(tokens_variance, "Variance of the tokens of a round.") \
  ENTRY(speedup, "Speedup over plain decoding.") \
  ENTRY(operations, "Arithmetic operations over those of plain decoding.") \
  ENTRY(memory_accesses, "Memory accesses over those of plain decoding; only simulated.") \
  ENTRY(best_speedup, "Speedup at the best gamma.") \
  ENTRY(speedup_at_iid_optimum, "Speedup at the gamma that the i.i.d. formula considers best.") \
  ENTRY(first_accepted, "P(first accepted).") \
  ENTRY(second_accepted, "P(second accepted | first accepted).") \
  ENTRY(relative_gain, \
        "(P(second accepted | first accepted) - P(first accepted)) / (1 - P(first accepted)).") \
  ENTRY(rejections, "Rejected tokens over examined tokens.") \
  ENTRY(rejection_bound, "The fewest rejections that a lossless rule can have in these contexts if it verifies token by token.") \
  ENTRY(regret, "Rejections minus that bound.") \
  ENTRY(tokens_per_target_step_of_simulation, \
        "Expected tokens of a round, averaged over as many rounds from the start as are simulated.")
// clang-format on

/// The quantities of SPECLAB_EXACT_QUANTITIES, as numbers or intervals, and the distribution of a round's
/// tokens N; empty where there is no value.
template <class T>
struct RoundQuantities {
#define SPECLAB_QUANTITY_MEMBER(name, sentence) std::optional<T> name;
  SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_MEMBER)
#undef SPECLAB_QUANTITY_MEMBER
  std::optional<std::int32_t> optimal_gamma;
  std::vector<T> distribution;  ///< P(N = n), n = 1 .. gamma + 1
};

using RoundNumbers = RoundQuantities<double>;
using RoundIntervals = RoundQuantities<Interval>;

/// How a stationary distribution was found (StationaryDistribution).
struct SolutionResult {
  bool direct = false;  ///< found without iteration
  std::int32_t iterations = 0;
  double residual = 0;
  bool damped = false;
  bool converged = false;
};

/// A closed class: a set of contexts that decoding never leaves.
struct ClassResult {
  std::uint64_t contexts = 0;
  std::vector<Token> start;         ///< where its simulation starts, if there are several classes
  std::optional<RoundNumbers> iid;  ///< closed forms at the exact alpha
  RoundNumbers exact;               ///< by the chain over contexts
  /// The value when decoding starts in one context, which may differ (see `remarks`). Empty, like `exact`, if
  /// no stationary distribution was found.
  std::optional<double> tokens_per_target_step_from_start;
  std::vector<double> speedup_by_gamma;  ///< exact, for gamma = 0, 1, ...
  std::optional<RoundNumbers> iid_error_percent;
  std::optional<RoundIntervals> simulated;
  std::optional<SolutionResult> plain_solution;
  SolutionResult round_solution;
  std::int32_t search_iterations = 0;
  std::vector<std::string> remarks;
};

/// Size of the chain over contexts.
struct ChainResult {
  std::int32_t memory = 0;  ///< tokens of context that the models read
  std::uint64_t contexts = 0;
  std::uint64_t transitions = 0;
  std::uint64_t transient_contexts = 0;
  std::uint64_t closed_classes = 0;
  bool dense = false;
};

struct ExactResult {
  std::string version;
  std::string title;
  std::shared_ptr<const Config> config;  ///< includes the section "search"
  double interval_confidence = 0.95;
  ChainResult chain;
  std::vector<ClassResult> classes;  ///< at most the first eight
};

SPECLAB_IS_DESCRIBED(ExactResult);

/// Returns tables of all classes, with remarks below.
Listing exact_text(const ExactResult& result);
std::string exact_headline(const ExactResult& result);
/// Returns, for each closed class, figures of the speedup by gamma and of the distribution of tokens per
/// target step.
std::vector<Figure> exact_figures(const ExactResult& result);

/// Analyses the config's models and rule as a Markov chain over contexts, each closed class separately, and
/// simulates them if `simulate`.
///
/// Throws ConfigError for a config that cannot be analysed: a sweep or cases, a model without bounded memory,
/// a rule that does not decide position by position, too many contexts or transitions.
ExactResult analyse_exactly(const Config& config, bool simulate);

}  // namespace speclab
