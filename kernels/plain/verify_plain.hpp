// The simplest kernel: one thread per request runs the reference's own function. It is slow (one thread reads
// a whole row), but shows that core/ decides alike on CPU and GPU; faster kernels are compared with it.
#pragma once

#include <vector>

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

/// Returns the verdict of every request, bit for bit that of verify_reference. `batch` points to host memory.
/// Throws std::runtime_error with call, file and line when CUDA fails.
std::vector<Verdict> verify_plain(const BatchView& batch, PlainRule rule);

}  // namespace speclab
