// A batch of verification requests in the host's memory, with room for what a kernel leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/bench_batch.hpp"
#include "kernels/verify/agreement.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Verifies a batch in host memory and leaves the results there: by the emulator or by a GPU.
using BatchRunner = std::function<void(Implementation, const VerifyBatch&)>;

/// What a request came to.
struct RequestResult {
  std::int32_t accepted = 0;
  Token next = 0;
  std::uint32_t flags = 0;

  bool operator==(const RequestResult&) const = default;
};

/// Logits are set as floats and stored in the shape's format.
class RequestBatch {
 public:
  /// All logits 0, drafted tokens 0, request i at RandomAddress{seed, first_trial + i, 0}.
  RequestBatch(const BenchShape& shape, std::uint64_t seed, std::uint32_t first_trial = 0);

  void set(bool of_target, std::int32_t request, std::int32_t position, Token id, float logit);
  Token& drafted(std::int32_t request, std::int32_t position);

  /// Logits of `how` in all rows, and drafted tokens drawn from the draft's.
  void make(const MadeLogits& how);

  /// Instead of random numbers: gamma + 1 of the first request; 0.5 for others.
  void set_uniforms(std::vector<double> uniforms);

  /// A copy that stays with the batch, for options to point to.
  template <class T>
  const T* keep(const std::vector<T>& values) {
    T* const kept = memory_.room<T>(values.size());
    memory_.put(kept, values.data(), values.size());
    return kept;
  }

  /// What a kernel left there. Results are overwritten with a pattern before it runs.
  std::vector<RequestResult> run(const BatchRunner& runner, Implementation implementation);

  VerifyBatch batch;  ///< options, lengths and rule may be changed

 private:
  HostMemory memory_;
};

/// The rules that kernels are tested with: token, lenient (0.6) and block verification.
std::vector<VerifyRule> checked_rules();
std::string rule_name(const VerifyRule& rule);

/// What a run left in the batch beside the reference of the implementation.
DecisionAgreement decision_agreement(Implementation implementation, const VerifyBatch& batch);

}  // namespace speclab
