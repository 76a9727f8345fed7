// UniformRandomSource (core/random/random_source.hpp) for long rows: it stores residuals before it draws from
// them. Computed on access, in each of two passes, they take longer, because the compiler branches on every
// sign. It draws the same tokens.
#pragma once

#include <cstddef>
#include <vector>

#include "core/random/random_source.hpp"

namespace speclab::python {

template <class Scalar, class Uniforms>
class BufferedRandomSource {
 public:
  explicit BufferedRandomSource(Uniforms uniforms) : uniforms_(uniforms) {}

  bool bernoulli(Draw draw, double probability) { return uniforms_(draw) < probability; }

  Token categorical(Draw draw, const BasicRow<Scalar>& weights) {
    return inverse_cdf(weights, uniforms_(draw));
  }
  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    static thread_local std::vector<Scalar> buffer;
    buffer.resize(static_cast<std::size_t>(weights.size));
    Scalar* const out = buffer.data();
    const Weights here = weights;
    for (std::int32_t i = 0; i < here.size; ++i) out[i] = here[i];
    return inverse_cdf(BasicRow<Scalar>{out, here.size}, uniforms_(draw));
  }

 private:
  Uniforms uniforms_;
};

}  // namespace speclab::python
