// The simulator's random source, which also keeps what was drawn, so that the page can show it draw by draw.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/random_source.hpp"

namespace speclab::explorer {

/// One draw of a round.
struct RecordedDraw {
  Draw draw;
  double uniform;
  double probability;   ///< of a Bernoulli draw: that of success; else that of the token drawn
  std::int32_t result;  ///< of a Bernoulli draw 1 or 0, else the token
  bool categorical;
};

class RecordedRandomSource {
 public:
  RecordedRandomSource(RoundUniforms uniforms, std::vector<RecordedDraw>& draws)
      : uniforms_(uniforms), draws_(&draws) {}

  bool bernoulli(Draw draw, double probability) {
    const double uniform = uniforms_(draw);
    const bool success = uniform < probability;
    draws_->push_back({draw, uniform, probability, success ? 1 : 0, false});
    return success;
  }

  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    const double uniform = uniforms_(draw);
    const Token token = inverse_cdf(weights, uniform);
    const double probability = token < 0 ? 0 : weights[token] / total_probability(weights);
    draws_->push_back({draw, uniform, probability, token, true});
    return token;
  }

 private:
  RoundUniforms uniforms_;
  std::vector<RecordedDraw>* draws_;
};

}  // namespace speclab::explorer
