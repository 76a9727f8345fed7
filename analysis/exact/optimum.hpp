// Computes the largest expected number of tokens that any lossless scheme emits in one round, by a linear
// program over couplings of drafted and emitted tokens, and proves its value in exact fractions.
//
// A scheme gets a drafted set w of paths, with probability Q(w), and emits a string e: a path of w from the
// root, of any length, and one more token. It is lossless if the emitted string, completed by the target, has
// the target's distribution. With z(w, e) the joint probability, and h(u) the probability that the round has
// ended at u or before, given that the text begins with u:
//     maximise   sum of |e| z(w, e)
//     such that  sum over e of z(w, e) = Q(w)                                   for every w
//                sum over w of z(w, e) = p(e) (h(e) - h(e without its last token))  for every string e
//                z >= 0, h >= 0, h(empty) = 0, h(e) = 1 where |e| = gamma + 1.
// For one drafted token of several paths this is the optimal transport of Sun et al. 2023 (SpecTr); for one
// path block verification (Sun et al. 2024) attains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/exact/drafting.hpp"
#include "analysis/exact/model_ref.hpp"
#include "analysis/exact/rational.hpp"
#include "analysis/exact/round_distribution.hpp"

namespace speclab {

struct Optimum {
  double expected_emitted = 0;  ///< the solver's value, to about 1e-9
  /// The same as a fraction, if the solver's basis is optimal in exact arithmetic: primal and dual solution
  /// are feasible with this value.
  std::optional<Rational> proved;
  /// An exact upper bound for lossless schemes: the value of a feasible dual solution.
  Rational upper_bound;
  std::size_t outcomes = 0;   ///< different sets of drafted strings
  std::size_t variables = 0;  ///< variables of the program
};

/// Programs with more variables are refused. Up to this size they take at most half a minute of processor
/// time, mostly a second.
inline constexpr double max_optimum_variables = 3e5;

/// Returns an upper bound on the variables of the program, from the supports of the rows.
double optimum_variables(std::size_t draft_support, std::size_t target_support, std::int32_t gamma,
                         const Drafting& drafting);
/// Returns the bound for `paths` paths with `strings` distinct strings.
double optimum_variables(double strings, std::size_t target_support, std::int32_t gamma, std::int32_t paths);

/// Solves the program for tokens drafted after `context`, down to `gamma` tokens, at least 1. Throws
/// std::runtime_error if the solver gives up.
Optimum optimum(ModelRef<Rational> target, ModelRef<Rational> draft, std::int32_t gamma,
                const Drafting& drafting, std::span<const Token> context);
/// Solves the same for `paths` independent paths with any distribution `path_law`, each of at most `gamma`
/// tokens.
Optimum optimum(ModelRef<Rational> target, const SequenceDistribution<Rational>& path_law, std::int32_t gamma,
                std::int32_t paths, std::span<const Token> context);

/// Coefficients by index.
using SparseVector = std::vector<std::pair<int, Rational>>;

/// Solves sparse linear equations (sparse_solution.cpp). Returns x with sum over j of x[j] columns[j] =
/// right, for as many columns as equations; none if the columns are linearly dependent. Pivots for least
/// fill-in: fast if a permutation is nearly triangular, as for bases of transport problems.
std::optional<std::vector<Rational>> solve_exactly(const std::vector<SparseVector>& columns,
                                                   std::vector<Rational> right);

}  // namespace speclab
