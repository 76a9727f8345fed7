// The inputs and outputs of a verification kernel: plain pointers, so that any framework's tensors will do.
#pragma once

#include <cstdint>

#include "core/random/philox.hpp"
#include "core/rules/lenience.hpp"
#include "core/token.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/verify/logit.hpp"
#include "kernels/verify/view.hpp"

namespace speclab {

enum class KernelRule : std::int32_t { token = 0, lenient = 1, block = 2 };

/// Largest number of drafted tokens per request. Block verification decides about all of them together, and
/// takes fewer.
inline constexpr std::int32_t max_drafted = 256;
inline constexpr std::int32_t max_drafted_in_block = 64;
constexpr std::int32_t max_drafted_by(KernelRule method) {
  return method == KernelRule::block ? max_drafted_in_block : max_drafted;
}
inline constexpr std::int32_t max_vocab = 1 << 21;

enum class RowKind : std::int32_t { logits = 0, probabilities = 1 };

/// Rows of logits [requests, positions, vocab]; strides count elements, and the last dimension is dense. A
/// request's first row is found as in a View. Probabilities are taken as they are: nothing scales them, and
/// their sum is 1.
struct LogitRows {
  const void* data = nullptr;
  Dtype dtype = Dtype::f32;
  std::int64_t request_stride = 0;
  std::int64_t row_stride = 0;
  const std::int32_t* index = nullptr;  ///< [requests] or null; trusted, as pointers are
  RowKind kind = RowKind::logits;
};

/// The options that turn a row of logits z into a row of probabilities: softmax of z / temperature over the
/// ids with z >= cutoff. Entries are [requests, positions]; null means temperature 1, no cut-off, and an
/// unknown log-sum-exp. Temperature 0 is the limit: all probability is on the largest logits, shared as
/// `Ties` says.
struct RowOptions {
  View<const float> temperature;
  View<const float> cutoff;
  /// ln of the sum of exp(z / temperature) over the ids at or above the cutoff, if the sampler has computed
  /// it. Then a row need not be read to verify one of its tokens. A row at temperature 0 that has it counts
  /// as damaged.
  View<const float> log_sum_exp;
};

/// How the largest logits share the probability of a row at temperature 0: all of them equally, or the lowest
/// id gets it, as argmax is usually read. (torch.argmax promises no order among ties; on CPUs it takes the
/// lowest.)
enum class Ties : std::int32_t { shared = 0, lowest = 1 };

/// The address of a request's random numbers: those of `sampled_random_source(seed, trial, round)` in core.
struct RandomAddress {
  std::uint64_t seed;
  std::uint32_t trial;
  std::uint32_t round;
};

/// The rule that decides; core/rules defines each.
struct VerifyRule {
  KernelRule method = KernelRule::token;
  double lenience = 1;  ///< for `lenient`: in (0, 1]
  Residual residual = Residual::target_minus_draft;
  /// Scale constants of the sigmoid approximation (core/rules/sigmoid.hpp). Only that implementation uses
  /// them, and applies them to the logits as they are.
  double sigmoid_alpha = -1000;
  double sigmoid_beta = 1000;
};

/// Events during verification, as bits of `VerifyBatch::flags`.
enum VerifyFlag : std::uint32_t {
  /// A row that mattered holds NaN or +inf, or sums to 0: next is invalid_token.
  flag_invalid_row = 1,
  /// The draft gives a drafted token probability 0: it was rejected.
  flag_zero_draft_probability = 2,
  /// A drafted id is not in the vocabulary: it was rejected.
  flag_token_out_of_range = 4,
  /// lengths[request] is not in 0..gamma: nothing was done, next is invalid_token.
  flag_length_out_of_range = 8,
  /// A rejection left no residual, which rounding can cause: the target was sampled.
  flag_zero_residual = 16,
  /// Only for trees: a parent does not come before its node, or a draft's row number is out of range: nothing
  /// was done, next is invalid_token.
  flag_invalid_tree = 32
};

/// A batch of requests, each with up to gamma drafted tokens. All pointers are to memory of the device that
/// does the work. Results depend neither on a request's place in the batch nor on the batch's size.
struct VerifyBatch {
  std::int32_t requests = 0;
  std::int32_t gamma = 0;  ///< 0..max_drafted_by(rule.method)
  std::int32_t vocab = 0;  ///< 1..max_vocab
  /// [requests, gamma + 1, vocab]; without the last row if `bonus` is given.
  LogitRows target;
  /// [requests, gamma, vocab]; data null: each draft was certain (n-gram look-up).
  LogitRows draft;
  RowOptions target_options;
  RowOptions draft_options;
  Ties ties = Ties::shared;
  /// Number of ids in the draft's rows, at most vocab; 0: vocab. Id x of the target is id draft_place[x] of
  /// the draft's rows, or x itself if draft_place is null; the draft gives probability 0 to ids outside its
  /// rows.
  std::int32_t draft_vocab = 0;
  const std::int32_t* draft_place = nullptr;  ///< [vocab] or null
  /// Ids that a grammar allows the target: bit x % 32 of word x / 32. Strides count words; null allows all.
  View<const std::uint32_t> mask;
  /// Cut-offs of the target's rows, [requests, gamma + 1] or one for all; filters.hpp defines which ids they
  /// keep. top_k: 0 for all; top_p: in (0, 1]; min_p: in [0, 1]. A number out of range makes its row invalid.
  View<const std::int32_t> top_k;
  View<const float> top_p;
  View<const float> min_p;
  View<const Token> drafted;              ///< [requests, gamma], ids of the target
  const std::int32_t* lengths = nullptr;  ///< [requests] drafted tokens of each, 0..gamma; null: gamma
  /// [requests + 1] or null: cumulative counts from which lengths follow instead. They count drafted tokens
  /// or, with cumulative_extra 1, target rows, one more per request.
  const std::int32_t* cumulative = nullptr;
  std::int32_t cumulative_extra = 0;
  VerifyRule rule;

