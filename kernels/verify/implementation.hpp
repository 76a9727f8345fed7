// The verification kernels by name: what each launches, how many bytes it moves, and how to run it.
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
  fused = 0,  ///< ours (verify/fused.hpp, verify/fused_block.hpp)
  /// Ours; does not read rows after a rejection (verify/cluster.hpp); sm_90.
  cluster = 1,
  baseline = 2,  ///< Hugging Face's operations one after the other: softmaxes, gather, residual, multinomial
  wagner_exact = 3,    ///< Wagner et al. 2024, section 3.2.1
  wagner_sigmoid = 4,  ///< Wagner et al. 2024, section 3.2.2; changes the output distribution
};

struct ImplementationInfo {
  Implementation implementation;
  const char* name;      ///< name on the command line, such as "wagner-sigmoid"
  const char* sentence;  ///< description
  bool exact;            ///< whether its output distribution is the target's
  int capability = 80;   ///< lowest compute capability of a device that runs it
};

/// Returns all implementations, in the order of the enumeration.
std::span<const ImplementationInfo> implementations();

/// The launches and the workspace of an implementation. They follow from the sizes and options of a batch,
/// and from which pointers are null.
struct KernelLayout {
  std::vector<simt::Launch> launches;  ///< without those of 0 blocks
  std::size_t workspace_bytes = 0;     ///< scratch; its contents before the run do not matter
};

/// Returns the reason why an implementation cannot run a batch, as a sentence's end such as "needs the
/// draft's logits"; nothing if it can. The functions below throw std::invalid_argument with this reason.
std::optional<std::string> unsupported_reason(Implementation implementation, const VerifyBatch& batch);

KernelLayout layout_of(Implementation implementation, const VerifyBatch& batch);

/// Bytes of global memory that the algorithm must read and write, computed from the sizes and from the mean
/// number of accepted tokens: logits, intermediate rows, scratch. Caches may serve part of them.
struct Traffic {
  double read = 0;
  double written = 0;
  double total() const { return read + written; }
};

/// Means over requests that, with the sizes, determine the traffic.
struct MeanOutcome {
  double accepted = 0;   ///< drafted tokens accepted
  double rejecting = 0;  ///< share of the requests that reject a token
};

Traffic traffic_of(Implementation implementation, const VerifyBatch& batch, const MeanOutcome& outcome);

/// Runs an implementation in the emulator, on a batch in host memory. Returns the bytes that threads loaded.
std::uint64_t run_emulated(Implementation implementation, const VerifyBatch& batch,
                           simt::Order order = simt::Order::forward);

/// Runs an implementation on the GPU (in the library speclab::gpu), on a batch and a workspace in device
/// memory, and launches it on the stream. Throws std::runtime_error with call, file and line when CUDA fails.
void run_on_gpu(Implementation implementation, const VerifyBatch& batch, void* workspace,
                CUstream_st* stream);

}  // namespace speclab
