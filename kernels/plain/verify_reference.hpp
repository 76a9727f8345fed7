// The definition: one request after the other, on the CPU.
#pragma once

#include <vector>

#include "kernels/plain/probability_batch.hpp"

namespace speclab {

/// The verdict of every request.
inline std::vector<Verdict> verify_reference(const BatchView& batch, PlainRule rule = PlainRule::token) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(static_cast<std::size_t>(batch.requests));
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    verdicts.push_back(verify_request(batch, rule, request));
  }
  return verdicts;
}

}  // namespace speclab
