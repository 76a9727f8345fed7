// A batch of verification requests in the host's memory, with room for what a kernel leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/measure.hpp"
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

/// Logits are set as floats and stored in the shape's format. Not to be copied: the batch points into it.
class RequestBatch {
 public:
  /// All logits 0, drafted tokens 0, request i at RandomAddress{seed, first_trial + i, 0}.
  RequestBatch(const BenchShape& shape, std::uint64_t seed, std::uint32_t first_trial = 0);
  RequestBatch(const RequestBatch&) = delete;
  RequestBatch& operator=(const RequestBatch&) = delete;

  void set_target(std::int32_t request, std::int32_t position, Token id, float logit);
  void set_draft(std::int32_t request, std::int32_t position, Token id, float logit);
  Token& drafted(std::int32_t request, std::int32_t position);

  /// Logits of `how` in all rows, and drafted tokens drawn from the draft's.
  void make(const MadeLogits& how);

  /// The request's uniforms instead of random numbers: gamma + 1 of them; 0.5 for other requests.
  void set_uniforms(std::int32_t request, const std::vector<double>& uniforms);

  /// What a kernel left there. Results are overwritten with a pattern before it runs.
  std::vector<RequestResult> run(const BatchRunner& runner, Implementation implementation);

  const BenchShape& shape() const { return shape_; }

  VerifyBatch batch;  ///< options, lengths and rule may be changed

 private:
  void set(unsigned char* data, std::int64_t at, float logit) const;

  BenchShape shape_;
  std::vector<unsigned char> target_;
  std::vector<unsigned char> draft_;
  std::vector<Token> drafted_;
  std::vector<RandomAddress> addresses_;
  std::vector<double> uniforms_;
  std::vector<std::int32_t> accepted_;
  std::vector<Token> next_;
  std::vector<std::uint32_t> flags_;
};

/// The rules that kernels are tested with: token, lenient (0.6) and block verification.
std::vector<VerifyRule> checked_rules();
std::string rule_name(const VerifyRule& rule);

/// Against the reference of the implementation.
DecisionAgreement decision_agreement(Implementation implementation, const VerifyBatch& batch,
                                     const std::vector<RequestResult>& results);

}  // namespace speclab
