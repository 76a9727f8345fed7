#include "speclab/kernels/plain/verify_plain.hpp"

#include "speclab/kernels/gpu/cuda_check.hpp"

namespace speclab {

namespace {

__global__ void verify_plain_kernel(BatchView batch, Verdict* verdicts) {
  const std::int64_t request = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (request < batch.requests) verdicts[request] = verify_request(batch, request);
}

}  // namespace

std::vector<Verdict> verify_plain(const BatchView& batch) {
  const auto requests = static_cast<std::size_t>(batch.requests);
  const auto gamma = static_cast<std::size_t>(batch.gamma);
  const auto vocab = static_cast<std::size_t>(batch.vocab);
  std::vector<Verdict> verdicts(requests);
  if (requests == 0) return verdicts;

  const auto targets = device_copy(batch.targets, requests * (gamma + 1) * vocab);
  const auto drafts = device_copy(batch.drafts, requests * gamma * vocab);
  const auto drafted = device_copy(batch.drafted, requests * gamma);
  const auto results = device_array<Verdict>(requests);
  BatchView on_device = batch;
  on_device.targets = targets.get();
  on_device.drafts = drafts.get();
  on_device.drafted = drafted.get();

  constexpr unsigned threads = 64;
  const auto blocks = static_cast<unsigned>((requests + threads - 1) / threads);
  verify_plain_kernel<<<blocks, threads>>>(on_device, results.get());
  SPECLAB_CUDA(cudaGetLastError());
  SPECLAB_CUDA(
      cudaMemcpy(verdicts.data(), results.get(), requests * sizeof(Verdict), cudaMemcpyDeviceToHost));
  return verdicts;
}

}  // namespace speclab
