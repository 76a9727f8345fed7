// What a draft says of its tokens before they are verified: the probability that each is accepted. Engines
// get it from a trained head or from the margin of the draft's logits (vLLM's adaptive verification).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"

namespace speclab {

/// Rates of acceptance of `gamma` positions, given that those before are accepted, over rounds in the long
/// run as `mean_accepted` has them; 0 where none is reached.
std::vector<double> position_rates(const AcceptanceLaw& law, std::uint32_t gamma);

/// A beta law with mean `rate` and variance correlation^2 rate (1 - rate), cut into 64 classes of equal
/// probability: their means, increasing. The cut lowers the correlation, by less than 1% where the rate is
/// between .1 and .9. 0 < correlation < 1, 0 < rate < 1.
std::vector<double> confidence_classes(double correlation, double rate);

/// Confidences that are probabilities: given its confidence and that those before it are accepted, a token is
/// accepted with that probability. `correlation` is that of a confidence with the acceptance of its token,
/// sqrt(Var[confidence] / (rate (1 - rate))): at 0 a confidence is the rate of its position, which says
/// nothing of the token, and at 1 it is 1 or 0, which says all. Between them it is the mean of its class.
class ConfidenceLaw {
 public:
  ConfidenceLaw(double correlation, const std::vector<double>& rates);

  /// For the drafts of a round of which the first `accepted` would be accepted, and the next one not: the
  /// probability that the first j + 1 are, by confidences. Of `survival` there are no more than rates. A
  /// function of its arguments, so that acceptance is the same whatever is said of it.
  void survival(std::uint64_t seed, std::uint32_t request, std::uint32_t round, std::uint32_t accepted,
                std::span<double> survival) const;

 private:
  /// Classes by the probability of each and those below, and where to begin to look for a number: in class
  /// first[floor(number * classes)].
  struct Classes {
    std::vector<double> below;
    std::vector<std::uint8_t> first;

    std::size_t at(double number) const;
  };
  struct Position {
    std::vector<double> confidence;  ///< by class, increasing
    Classes if_accepted;
    Classes if_rejected;
  };
  static Classes classes_of(const std::vector<double>& weights);
  std::vector<Position> positions_;
};

/// P(the confidence of an accepted token is above that of a rejected one), half of ties included: the area
/// under the curve of receiver operating characteristics, by which engines report such estimates.
/// 1/2 + B(s, s) / (s B(a, a) B(b, b) rate (1 - rate)) with s = 1 / correlation^2 - 1, a = rate s and
/// b = (1 - rate) s, from the mean difference of a beta law. 0 < rate < 1.
double confidence_auc(double correlation, double rate);
/// Its inverse; 0.5 <= auc <= 1.
double correlation_of_auc(double auc, double rate);

}  // namespace speclab
