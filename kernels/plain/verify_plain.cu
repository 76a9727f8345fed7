#include "kernels/plain/verify_plain.hpp"

#include "kernels/gpu/cuda_executor.hpp"

namespace speclab {

std::vector<Verdict> verify_plain(const BatchView& batch, PlainRule rule) {
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

  simt::CudaExecutor(nullptr).run<VerifyPlain>(plain_launch(batch.requests),
                                               {on_device, rule, results.get()});
  SPECLAB_CUDA(
      cudaMemcpy(verdicts.data(), results.get(), requests * sizeof(Verdict), cudaMemcpyDeviceToHost));
  return verdicts;
}

}  // namespace speclab
