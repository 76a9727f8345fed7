// The first kernel: one thread a request, running the reference's own function. Slow (a row is read by one
// thread), and the proof that core/ decides alike on both processors; faster kernels are compared with it.
#pragma once

#include <vector>

#include "kernels/plain/probability_batch.hpp"

namespace speclab {

/// The verdict of every request, bit for bit those of verify_reference. `batch` points to host memory. Throws
/// std::runtime_error with call, file and line when CUDA fails.
std::vector<Verdict> verify_plain(const BatchView& batch, PlainRule rule);

}  // namespace speclab
