// A draft's confidence in its tokens before verification: the probability that each is accepted. Engines get
// it from a trained head or from the margin of the draft's logits (vLLM's adaptive verification).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// Returns the long-run acceptance rates of `gamma` positions (computed from `mean_accepted`), each given
/// that all tokens before it are accepted; 0 for positions that are never reached.
std::vector<double> position_rates(const AcceptanceLaw& law, std::uint32_t gamma);

/// Cuts a beta distribution with mean `rate` and variance correlation^2 rate (1 - rate) into 64 classes of
/// equal probability, and returns their means in increasing order. This lowers the correlation, by less than
/// 1% for rates between .1 and .9. 0 < correlation < 1, 0 < rate < 1.
std::vector<double> confidence_classes(double correlation, double rate);

/// Calibrated confidences: a token is accepted with the probability that its confidence states, given that
/// all tokens before it are. `correlation` is that of a confidence with its token's acceptance,
/// sqrt(Var[confidence] / (rate (1 - rate))). At 0 every confidence equals its position's rate, without
/// information; at 1 it is 1 or 0, and certain. In between it is the mean of a class of confidence_classes.
class ConfidenceLaw {
 public:
  ConfidenceLaw(double correlation, const std::vector<double>& rates);

  /// Fills survival[j] with the probability, by confidences, that the first j + 1 tokens of a round are
  /// accepted. `accepted` is the number of tokens that verification of the whole round would accept.
  /// `survival` is at most as long as `rates`. Confidences never change acceptance.
  void survival(std::uint64_t seed, std::uint32_t request, std::uint32_t round, std::uint32_t accepted,
                std::span<double> survival) const;

 private:
  /// The classes' cumulative probabilities, and the class at which the search for a number begins:
  /// first[floor(number * classes)].
  struct Classes {
    std::vector<double> below;
    std::vector<std::uint8_t> first;

    std::size_t at(double number) const;
  };
  struct Position {
    std::vector<double> confidence;  ///< confidence of each class, in increasing order
    Classes if_accepted;
    Classes if_rejected;
  };
  static Classes classes_of(const std::vector<double>& weights);
  std::vector<Position> positions_;
};

}  // namespace speclab
