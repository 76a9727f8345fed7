// Computes what the sigmoid approximation of softmax (Wagner et al. 2024, Eq. 5) does to one drafted token,
// in the number format in which a kernel computes. Every result is exact for the given rows: all tokens are
// enumerated.
#pragma once

#include <span>

namespace speclab {

/// `softmax` stands for Algorithm 1 itself, in double.
enum class SigmoidFormat { softmax, f64, f32, bf16, f16 };

/// Returns the number of the format that is nearest to `value`, with infinity beyond its largest one.
double rounded_to(SigmoidFormat format, double value);

/// What one position emits. The token is drawn from the softmax of the draft's logits, and accepted or
/// replaced by the weights sigma((z - alpha) / (beta - alpha)).
struct ScaledSigmoid {
  bool valid = false;       ///< false: a weight is not a number, or a rejection finds no weight to replace by
  double acceptance = 0;    ///< probability that the drafted token is accepted
  double tv_to_target = 0;  ///< total variation between the emitted token and the target
  double tv_to_draft = 0;   ///< and the draft
  double cross_entropy = 0;  ///< of the emitted token under the target, in nats
  bool greedy = false;       ///< the likeliest emitted token is the target's
};

/// Computes one position with alpha = -scale and beta = scale. Constants, logits, scaled logits, weights,
/// ratios and differences are rounded to the format; the exponential function is computed in double. Logits
/// of minus infinity are tokens of probability zero. Asserts that both rows have the same size.
ScaledSigmoid scaled_sigmoid(std::span<const double> target_logits, std::span<const double> draft_logits,
                             double scale, SigmoidFormat format);

}  // namespace speclab
