// A batch of verification requests with rows of probabilities, as the CPU and the GPU see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random/random_source.hpp"
#include "core/round/verify.hpp"
#include "core/rules/block.hpp"

namespace speclab {

/// Views of row-major arrays of `requests` requests: targets [requests, gamma + 1, vocab], drafts [requests,
/// gamma, vocab], drafted [requests, gamma]. Request i draws the random numbers of trial i, round 0 of
/// `seed`. Index arithmetic is 64-bit: requests * (gamma + 1) * vocab exceeds 2^31 in real batches.
struct BatchView {
  const double* targets;
  const double* drafts;
  const Token* drafted;
  std::int64_t requests;
  std::int32_t gamma;
  std::int32_t vocab;
  std::uint64_t seed;

  SPECLAB_HD Row target(std::int64_t request, std::int32_t position) const {
    return {targets + (request * (gamma + 1) + position) * vocab, vocab};
  }
  SPECLAB_HD Row draft(std::int64_t request, std::int32_t position) const {
    return {drafts + (request * gamma + position) * vocab, vocab};
  }
};

/// The rules that the plain kernel runs.
enum class PlainRule : std::int32_t { token, block };

/// Verifies one request by core's own program, which every backend calls. For blocks gamma is at most
/// max_block.
SPECLAB_HD inline Verdict verify_request(const BatchView& batch, PlainRule rule, std::int64_t request) {
  SampledRandomSource random = sampled_random_source(batch.seed, static_cast<std::uint32_t>(request), 0);
  const auto targets = [&](std::int32_t i) { return batch.target(request, i); };
  const auto drafts = [&](std::int32_t i) { return batch.draft(request, i); };
  const Token* const drafted = batch.drafted + request * batch.gamma;
  return rule == PlainRule::block ? verify(BlockRule{}, targets, drafts, drafted, batch.gamma, random)
                                  : verify(TokenRule{}, targets, drafts, drafted, batch.gamma, random);
}

/// Returns the verdict of every request, one after the other, on the CPU: the definition.
inline std::vector<Verdict> verify_reference(const BatchView& batch, PlainRule rule = PlainRule::token) {
  std::vector<Verdict> verdicts;
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    verdicts.push_back(verify_request(batch, rule, request));
  }
  return verdicts;
}

}  // namespace speclab
