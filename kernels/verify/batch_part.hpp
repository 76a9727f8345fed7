// Visits the arrays of a batch, and makes a batch of some requests of a larger batch.
#pragma once

#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// Calls `visit(name, array, each, more)` for all arrays that are pointers with `each` entries for each
/// request, and `more` after them.
template <class Batch, class Visit>
void each_array(Batch& batch, const Visit& visit) {
  const std::int64_t positions = batch.gamma + 1;
  visit("accepted", batch.accepted, 1, 0);
  visit("next", batch.next, 1, 0);
  visit("flags", batch.flags, 1, 0);
  visit("tokens", batch.tokens, positions, 0);
  visit("counts", batch.counts, 1, 0);
  visit("log_probabilities", batch.log_probabilities, positions, 0);
  visit("log_sum_exps", batch.log_sum_exps, positions, 0);
  visit("lengths", batch.lengths, 1, 0);
  visit("cumulative", batch.cumulative, 1, 1);
  visit("addresses", batch.addresses, 1, 0);
  visit("uniforms", batch.uniforms, positions, 0);
  visit("bonus", batch.bonus, 1, 0);
}

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
  shift_rows(part.target);
  shift_rows(part.draft);
  for (const bool of_target : {true, false}) {
    RowOptions& options = of_target ? part.target_options : part.draft_options;
    for (View<const float>* view : {&options.temperature, &options.cutoff, &options.log_sum_exp})
      *view = view->from(first, batch.positions_of(of_target));
  }
  part.mask = batch.mask.from(first, batch.gamma + 1);
  part.top_k = batch.top_k.from(first, batch.gamma + 1);
  part.top_p = batch.top_p.from(first, batch.gamma + 1);
  part.min_p = batch.min_p.from(first, batch.gamma + 1);
  part.drafted = batch.drafted.from(first, batch.gamma);
  part.seeds = batch.seeds.from(first, 1);
  part.positions = batch.positions.from(first, 1);
  each_array(part, [first](const char*, auto& array, std::int64_t each, std::int64_t) {
    if (array != nullptr) array += first * each;
  });
  return part;
}

}  // namespace speclab
