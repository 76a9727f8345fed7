// The definition of what verification kernels must decide: core's own programs over rows of probabilities in
// double, one request after the other. Host only.
#pragma once

#include <limits>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

struct ReferenceVerdict {
  std::int32_t accepted = 0;
  Token next = invalid_token;
  /// How far the uniforms were from another outcome: of acceptance draws |u - probability|, of the
  /// categorical draw the probability between u * total and the nearer edge of the id's interval; of top-p
  /// and min-p that of KeptLogits (filters.hpp). A kernel in single precision may decide otherwise where this
  /// is below its error.
  double margin = 1;
};

/// The verdict of every request of a batch in host memory; outputs of the batch are not touched. Flags are
/// the kernels' own.
std::vector<ReferenceVerdict> verify_reference(const VerifyBatch& batch);

/// The same for the sigmoid approximation (Wagner et al. 2024, section 3.2.2): token verification of p_hat
/// and q_hat as they are, which are no probabilities. Margins of categorical draws are weights of p_hat,
/// whose sum is about vocab * 0.62. The bonus token is drawn from p_hat, normalised, since the paper does not
/// say; so is the token after a rejection that leaves no residual. Temperatures and cut-offs are ignored.
std::vector<ReferenceVerdict> verify_sigmoid_reference(const VerifyBatch& batch);

/// The row of probabilities that a row of logits stands for.
std::vector<double> probabilities(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                  std::int32_t position);

/// What VerifyBatch::log_probabilities and log_sum_exps are of a token that a request may emit.
struct TokenLogs {
  double log_probability = std::numeric_limits<double>::quiet_NaN();
  double log_sum_exp = std::numeric_limits<double>::quiet_NaN();
};
TokenLogs token_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position, Token token);

}  // namespace speclab
