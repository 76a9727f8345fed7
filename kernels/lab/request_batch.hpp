// A batch of verification requests in host memory, with room for results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/bench_batch.hpp"
#include "kernels/verify/agreement.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Verifies a batch in host memory, in the emulator or on a GPU, and leaves the results in it.
using BatchRunner = std::function<void(Implementation, const VerifyBatch&)>;

struct RequestResult {
  std::int32_t accepted = 0;
  Token next = 0;
  std::uint32_t flags = 0;

  bool operator==(const RequestResult&) const = default;
};

/// A batch whose logits are set as floats and stored in the shape's format.
class RequestBatch {
 public:
  /// Makes a batch with all logits 0, drafted tokens 0, and request i at RandomAddress{seed, first_trial + i,
  /// 0}.
  RequestBatch(const BenchShape& shape, std::uint64_t seed, std::uint32_t first_trial = 0);

  void set(bool of_target, std::int32_t request, std::int32_t position, Token id, float logit);
  Token& drafted(std::int32_t request, std::int32_t position);

  /// Fills all rows with logits of `how`, and draws the drafted tokens from the draft's rows.
  void make(const MadeLogits& how);

  /// Replaces random numbers by given uniforms: gamma + 1 for the first request, 0.5 for others.
  void set_uniforms(std::vector<double> uniforms);

  /// Returns a copy that lives as long as the batch, for options to point to.
  template <class T>
  const T* keep(const std::vector<T>& values) {
    T* const kept = memory_.room<T>(values.size());
    memory_.put(kept, values.data(), values.size());
    return kept;
  }

  /// Runs a kernel and returns its results. Overwrites earlier results with a pattern first.
  std::vector<RequestResult> run(const BatchRunner& runner, Implementation implementation);

  VerifyBatch batch;  ///< options, lengths and rule may be changed

 private:
  HostMemory memory_;
};

/// Returns the rules that kernels are tested with: token, lenient (0.6) and block verification.
std::vector<VerifyRule> checked_rules();
std::string rule_name(const VerifyRule& rule);

/// Compares the results that a run left in the batch with the implementation's reference.
DecisionAgreement decision_agreement(Implementation implementation, const VerifyBatch& batch);

}  // namespace speclab
