// Some requests of a batch as a batch of their own.
#pragma once

#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// `count` requests of a batch from `first` on, as a batch.
inline VerifyBatch part_of(const VerifyBatch& batch, std::int64_t first, std::int32_t count) {
  VerifyBatch part = batch;
  part.requests = count;
  const auto shift_rows = [&](LogitRows& rows) {
    if (rows.data == nullptr) return;
    rows.data =
        static_cast<const unsigned char*>(rows.data) + first * rows.request_stride * dtype_bytes(rows.dtype);
  };
  const auto shift = [&](auto& pointer, std::int64_t each) {
    if (pointer != nullptr) pointer += first * each;
  };
  shift_rows(part.target);
  shift_rows(part.draft);
  shift(part.target_options.temperature, batch.gamma + 1);
  shift(part.target_options.cutoff, batch.gamma + 1);
  shift(part.target_options.log_sum_exp, batch.gamma + 1);
  shift(part.draft_options.temperature, batch.gamma);
  shift(part.draft_options.cutoff, batch.gamma);
  shift(part.draft_options.log_sum_exp, batch.gamma);
  shift(part.drafted, batch.gamma);
  shift(part.lengths, 1);
  shift(part.addresses, 1);
  shift(part.uniforms, batch.gamma + 1);
  shift(part.accepted, 1);
  shift(part.next, 1);
  shift(part.flags, 1);
  shift(part.tokens, batch.gamma + 1);
  shift(part.counts, 1);
  return part;
}

}  // namespace speclab
