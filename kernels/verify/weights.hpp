// Computes the weights of the next token's distribution tile by tile: their sums, for choosing a tile and a
// cell of it (tile.hpp), then the weights of that cell again, id by id, for choosing an id.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/any_row.hpp"
#include "kernels/verify/tile.hpp"

namespace speclab {

/// The weights of the next token: (prefix p - scale q)+ relative to prefix p of the row's reference
/// (`residual`); the target's weights alone, relative to a reference of each tile's own, for which the row's
/// sum need not be known (`target`); or none, if the next token is known (`known`).
enum class Weighing : std::uint8_t { residual, target, known };

/// The distribution of the next token: its position, and the sums of the target's and the draft's row there.
struct NextDistribution {
  std::int32_t position = 0;
  Weighing weighing = Weighing::target;
  LogSum target;
  LogSum draft;
  bool certain = false;  ///< the draft was certain of a token, and has no row
  /// The certain token, which need not be in the vocabulary; or the known one.
  Token token = no_token;
  float log_prefix = 0;  ///< log2 of block verification's p_i; 0 otherwise
  float log_scale = 0;   ///< log2 of the factor on the draft

  /// Returns log2 of scale q / (prefix p), without the part that comes from the logits and references. NaN: a
  /// row is invalid.
  SPECLAB_HD float log_offset() const {
    return static_cast<float>((static_cast<double>(log_scale) - draft.log_sum) -
                              (static_cast<double>(log_prefix) - target.log_sum));
  }
  /// Returns the factor that turns residual weights into probabilities.
  SPECLAB_HD double residual_unit() const { return exp2(static_cast<double>(log_prefix) - target.log_sum); }
};

/// The sum of a tile's weights, in units of 2^(reference * scale).
struct TileWeightSum {
  double sum;
  float reference;  ///< 0 for a residual
};

/// The weights of a tile's cells in the same units: lane l of a warp has those of cells l * lane_cells to l *
/// lane_cells + lane_cells - 1.
template <class T>
struct LaneCells {
  static constexpr int count = TileShape<T>::lane_cells;
  float weight[count];

  /// Writes the weights to the cells of their tile. All lanes of the first warp call it.
  SPECLAB_DEVICE void leave(float* of_tile) const {
    SPECLAB_UNROLL
    for (int i = 0; i < count; ++i) of_tile[simt::thread_index() * count + i] = weight[i];
  }
};

/// A row of logits in global memory, and its scale.
template <class T>
struct LogitRow {
  using Logit = T;
  const T* data = nullptr;
  std::int32_t vocab = 0;
  RowScale scale{};

  SPECLAB_DEVICE double exact(Token id) const { return static_cast<double>(to_float(load_one(data + id))); }
  SPECLAB_DEVICE float one(Token id) const { return to_float(load_one(data + id)); }

  SPECLAB_DEVICE simt::Vector16 begin(std::int32_t tile, int step) const {
    return load_step(data, vocab, tile, step);
  }
  SPECLAB_DEVICE void complete(std::int32_t tile, int step, simt::Vector16& mine) const {
    rest_of_step(data, vocab, tile, step, mine);
    cut_step<T>(mine, scale.cutoff);
  }
  SPECLAB_DEVICE bool as_loaded(std::int32_t tile) const {
    return loaded_whole(data, vocab, tile) && !(scale.cutoff > -INFINITY);
  }
  /// Returns the address of the 16 bytes that `begin` loads; null if there are none.
  SPECLAB_DEVICE const simt::Vector16* vector(std::int32_t tile, int step) const {
    return first_vector(data, vocab, tile, step);
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

/// Returns a row by its own ids.
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

/// Returns a row by the ids of the target.
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

/// The rows that the next token's weights are computed from; the draft's only for a residual.
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
      // The draft has all probability on one id, whose number among the target's ids is not known.
      if (distribution.draft.top != no_token) {
        rows.draft.only = distribution.draft.top;
        rows.draft.only_logit = distribution.draft.reference;
        rows.draft.scale = {1, -INFINITY};
      }
    }
  }
  return rows;
}

