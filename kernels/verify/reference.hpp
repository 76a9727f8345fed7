// Defines what verification kernels must decide: runs core's own programs over rows of probabilities in
// double, one request after the other. Host only.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

struct ReferenceDecision {
  std::int32_t accepted = 0;
  Token next = invalid_token;
  /// The distance of the uniforms from another outcome: for acceptance draws |u - probability|; for the
  /// categorical draw the probability between u * total and the nearer edge of the id's interval; for top-p
  /// and min-p the margin of KeptLogits (filters.hpp). A kernel in single precision may decide differently if
  /// this is below its error.
  double margin = 1;
};

/// Returns the verdict of every request of a batch in host memory; does not write the batch's outputs. Only
/// kernels compute flags.
std::vector<ReferenceDecision> verify_reference(const VerifyBatch& batch);

/// Returns p_hat = sigma((z - alpha) / (beta - alpha)) for each logit z (Wagner et al. 2024, Eq. 5); NaN for
/// NaN and +inf.
std::vector<double> sigmoid_weights(std::span<const double> logits, double alpha, double beta);

/// Returns the verdicts of the sigmoid approximation (Wagner et al. 2024, section 3.2.2): token verification
/// by p_hat and q_hat as they are, which are no probabilities. Margins of categorical draws are weights of
/// p_hat, whose sum is about vocab * 0.62. The bonus token is drawn from p_hat, normalised, since the paper
/// does not say; so is the token after a rejection that leaves no residual. Temperatures and cut-offs are
/// ignored.
std::vector<ReferenceDecision> verify_sigmoid_reference(const VerifyBatch& batch);

/// Returns the row of probabilities that a row of logits stands for.
std::vector<double> probabilities(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                  std::int32_t position);

/// The values of VerifyBatch::log_probabilities and log_sum_exps for a token that a request may emit.
struct TokenLogs {
  double log_probability = std::numeric_limits<double>::quiet_NaN();
  double log_sum_exp = std::numeric_limits<double>::quiet_NaN();
};
TokenLogs token_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position, Token token);

}  // namespace speclab
