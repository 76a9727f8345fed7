// Rows of floats that one launch leaves for the next (as in programs that work on complete tensors), and the
// bytes that moving them takes.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/verify/implementation.hpp"
#include "kernels/verify/weights.hpp"
#include "kernels/verify/workspace.hpp"

namespace speclab {

/// Rows in scratch, [requests, positions, stride]. The stride is a multiple of 16 bytes, so that tiles are
/// stored 16 bytes at a time; numbers beyond the vocabulary are never read.
struct FloatRows {
  float* data;
  std::int64_t stride;
  std::int32_t positions;

  SPECLAB_HD float* at(std::int64_t request, std::int32_t position) const {
    return data + (request * positions + position) * stride;
  }
};

SPECLAB_HD inline std::int64_t float_stride(std::int32_t vocab) { return (std::int64_t{vocab} + 3) / 4 * 4; }

/// Stores this thread's part of a tile, held in the order of logits of type T.
template <class T>
SPECLAB_DEVICE void store_tile(float* row, std::int64_t stride, std::int32_t tile, const HeldWeights& mine) {
  using Shape = TileShape<T>;
  SPECLAB_UNROLL
  for (int s = 0; s < Shape::steps; ++s) {
    SPECLAB_UNROLL
    for (int k = 0; k < Shape::width; k += 4) {
      const std::int64_t id = Shape::first(tile, s, simt::thread_index()) + k;
      if (id >= stride) continue;
      const float* const four = &mine.weight[s * Shape::width + k];
      *reinterpret_cast<simt::Vector16*>(row + id) = {
          {bits_of_float(four[0]), bits_of_float(four[1]), bits_of_float(four[2]), bits_of_float(four[3])}};
    }
  }
}

/// Loads this thread's part of a tile of a row of weights; ids beyond the vocabulary get 0.
SPECLAB_DEVICE inline HeldWeights load_weights(const float* row, std::int32_t vocab, std::int32_t tile) {
  const HeldTile<float> loaded = whole_tile(LogitRow<float>{row, vocab, {1, -INFINITY}}, tile);
  HeldWeights mine;
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) mine.weight[i] = loaded.logit(i) < 0 ? 0 : loaded.logit(i);
  return mine;
}

using SumScratch = simt::BlockScratch<double, tile_warps>;

/// Returns the sum of a tile in double to all threads of the block.
SPECLAB_DEVICE inline double tile_sum(const HeldWeights& mine, SumScratch& scratch) {
  double sum = 0;
  SPECLAB_UNROLL
  for (int i = 0; i < held; ++i) sum += static_cast<double>(mine.weight[i]);
  return simt::block_reduce(sum, scratch, [](double a, double b) { return a + b; });
}

/// Returns a batch's traffic from that per id of the vocabulary and request, launch by launch.
inline Traffic traffic_of_ids(const VerifyBatch& batch, std::initializer_list<Traffic> parts) {
  const double ids = static_cast<double>(batch.requests) * batch.vocab;
  Traffic sum;
  for (const Traffic& part : parts) {
    sum.read += ids * part.read;
    sum.written += ids * part.written;
  }
  return sum;
}

inline FloatRows take_rows(WorkspaceParts& workspace, std::int64_t requests, std::int32_t positions,
                           std::int32_t vocab) {
  const std::int64_t stride = float_stride(vocab);
  return {workspace.take<float>(requests * positions * stride), stride, positions};
}

}  // namespace speclab
