// The most tokens that any lossless scheme emits in one round, as a linear program over couplings of what was
// drafted with what is emitted, and a proof of its value in exact fractions.
//
// A scheme is given what was drafted, w, which comes with probability Q(w), and emits a string e: a path of w
// from the root, of any length, and one token more. Its law is right if the emitted string, completed by
// plain decoding, has the target's distribution. With z(w, e) the probability of both, and h(u) the
// probability that the scheme has emitted no more than u, given that the text begins with u:
//     maximise   sum of |e| z(w, e)
//     such that  sum over e of z(w, e) = Q(w)                                   for every w
//                sum over w of z(w, e) = p(e) (h(e) - h(e without its last token))  for every string e
//                z >= 0, h >= 0, h(empty) = 0, h(e) = 1 where |e| = gamma + 1.
// For one drafted token of several paths that is the optimal transport of Sun et al. 2023 (SpecTr); for one
// path block verification (Sun et al. 2024) attains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "analysis/exact/drafting.hpp"
#include "analysis/exact/model_ref.hpp"
#include "analysis/exact/rational.hpp"
#include "analysis/exact/round_distribution.hpp"

namespace speclab {

struct Optimum {
  double expected_emitted = 0;  ///< what the solver found, to about 1e-9
  /// The same as a fraction, where the solver's basis is optimal in exact arithmetic: its point and its
  /// multipliers are then feasible and have this value.
  std::optional<Rational> proved;
  /// No lossless scheme emits more: the value of feasible multipliers, in exact arithmetic.
  Rational upper_bound;
  std::size_t outcomes = 0;   ///< different sets of drafted strings
  std::size_t variables = 0;  ///< of the program
};

/// Programs of more variables are refused: these take up to half a minute of processor time, most a second.
inline constexpr double max_optimum_variables = 3e5;

/// An upper bound on the variables of the program, from the supports of the rows.
double optimum_variables(std::size_t draft_support, std::size_t target_support, std::int32_t gamma,
                         const Drafting& drafting);
/// The same for `paths` paths of `strings` different strings.
double optimum_variables(double strings, std::size_t target_support, std::int32_t gamma, std::int32_t paths);

/// Of what is drafted after `context`, down to `gamma` tokens, at least 1. Throws std::runtime_error when the
/// solver gives up.
Optimum optimum(ModelRef<Rational> target, ModelRef<Rational> draft, std::int32_t gamma,
                const Drafting& drafting, std::span<const Token> context);
/// The same for `paths` independent paths of this law, each of at most `gamma` tokens, however they were
/// drawn.
Optimum optimum(ModelRef<Rational> target, const SequenceDistribution<Rational>& path_law, std::int32_t gamma,
                std::int32_t paths, std::span<const Token> context);

}  // namespace speclab
