// Makes a batch of some requests of a larger batch.
#pragma once

#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// Returns requests `first` to `first + count - 1` of a batch, as a batch.
inline VerifyBatch part_of(const VerifyBatch& batch, std::int64_t first, std::int32_t count) {
  VerifyBatch part = batch;
  part.requests = count;
  const auto shift_rows = [&](LogitRows& rows) {
    if (rows.index != nullptr) {
      rows.index += first;
      return;
    }
    if (rows.data == nullptr) return;
    rows.data =
        static_cast<const unsigned char*>(rows.data) + first * rows.request_stride * dtype_bytes(rows.dtype);
  };
  const auto shift = [&](auto& pointer, std::int64_t each) {
    if (pointer != nullptr) pointer += first * each;
  };
  shift_rows(part.target);
  shift_rows(part.draft);
  for (const bool of_target : {true, false}) {
    RowOptions& options = of_target ? part.target_options : part.draft_options;
    for (View<const float>* view : {&options.temperature, &options.cutoff, &options.log_sum_exp}) {
      *view = view->from(first, batch.positions_of(of_target));
    }
  }
  part.mask = batch.mask.from(first, batch.gamma + 1);
  part.top_k = batch.top_k.from(first, batch.gamma + 1);
  part.top_p = batch.top_p.from(first, batch.gamma + 1);
  part.min_p = batch.min_p.from(first, batch.gamma + 1);
  part.drafted = batch.drafted.from(first, batch.gamma);
  part.seeds = batch.seeds.from(first, 1);
  part.positions = batch.positions.from(first, 1);
  shift(part.lengths, 1);
  shift(part.cumulative, 1);
  shift(part.bonus, 1);
  shift(part.addresses, 1);
  shift(part.uniforms, batch.gamma + 1);
  shift(part.accepted, 1);
  shift(part.next, 1);
  shift(part.flags, 1);
  shift(part.tokens, batch.gamma + 1);
  shift(part.counts, 1);
  shift(part.log_probabilities, batch.gamma + 1);
  shift(part.log_sum_exps, batch.gamma + 1);
  return part;
}

}  // namespace speclab
