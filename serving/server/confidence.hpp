// The confidence of a draft in its tokens before they are verified: the probability that each is accepted.
// Engines get it from a trained head or from the margin of the draft's logits (vLLM's adaptive verification).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// Returns the acceptance rates of `gamma` positions, each given that all tokens before it are accepted, over
/// rounds in the long run (as `mean_accepted`); 0 for positions that are never reached.
std::vector<double> position_rates(const AcceptanceLaw& law, std::uint32_t gamma);

/// Returns the mean of each of 64 classes of equal probability, in increasing order, into which a beta law
/// with mean `rate` and variance correlation^2 rate (1 - rate) is cut. The cut lowers the correlation, by
/// less than 1% for rates between .1 and .9. 0 < correlation < 1, 0 < rate < 1.
std::vector<double> confidence_classes(double correlation, double rate);

/// Confidences that are true probabilities: a token with this confidence is accepted with this probability,
/// given that all tokens before it are accepted. `correlation` is the correlation of a confidence with the
/// acceptance of its token, sqrt(Var[confidence] / (rate (1 - rate))). At 0 every confidence equals the rate
/// of its position and tells nothing; at 1 it is 1 or 0 and tells everything. In between, a confidence is the
/// mean of its class.
class ConfidenceLaw {
 public:
  ConfidenceLaw(double correlation, const std::vector<double>& rates);

  /// Fills survival[j] with the probability, by confidences, that the first j + 1 tokens of a round are
  /// accepted. In this round the first `accepted` tokens would be accepted, and the next one not. `survival`
  /// is at most as long as `rates`. The result depends on the arguments only, so that confidences never
  /// change acceptance.
  void survival(std::uint64_t seed, std::uint32_t request, std::uint32_t round, std::uint32_t accepted,
                std::span<double> survival) const;

 private:
  /// The cumulative probabilities of the classes, and the class at which the search for a number begins:
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

/// Returns the probability that the confidence of an accepted token is above that of a rejected one, with
/// half of the ties: the area under the receiver operating characteristic (AUC), by which engines report such
/// estimates. It is 1/2 + B(s, s) / (s B(a, a) B(b, b) rate (1 - rate)) with s = 1 / correlation^2 - 1,
/// a = rate s and b = (1 - rate) s, from the mean difference of a beta law. 0 < rate < 1.
double confidence_auc(double correlation, double rate);
/// Returns the correlation with which `confidence_auc` is `auc`; 0.5 <= auc <= 1.
double correlation_of_auc(double auc, double rate);

}  // namespace speclab
