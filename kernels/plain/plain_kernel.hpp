// One thread a request, each running core's own program over rows of probabilities.
#pragma once

#include "kernels/plain/probability_batch.hpp"
#include "kernels/simt/simt.hpp"

namespace speclab {

struct PlainArgs {
  BatchView batch;
  PlainRule rule;
  Verdict* verdicts;
};

struct VerifyPlain : simt::KernelOf<PlainArgs, 64, 1> {
  static constexpr const char* name = "verify plain";

  SPECLAB_DEVICE void operator()(const Args& args) const {
    const std::int64_t request = simt::block_index() * threads + simt::thread_index();
    if (request < args.batch.requests) {
      args.verdicts[request] = verify_request(args.batch, args.rule, request);
    }
  }
};

inline simt::Launch plain_launch(std::int64_t requests) {
  return simt::launch_of<VerifyPlain>((requests + VerifyPlain::threads - 1) / VerifyPlain::threads);
}

}  // namespace speclab
