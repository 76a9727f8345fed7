// The random source of references: it takes given uniforms, and records how close they were to another
// outcome. Host only.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random/random_source.hpp"

namespace speclab {

/// Draws as UniformRandomSource does; `margin` is that of ReferenceDecision.
template <class Uniforms>
class MarginRandomSource {
 public:
  explicit MarginRandomSource(Uniforms uniforms) : uniforms_(std::move(uniforms)) {}

  bool bernoulli(Draw draw, double probability) {
    const double u = uniforms_(draw);
    // Probabilities 0 and 1 are exact in every kernel, unless errors are magnified. In block verification a
    // probability can exceed 1 by a rounding.
    const bool exact = !(probability > 0) || (probability == 1 && one_is_exact);
    if (!exact || unit < 1) note(std::abs(u - probability));
    return u < probability;
  }

  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    const double u = uniforms_(draw);
    const Token id = inverse_cdf(weights, u);
    if (id < 0) return id;
    if (unit < 1) note(1);
    double below = 0;
    for (Token other = 0; other < id; ++other) below += weights[other];
    const double goal = u * total_probability(weights);
    // Nothing lies before the first or after the last id of positive probability.
    const double above = total_probability(weights) - below - weights[id];
    if (below > 0) note(std::abs(goal - below));
    if (above > 0) note(std::abs(below + weights[id] - goal));
    return id;
  }

  double margin = 1;
  bool one_is_exact = true;
  /// Distances are multiplied by this: below 1 where earlier rejections have magnified the errors by 1 /
  /// unit.
  double unit = 1;

 private:
  void note(double distance) { margin = std::min(margin, unit * distance); }

  Uniforms uniforms_;
};

}  // namespace speclab