  /// Exactly one of addresses, uniforms and seeds is given. uniforms: [requests, gamma + 1] in [0, 1): an
  /// acceptance draw for each position, then the draw of the next token. seeds, with positions: [requests],
  /// one each; they stand for the address {seed, low half of the position, high half}. The same seed and
  /// position give the same draws everywhere, so that no two requests may share both.
  const RandomAddress* addresses = nullptr;  ///< [requests]
  const double* uniforms = nullptr;
  View<const std::uint64_t> seeds;
  View<const std::int64_t> positions;

  /// [requests] or null: the token after a request's last drafted one, drawn elsewhere.
  const Token* bonus = nullptr;

  std::int32_t* accepted = nullptr;  ///< out: [requests] drafted tokens accepted
  /// Out: [requests] the token after them; invalid_token if a row is invalid.
  Token* next = nullptr;
  std::uint32_t* flags = nullptr;  ///< out, or null: [requests] VerifyFlag bits
  /// Out, or null: [requests, gamma + 1] the accepted tokens, the next one, and no_token (-1) after them, as
  /// serving engines take them.
  Token* tokens = nullptr;
  /// Out, or null: [requests] the number of emitted tokens in `tokens`.
  std::int32_t* counts = nullptr;
  /// Out, or null: [requests, gamma + 1] ln of the target's probability of each token in `tokens`, and 0
  /// after them. A request's entries add up to ln of the probability of all that it emitted. NaN for a
  /// `bonus`.
  float* log_probabilities = nullptr;
  /// Out, or null: [requests, gamma + 1] ln of the sum that divides the target's row there, as in RowOptions;
  /// at temperature 0 the largest logit; 0 after the tokens; NaN for a `bonus`.
  float* log_sum_exps = nullptr;

  SPECLAB_HD std::int32_t length(std::int64_t request) const {
    if (cumulative != nullptr) return cumulative[request + 1] - cumulative[request] - cumulative_extra;
    return lengths == nullptr ? gamma : lengths[request];
  }
  SPECLAB_HD bool certain_drafts() const { return draft.data == nullptr; }
  SPECLAB_HD Token drafted_token(std::int64_t request, std::int32_t position) const {
    return *drafted.at(request, position, gamma);
  }

