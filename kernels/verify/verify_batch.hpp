// What a verification kernel is given and what it leaves: plain pointers, so that any framework's tensors do.
#pragma once

#include <cstdint>

#include "core/random/philox.hpp"
#include "core/rules/lenience.hpp"
#include "core/token.hpp"
#include "kernels/verify/logit.hpp"

namespace speclab {

enum class KernelRule : std::int32_t { token = 0, lenient = 1, block = 2 };

/// Drafted tokens a request may have; block verification looks at all of them at once, and takes fewer.
inline constexpr std::int32_t most_drafted = 256;
inline constexpr std::int32_t most_drafted_in_block = 64;
constexpr std::int32_t most_drafted_by(KernelRule method) {
  return method == KernelRule::block ? most_drafted_in_block : most_drafted;
}
/// Largest vocabulary.
inline constexpr std::int32_t most_vocab = 1 << 21;

/// Rows of logits [requests, positions, vocab]; strides in elements, the last dimension is dense.
struct LogitRows {
  const void* data = nullptr;
  Dtype dtype = Dtype::f32;
  std::int64_t request_stride = 0;
  std::int64_t row_stride = 0;
};

/// What turns a row of logits z into a probability row: softmax of z / temperature over the ids with
/// z >= cutoff. Arrays [requests, positions], dense; null stands for temperature 1, no cut-off, and an
/// unknown log-sum-exp. Temperature 0 is the limit: all probability on the largest logits, shared evenly
/// among ties.
struct RowOptions {
  const float* temperature = nullptr;
  const float* cutoff = nullptr;
  /// ln of the sum of exp(z / temperature) over the ids at or above the cutoff, where the sampler has
  /// computed it. Then a row need not be read to verify one of its tokens.
  const float* log_sum_exp = nullptr;
};

/// Where a request's random numbers are: those of `sampled_random_source(seed, trial, round)` in core.
struct RandomAddress {
  std::uint64_t seed;
  std::uint32_t trial;
  std::uint32_t round;
};

/// Which rule decides; core/rules has them.
struct VerifyRule {
  KernelRule method = KernelRule::token;
  double lenience = 1;  ///< of `lenient`: in (0, 1]
  Residual residual = Residual::target_minus_draft;
  /// Scale constants of the sigmoid approximation (core/rules/sigmoid.hpp), used by that implementation
  /// alone, which applies them to the logits as they are.
  double sigmoid_alpha = -1000;
  double sigmoid_beta = 1000;
};

/// What happened on the way, as bits of `VerifyBatch::flags`.
enum VerifyFlag : std::uint32_t {
  flag_invalid_row = 1,  ///< a row that mattered holds NaN or +inf, or sums to 0: next is invalid_token
  flag_zero_draft_probability = 2,  ///< the draft gives a drafted token probability 0: it was rejected
  flag_token_out_of_range = 4,      ///< a drafted id is not in the vocabulary: it was rejected
  flag_length_out_of_range =
      8,                   ///< lengths[request] is not in 0..gamma: nothing was done, next is invalid_token
  flag_zero_residual = 16  ///< a rejection, but no residual: the target was sampled (a matter of rounding)
};

/// A batch of requests, each with up to gamma drafted tokens. All pointers are to memory of the device that
/// does the work. Results do not depend on a request's place in the batch, nor on the batch's size.
struct VerifyBatch {
  std::int32_t requests = 0;
  std::int32_t gamma = 0;  ///< 0..most_drafted_by(rule.method)
  std::int32_t vocab = 0;  ///< 1..most_vocab
  LogitRows target;        ///< [requests, gamma + 1, vocab]
  LogitRows draft;         ///< [requests, gamma, vocab]; data null: each draft was certain (n-gram look-up)
  RowOptions target_options;
  RowOptions draft_options;
  const Token* drafted = nullptr;         ///< [requests, gamma], dense
  const std::int32_t* lengths = nullptr;  ///< [requests] drafted tokens of each, 0..gamma; null: gamma
  VerifyRule rule;

