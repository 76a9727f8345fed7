// The verification kernels by name: what each launches, how much it moves, and how to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/simt/emulator.hpp"
#include "kernels/simt/launch.hpp"
#include "kernels/verify/verify_batch.hpp"

struct CUstream_st;  // cudaStream_t points to one

namespace speclab {

enum class Implementation : std::int32_t {
  fused = 0,           ///< ours (verify/fused.hpp, verify/fused_block.hpp)
  cluster = 1,         ///< ours, rows after a rejection not read (verify/cluster.hpp); sm_90
  baseline = 2,        ///< softmaxes, gather, residual, multinomial one after the other
  wagner_exact = 3,    ///< Wagner et al. 2024, section 3.2.1
  wagner_sigmoid = 4,  ///< the same, section 3.2.2: another output distribution
};

struct ImplementationInfo {
  Implementation implementation;
  const char* name;      ///< as on the command line, such as "wagner-sigmoid"
  const char* sentence;  ///< what it is
  bool exact;            ///< whether its output distribution is the target's
  int capability = 80;   ///< least compute capability of a device that runs it
};

/// All of them, in the order of the enumeration.
std::span<const ImplementationInfo> implementations();

/// What running it takes, from the sizes and options of a batch; pointers are only asked whether they are
/// null.
struct KernelLayout {
  std::vector<simt::Launch> launches;  ///< those with 0 blocks are left out
  std::size_t workspace_bytes = 0;     ///< scratch; what it holds before does not matter
};

/// Why an implementation cannot run a batch: a sentence's end, such as "needs the draft's logits". Nothing
/// when it can. The functions below throw std::invalid_argument with it.
std::optional<std::string> unsupported_reason(Implementation implementation, const VerifyBatch& batch);

KernelLayout layout_of(Implementation implementation, const VerifyBatch& batch);

/// Bytes of global memory that the algorithm has to read and write, from the sizes and how many tokens each
/// request keeps on average: logits, intermediate rows, scratch. Caches may serve part of them.
struct Traffic {
  double read = 0;
  double written = 0;
  double total() const { return read + written; }
};

/// What traffic depends on beyond sizes: means over the requests.
struct MeanOutcome {
  double accepted = 0;   ///< drafted tokens accepted
  double rejecting = 0;  ///< share of the requests that reject one
};

Traffic traffic_of(Implementation implementation, const VerifyBatch& batch, const MeanOutcome& outcome);

/// In the emulator: batch in host memory. Returns the bytes that threads loaded.
std::uint64_t run_emulated(Implementation implementation, const VerifyBatch& batch,
                           simt::Order order = simt::Order::forward);

/// On the GPU (in the library speclab::gpu): batch and workspace in device memory, launched on the stream.
/// Throws std::runtime_error with call, file and line when CUDA refuses.
void run_on_gpu(Implementation implementation, const VerifyBatch& batch, void* workspace,
                CUstream_st* stream);

}  // namespace speclab