  /// Return the target's side, or the draft's.
  SPECLAB_HD const LogitRows& rows(bool of_target) const { return of_target ? target : draft; }
  SPECLAB_HD const RowOptions& options(bool of_target) const {
    return of_target ? target_options : draft_options;
  }
  /// Returns the number of entries per request in dense arrays of that side.
  SPECLAB_HD std::int32_t positions_of(bool of_target) const { return gamma + (of_target ? 1 : 0); }
  /// Returns the address of an entry of RowOptions; the option must be given.
  SPECLAB_HD const float* entry(const View<const float>& option, bool of_target, std::int64_t request,
                                std::int32_t position) const {
    return option.at(request, position, positions_of(of_target));
  }
  /// Returns whether a row's sum is known without reading the row.
  SPECLAB_HD bool sum_known(bool of_target) const {
    return options(of_target).log_sum_exp != nullptr || rows(of_target).kind == RowKind::probabilities;
  }
  /// Returns the number of target rows of a request with `drafts` drafted tokens; if `bonus` is given, the
  /// last place has none.
  SPECLAB_HD std::int32_t target_rows(std::int32_t drafts) const {
    return drafts + (bonus == nullptr ? 1 : 0);
  }
  /// Returns the number of ids in a row.
  SPECLAB_HD std::int32_t vocab_of(bool of_target) const {
    return of_target || draft_vocab == 0 ? vocab : draft_vocab;
  }
  /// Returns whether a launch has to find cut-offs.
  SPECLAB_HD bool has_filters() const { return top_k != nullptr || top_p != nullptr || min_p != nullptr; }
  SPECLAB_HD bool has_draft_rows() const { return gamma > 0 && !certain_drafts(); }
  /// Returns whether rows differ from logits of one format for the same ids, all of them allowed. Such rows
  /// have separate kernels (kernels/verify/any_row.hpp).
  SPECLAB_HD bool mixed_rows() const {
    if (target.kind != RowKind::logits || mask != nullptr) return true;
    if (!has_draft_rows()) return false;
    return draft.kind != RowKind::logits || draft.dtype != target.dtype || draft_place != nullptr ||
           vocab_of(false) != vocab;
  }
  SPECLAB_HD RandomAddress address(std::int64_t request) const {
    if (addresses != nullptr) return addresses[request];
    const auto position = static_cast<std::uint64_t>(*positions.at(request, 0, 1));
    return {*seeds.at(request, 0, 1), static_cast<std::uint32_t>(position),
            static_cast<std::uint32_t>(position >> 32U)};
  }
};

SPECLAB_HD inline const void* row_of(const LogitRows& rows, std::int64_t request, std::int32_t position) {
  const std::int64_t number = rows.index == nullptr ? request : std::int64_t{rows.index[request]};
  const std::int64_t elements = number * rows.request_stride + position * rows.row_stride;
  return static_cast<const unsigned char*>(rows.data) + elements * dtype_bytes(rows.dtype);
}
template <class T>
SPECLAB_HD const T* row_of(const LogitRows& rows, std::int64_t request, std::int32_t position) {
  const std::int64_t number = rows.index == nullptr ? request : std::int64_t{rows.index[request]};
  return static_cast<const T*>(rows.data) + number * rows.request_stride + position * rows.row_stride;
}

/// Returns the request's uniform for the acceptance draw at `position`, or, with use replace or bonus, for
/// the next token.
SPECLAB_HD inline double uniform_of(const VerifyBatch& batch, std::int64_t request, Draw draw) {
  if (batch.uniforms != nullptr) {
    const std::int32_t place = draw.use == Use::accept ? draw.slot : batch.gamma;
    return batch.uniforms[request * (batch.gamma + 1) + place];
  }
  const RandomAddress at = batch.address(request);
  Philox stream(at.seed, Site{at.trial, at.round, draw});
  return open_unit(stream());
}

/// Writes a request's result; one thread calls it. The kernel writes the tokens' logarithms (with the next
/// token's) when it knows them; this writes 0 after them.
SPECLAB_HD inline void write_result(const VerifyBatch& batch, std::int64_t request, std::int32_t accepted,
                                    Token next, std::uint32_t flags) {
  batch.accepted[request] = accepted;
  batch.next[request] = next;
  if (batch.flags != nullptr) batch.flags[request] = flags;
  const std::int32_t count = accepted + (next == invalid_token ? 0 : 1);
  if (batch.counts != nullptr) batch.counts[request] = count;
  const std::int64_t first = request * (batch.gamma + 1);
  SPECLAB_ROLLED
  for (std::int32_t i = count; i <= batch.gamma; ++i) {
    if (batch.log_probabilities != nullptr) batch.log_probabilities[first + i] = 0;
    if (batch.log_sum_exps != nullptr) batch.log_sum_exps[first + i] = 0;
  }
  if (batch.tokens == nullptr) return;
  SPECLAB_ROLLED
  for (std::int32_t i = 0; i <= batch.gamma; ++i)
    batch.tokens[first + i] = i < accepted ? batch.drafted_token(request, i) : i < count ? next : no_token;
}

/// Returns whether a request's length is out of range; if so, the thread that `writes` writes that result.
SPECLAB_HD inline bool refuses_length(const VerifyBatch& batch, std::int64_t request, bool writes) {
  const std::int32_t length = batch.length(request);
  if (length >= 0 && length <= batch.gamma) return false;
  if (writes) write_result(batch, request, 0, invalid_token, flag_length_out_of_range);
  return true;
}

/// Returns the draw of the next token.
SPECLAB_HD inline Draw next_draw(bool bonus, std::int32_t position) {
  return {bonus ? Use::bonus : Use::replace, static_cast<std::uint16_t>(position)};
}

}  // namespace speclab
