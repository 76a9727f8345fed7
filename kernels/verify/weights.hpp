// The distribution that the next token is drawn from, tile by tile: sums of weights for choosing a tile, then
// the weights again, id by id, for choosing within it.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/any_row.hpp"
#include "kernels/verify/tile.hpp"

namespace speclab {

/// Which weights: (prefix p - scale q)+ relative to prefix p of the row's reference, or the target's alone
/// relative to a reference of each tile's own, for which the row's sum need not be known. Or none, where the
/// next token is known.
enum class Weighing : std::uint8_t { residual, target, known };

/// The row pair at the position where the next token is drawn.
struct NextDistribution {
  std::int32_t position = 0;
  Weighing weighing = Weighing::target;
  LogSum target;
  LogSum draft;
  bool certain = false;    ///< the draft was certain of a token, and has no row
  Token token = no_token;  ///< that token, which need not be in the vocabulary; or the known one
  float log_prefix = 0;    ///< log2 of block verification's p_i; 0 otherwise
  float log_scale = 0;     ///< log2 of what multiplies the draft

  /// log2 of scale q / (prefix p), less what the logits and references make of it. NaN: a row is invalid.
  SPECLAB_HD float log_offset() const {
    return static_cast<float>((static_cast<double>(log_scale) - draft.log_sum) -
                              (static_cast<double>(log_prefix) - target.log_sum));
  }
  /// What residual weights are multiplied with to make them probabilities.
  SPECLAB_HD double residual_unit() const { return exp2(static_cast<double>(log_prefix) - target.log_sum); }
};

/// The sum of a tile's weights, in units of 2^reference.
struct TileWeightSum {
  double sum;
  float reference;  ///< 0 of a residual
};

/// A row of logits in global memory, and how it is scaled.
template <class T>
struct LogitRow {
  using Logit = T;
  const T* data = nullptr;
  std::int32_t vocab = 0;
  RowScale scale{};

  SPECLAB_DEVICE double exact(Token id) const { return static_cast<double>(to_float(load_one(data + id))); }
  SPECLAB_DEVICE float one(Token id) const { return to_float(load_one(data + id)); }

