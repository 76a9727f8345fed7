// The inputs of a measurement on any executor.
#pragma once

#include "kernels/bench/fill_logits.hpp"
#include "kernels/bench/measure.hpp"
#include "kernels/verify/fused_layout.hpp"

namespace speclab {

/// target: [requests, gamma + 1, vocab], draft: [requests, gamma, vocab], drafted: [requests, gamma], where
/// the executor works.
template <class Executor>
void make_inputs(Executor&& executor, const BenchShape& shape, const MadeLogits& how, void* target,
                 void* draft, Token* drafted) {
  const std::int64_t drafts = std::int64_t{shape.requests} * shape.gamma;
  with_logit_type(shape.dtype, [&](auto logit) {
    using T = decltype(logit);
    using Fill = bench::FillLogits<T>;
    using Draws = bench::DrawDrafts<T>;
    executor.template run<Fill>(Fill::launch(drafts + shape.requests, shape.vocab),
                                {target, how, shape.gamma, shape.vocab, true});
    executor.template run<Fill>(Fill::launch(drafts, shape.vocab),
                                {draft, how, shape.gamma, shape.vocab, false});
    executor.template run<Draws>(Draws::launch(drafts), {draft, drafted, shape.vocab, how.seed});
  });
}

}  // namespace speclab