  /// One of the two is given. uniforms: [requests, gamma + 1] in [0, 1]: an acceptance draw for each
  /// position, then the one that picks the next token.
  const RandomAddress* addresses = nullptr;  ///< [requests]
  const double* uniforms = nullptr;

  std::int32_t* accepted = nullptr;  ///< out: [requests] drafted tokens accepted
  Token* next = nullptr;  ///< out: [requests] the token after them; invalid_token if a row is invalid
  std::uint32_t* flags = nullptr;  ///< out, or null: [requests] VerifyFlag bits
  /// Out, or null: [requests, gamma + 1] the accepted tokens, the next one, and no_token (-1) behind them, as
  /// serving engines take them.
  Token* tokens = nullptr;
  std::int32_t* counts = nullptr;  ///< out, or null: [requests] how many of them are tokens

  SPECLAB_HD std::int32_t length(std::int64_t request) const {
    return lengths == nullptr ? gamma : lengths[request];
  }
  SPECLAB_HD bool certain_drafts() const { return draft.data == nullptr; }

  /// The target's side, or the draft's.
  SPECLAB_HD const LogitRows& rows(bool of_target) const { return of_target ? target : draft; }
  SPECLAB_HD const RowOptions& options(bool of_target) const {
    return of_target ? target_options : draft_options;
  }
  /// The number of a row among those of its side, as in the arrays of RowOptions.
  SPECLAB_HD std::int64_t row_number(bool of_target, std::int64_t request, std::int32_t position) const {
    return request * (gamma + (of_target ? 1 : 0)) + position;
  }
};

/// The row of a request at a position.
template <class T>
SPECLAB_HD const T* row_of(const LogitRows& rows, std::int64_t request, std::int32_t position) {
  return static_cast<const T*>(rows.data) + request * rows.request_stride + position * rows.row_stride;
}

/// The request's uniform for the acceptance draw at `position`, or, at use replace or bonus, for the next
/// token.
SPECLAB_HD inline double uniform_of(const VerifyBatch& batch, std::int64_t request, Draw draw) {
  if (batch.uniforms != nullptr) {
    const std::int32_t place = draw.use == Use::accept ? draw.slot : batch.gamma;
    return batch.uniforms[request * (batch.gamma + 1) + place];
  }
  const RandomAddress at = batch.addresses[request];
  Philox stream(at.seed, Site{at.trial, at.round, draw});
  return open_unit(stream());
}

/// Writes a request's result; one thread.
SPECLAB_HD inline void write_result(const VerifyBatch& batch, std::int64_t request, std::int32_t accepted,
                                    Token next, std::uint32_t flags) {
  batch.accepted[request] = accepted;
  batch.next[request] = next;
  if (batch.flags != nullptr) batch.flags[request] = flags;
  const std::int32_t count = accepted + (next == invalid_token ? 0 : 1);
  if (batch.counts != nullptr) batch.counts[request] = count;
  if (batch.tokens == nullptr) return;
  Token* const tokens = batch.tokens + request * (batch.gamma + 1);
  for (std::int32_t i = 0; i <= batch.gamma; ++i) {
    tokens[i] = i < accepted ? batch.drafted[request * batch.gamma + i] : i < count ? next : no_token;
  }
}

/// Whether a request's length is out of range; then the thread that `writes` says so in the result.
SPECLAB_HD inline bool refuses_length(const VerifyBatch& batch, std::int64_t request, bool writes) {
  const std::int32_t length = batch.length(request);
  if (length >= 0 && length <= batch.gamma) return false;
  if (writes) write_result(batch, request, 0, invalid_token, flag_length_out_of_range);
  return true;
}

/// The draw of the next token.
SPECLAB_HD inline Draw next_draw(bool bonus, std::int32_t position) {
  return {bonus ? Use::bonus : Use::replace, static_cast<std::uint16_t>(position)};
}

}  // namespace speclab