  /// A tile in two steps, so that several tiles' loads can be on their way: `begin` starts them, `complete`
  /// uses them.
  SPECLAB_DEVICE HeldTile<T> begin(std::int32_t tile) const { return load_vectors(data, vocab, tile); }
  SPECLAB_DEVICE void complete(std::int32_t tile, HeldTile<T>& mine) const {
    load_rest(data, vocab, tile, mine);
    cut_tile(mine, scale.cutoff);
  }
};

template <class T>
struct RowOfFormat {
  using type = LogitRow<T>;
};
template <>
struct RowOfFormat<AnyLogit> {
  using type = AnyRow;
};
template <class T>
using RowOf = typename RowOfFormat<T>::type;

/// A row by its own ids.
template <class T>
SPECLAB_DEVICE RowOf<T> logit_row(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                  std::int32_t position) {
  const LogitRows& rows = batch.rows(of_target);
  const RowScale scale = row_scale(batch, of_target, request, position);
  if constexpr (std::is_same_v<T, AnyLogit>) {
    AnyRow row;
    row.data = row_of(rows, request, position);
    row.dtype = rows.dtype;
    row.kind = rows.kind;
    row.vocab = row.own_vocab = batch.vocab_of(of_target);
    row.scale = scale;
    if (of_target && batch.mask != nullptr) row.mask = batch.mask.at(request, position, batch.gamma + 1);
    return row;
  } else {
    return {row_of<T>(rows, request, position), batch.vocab, scale};
  }
}

/// A row by the ids of the target.
template <class T>
SPECLAB_DEVICE RowOf<T> target_ids_row(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                       std::int32_t position) {
  auto row = logit_row<T>(batch, of_target, request, position);
  if constexpr (std::is_same_v<T, AnyLogit>) {
    row.vocab = batch.vocab;
    if (!of_target) row.place = batch.draft_place;
  }
  return row;
}

template <class Row>
SPECLAB_DEVICE auto whole_tile(const Row& row, std::int32_t tile) {
  auto mine = row.begin(tile);
  row.complete(tile, mine);
  return mine;
}

/// The rows that the next token's weights are of; the draft's only where they are a residual of it.
template <class Row>
struct RowPair {
  Row target;
  Row draft;
  bool draft_sum_given = false;
};

template <class T>
SPECLAB_DEVICE RowPair<RowOf<T>> row_pair(const VerifyBatch& batch, std::int64_t request,
                                          const NextDistribution& distribution) {
  RowPair<RowOf<T>> rows{target_ids_row<T>(batch, true, request, distribution.position), {}};
  rows.draft_sum_given = batch.sum_known(false);
  if (distribution.weighing == Weighing::residual && !distribution.certain) {
    rows.draft = target_ids_row<T>(batch, false, request, distribution.position);
    if constexpr (std::is_same_v<T, AnyLogit>) {
      // A draft with one id, whose number among the target's is not known.
      if (distribution.draft.top != no_token) {
        rows.draft.only = distribution.draft.top;
        rows.draft.only_logit = distribution.draft.reference;
        rows.draft.scale = {1, -INFINITY};
      }
    }
  }
  return rows;
}

/// A residual weight is the product of these: of p, and of 1 - scale q / (prefix p).
struct ResidualFactors {
  float power;
  float share;
};

/// This thread's residual weights of a tile: `visit(i, factors)` for each id that it holds. Rows give tiles
/// as `LogitRow` does. Returns whether the draft holds a NaN that its given sum does not show; the others
/// show in the weights. Ids of target probability 0 have power 0 and a finite share.
template <class Row, class Visit>
SPECLAB_DEVICE bool visit_residual(const RowPair<Row>& rows, const NextDistribution& distribution,
                                   std::int32_t tile, const Visit& visit) {
  using T = typename Row::Logit;
  using Shape = TileShape<T>;
  const float offset = distribution.log_offset();
  const auto log_target = [&](float logit) {
    return relative_log(logit, rows.target.scale.scale, distribution.target);
  };
  auto p = rows.target.begin(tile);
  if (distribution.certain) {
    const Token drafted = distribution.token;
    float share = 1;
    if (drafted >= 0 && drafted < rows.target.vocab) {
      share = one_minus_power(offset - log_target(rows.target.one(drafted)));
    }
    rows.target.complete(tile, p);
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      const std::int32_t id = Shape::first(tile, i / Shape::width, simt::thread_index()) + i % Shape::width;
      visit(i, ResidualFactors{power_of_two(log_target(p.logit(i))), id == drafted ? share : 1});
    }
    return false;
  }
  // Both rows' loads are on their way before either is used.
  auto q = rows.draft.begin(tile);
  rows.target.complete(tile, p);
  rows.draft.complete(tile, q);
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) {
    const float of_target = log_target(p.logit(i));
    const float of_draft = relative_log(q.logit(i), rows.draft.scale.scale, distribution.draft);
    visit(i, ResidualFactors{power_of_two(of_target), one_minus_power((of_draft - of_target) + offset)});
  }
  bool invalid = false;
  if (rows.draft_sum_given) {
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) invalid = invalid || q.logit(i) != q.logit(i);
  }
  return invalid;
}

/// Scratch for the reductions of a block.
struct WeightScratch {
  union {
    PartialSumScratch partial;
    simt::BlockScratch<double, tile_warps> sum;
  };
};

/// The sum of a tile's weights under a distribution, whose rows' sums are valid; the first warp gets it. One
/// `sync` within, and another before the scratch is used again.
template <class Row>
SPECLAB_DEVICE TileWeightSum tile_weight_sum(const RowPair<Row>& rows, const NextDistribution& distribution,
                                             std::int32_t tile, WeightScratch& scratch) {
  if (distribution.weighing == Weighing::target) {
    const PartialSum partial = tile_part(whole_tile(rows.target, tile), rows.target.scale, scratch.partial);
    return {static_cast<double>(partial.sum), partial.reference};
  }
  float sums[4] = {0, 0, 0, 0};
  const bool invalid =
      visit_residual(rows, distribution, tile, [&sums](int i, const ResidualFactors& factors) {
        sums[i % 4] = fmaf(factors.power, factors.share, sums[i % 4]);
      });
  double sum = static_cast<double>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  if (invalid) sum = invalid_log;
  return {simt::block_reduce(sum, scratch.sum, [](double a, double b) { return a + b; }), 0};
}

/// This thread's weights again, that `tile_weight_sum` summed.
template <class Row>
SPECLAB_DEVICE HeldWeights tile_weights(const RowPair<Row>& rows, const NextDistribution& distribution,
                                        std::int32_t tile, float reference) {
  HeldWeights weights;
  if (distribution.weighing == Weighing::target) {
    const auto p = whole_tile(rows.target, tile);
    SPECLAB_UNROLL
    for (int i = 0; i < held; ++i) {
      weights.weight[i] = relative_weight(p.logit(i), rows.target.scale.scale, reference);
    }
  } else {
    visit_residual(rows, distribution, tile, [&weights](int i, const ResidualFactors& factors) {
      weights.weight[i] = factors.power * factors.share;
    });
  }
  return weights;
}

}  // namespace speclab