/// Computes the weights of a distribution from its rows.
template <class Row>
class WeightsOf {
 public:
  using T = typename Row::Logit;
  using Shape = TileShape<T>;
  /// This thread's part of a step of both rows.
  struct Step {
    simt::Vector16 target;
    simt::Vector16 draft;
  };

  SPECLAB_DEVICE WeightsOf(const RowPair<Row>& rows, const NextDistribution& distribution)
      : residual(distribution.weighing == Weighing::residual), rows_(rows), distribution_(distribution) {
    if (!residual) return;
    offset_ = distribution.log_offset();
    const Token drafted = distribution.token;
    if (distribution.certain && drafted >= 0 && drafted < rows.target.vocab)
      certain_share_ = one_minus_power(offset_ - log_target(rows.target.one(drafted)));
  }

  const bool residual;

  SPECLAB_DEVICE Step begin(std::int32_t tile, int step) const {
    Step mine{rows_.target.begin(tile, step), {}};
    if (residual && !distribution_.certain) mine.draft = rows_.draft.begin(tile, step);
    return mine;
  }

  /// Computes this thread's weights of a step; the target's are relative to the reference.
  SPECLAB_DEVICE void of_step(std::int32_t tile, int step, float reference, Step& mine,
                              float (&weight)[Shape::width]) const {
    if (residual) {
      of_residual(tile, step, mine, weight);
      return;
    }
    rows_.target.complete(tile, step, mine.target);
    of_target(mine, reference, weight);
  }

  /// Returns the sum of a warp's weights in a step.
  SPECLAB_DEVICE PartialSum of_cell(std::int32_t tile, int step, Step& mine) const {
    float weight[Shape::width];
    float reference = 0;
    bool invalid = false;
    if (residual) {
      invalid = of_residual(tile, step, mine, weight);
    } else {
      rows_.target.complete(tile, step, mine.target);
      float largest = logit_in<T>(mine.target, 0);
      SPECLAB_UNROLL
      for (int k = 1; k < Shape::width; ++k) largest = fmaxf(largest, logit_in<T>(mine.target, k));
      largest = simt::warp_reduce(largest, [](float a, float b) { return fmaxf(a, b); });
      reference = reference_of(largest);
      of_target(mine, reference, weight);
    }
    float sum = invalid ? NAN : 0;
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; k += 2) sum += weight[k] + weight[k + 1];
    sum = simt::warp_sum(sum);
    return {sum == 0 ? -INFINITY : reference, sum};
  }

 private:
  /// Computes this thread's residual weights of a step: for each id the product of p and 1 - scale q /
  /// (prefix p), which is 0 if p = 0. Returns whether the draft holds a NaN or +inf that its given sum does
  /// not show; others show in the weights.
  SPECLAB_DEVICE bool of_residual(std::int32_t tile, int step, Step& mine,
                                  float (&weight)[Shape::width]) const {
    rows_.target.complete(tile, step, mine.target);
    if (distribution_.certain) {
      const std::int32_t first = Shape::first(tile, step, simt::thread_index());
      SPECLAB_UNROLL
      for (int k = 0; k < Shape::width; ++k) {
        const float share = first + k == distribution_.token ? certain_share_ : 1;
        weight[k] = power_of_two(log_target(logit_in<T>(mine.target, k))) * share;
      }
      return false;
    }
    rows_.draft.complete(tile, step, mine.draft);
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; ++k) {
      const float of_target = log_target(logit_in<T>(mine.target, k));
      const float of_draft =
          relative_log(logit_in<T>(mine.draft, k), rows_.draft.scale.scale, distribution_.draft);
      weight[k] = power_of_two(of_target) * one_minus_power((of_draft - of_target) + offset_);
    }
    bool invalid = false;
    if (rows_.draft_sum_given) {
      SPECLAB_UNROLL
      for (int k = 0; k < Shape::width; ++k) {
        const float logit = logit_in<T>(mine.draft, k);
        invalid = invalid || !(logit < INFINITY);
      }
    }
    return invalid;
  }
  SPECLAB_DEVICE void of_target(const Step& mine, float reference, float (&weight)[Shape::width]) const {
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; ++k)
      weight[k] = relative_weight(logit_in<T>(mine.target, k), rows_.target.scale.scale, reference);
  }
  SPECLAB_DEVICE float log_target(float logit) const {
    return relative_log(logit, rows_.target.scale.scale, distribution_.target);
  }

  const RowPair<Row>& rows_;
  const NextDistribution& distribution_;
  float offset_ = 0;
  float certain_share_ = 1;
};

/// log2 of the share of the largest cell's weight below which a cell counts as empty.
inline constexpr float negligible_cell = -100;

/// Scratch for what a block's warps find in a tile.
template <class T>
struct WeightScratch {
  union {
    PartialSumScratch top;
    PartialSum of_cell[TileShape<T>::cells];
  };
};

/// Sums the weights of every `stride`-th tile from `first` on, and calls `leave(tile, sum, cells)` in the
/// first warp. The rows' sums must be valid. The steps of all these tiles follow one another, and the next
/// step is loaded while one is summed. All threads of a block call it, and `sync` before the scratch is used
/// again; the two scratches take turns so that one barrier per tile is enough.
template <class Row, class Leave>
SPECLAB_DEVICE void weigh_tiles(const RowPair<Row>& rows, const NextDistribution& distribution,
                                std::int32_t first, std::int32_t stride, std::int32_t tiles,
                                WeightScratch<typename Row::Logit> (&scratch)[2], const Leave& leave) {
  using Weights = WeightsOf<Row>;
  using Shape = typename Weights::Shape;
  using Cells = LaneCells<typename Row::Logit>;
  const bool in_first_warp = simt::thread_index() < simt::warp_size;
  const int lane = simt::thread_index() % simt::warp_size;
  const int warp = simt::thread_index() / simt::warp_size;
  const Weights weights(rows, distribution);
  int turn = 0;
  if (!weights.residual && rows.target.scale.lowest()) {
    SPECLAB_ROLLED
    for (std::int32_t tile = first; tile < tiles; tile += stride, turn ^= 1) {
      const PartialSum top = row_top(rows.target, tile, scratch[turn].top);
      if (in_first_warp) leave(tile, TileWeightSum{static_cast<double>(top.sum), top.reference}, Cells{});
    }
    return;
  }
  if (first >= tiles) return;
  typename Weights::Step following = weights.begin(first, 0);
  SPECLAB_ROLLED
  for (std::int32_t tile = first; tile < tiles; tile += stride, turn ^= 1) {
    PartialSum* const of_cell = scratch[turn].of_cell;
    SPECLAB_ROLLED
    for (int s = 0; s < Shape::steps; ++s) {
      typename Weights::Step mine = following;
      const bool within = s + 1 < Shape::steps;
      const std::int32_t next_tile = within ? tile : tile + stride;
      if (next_tile < tiles) following = weights.begin(next_tile, within ? s + 1 : 0);
      const PartialSum cell = weights.of_cell(tile, s, mine);
      if (lane == 0) of_cell[s * tile_warps + warp] = cell;
    }
    simt::sync();
    if (!in_first_warp) continue;
    PartialSum own[Shape::lane_cells];
    float reference = -INFINITY;
    SPECLAB_UNROLL
    for (int i = 0; i < Shape::lane_cells; ++i) {
      own[i] = of_cell[lane * Shape::lane_cells + i];
      reference = fmaxf(reference, own[i].reference);
    }
    reference = simt::warp_reduce(reference, [](float a, float b) { return fmaxf(a, b); });
    Cells cells;
    double sum = 0;
    SPECLAB_UNROLL
    for (int i = 0; i < Shape::lane_cells; ++i) {
      // So far below the tile's reference all weights are 0. An empty cell's is -inf, and NaN stays NaN.
      const float below = (own[i].reference - reference) * rows.target.scale.scale;
      cells.weight[i] = own[i].sum * (below >= negligible_cell ? power_of_two(below) : 0);
      sum += static_cast<double>(cells.weight[i]);
    }
    leave(tile, TileWeightSum{simt::warp_sum(sum), reference}, cells);
  }
}

}  // namespace speclab
