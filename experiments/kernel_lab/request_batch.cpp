#include "experiments/kernel_lab/request_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/random/random_source.hpp"

namespace speclab {

namespace {

std::size_t count(std::int64_t elements) { return static_cast<std::size_t>(elements); }

}  // namespace

RequestBatch::RequestBatch(const BenchShape& shape, std::uint64_t seed, std::uint32_t first_trial)
    : batch(shape_batch(shape).batch), shape_(shape) {
  const BenchBytes bytes = bench_bytes(shape, {});
  const auto requests = count(shape.requests);
  target_.assign(bytes.target, 0);
  // Never empty: a null pointer would mean that drafts are certain.
  draft_.assign(std::max<std::size_t>(bytes.draft, 1), 0);
  drafted_.assign(requests * count(shape.gamma), 0);
  accepted_.resize(requests);
  next_.resize(requests);
  flags_.resize(requests);
  for (std::size_t i = 0; i < requests; ++i) {
    addresses_.push_back({seed, first_trial + static_cast<std::uint32_t>(i), 0});
  }
  batch.target.data = target_.data();
  batch.draft.data = draft_.data();
  batch.drafted = drafted_.data();
  batch.addresses = addresses_.data();
  batch.accepted = accepted_.data();
  batch.next = next_.data();
  batch.flags = flags_.data();
}

void RequestBatch::set(unsigned char* data, std::int64_t at, float logit) const {
  switch (shape_.dtype) {
    case Dtype::f32:
      reinterpret_cast<float*>(data)[at] = logit;
      return;
    case Dtype::bf16:
      reinterpret_cast<Bf16*>(data)[at] = from_float<Bf16>(logit);
      return;
    case Dtype::f16:
      reinterpret_cast<F16*>(data)[at] = from_float<F16>(logit);
      return;
  }
}

void RequestBatch::set_target(std::int32_t request, std::int32_t position, Token id, float logit) {
  set(target_.data(), (std::int64_t{request} * (shape_.gamma + 1) + position) * shape_.vocab + id, logit);
}

void RequestBatch::set_draft(std::int32_t request, std::int32_t position, Token id, float logit) {
  set(draft_.data(), (std::int64_t{request} * shape_.gamma + position) * shape_.vocab + id, logit);
}

Token& RequestBatch::drafted(std::int32_t request, std::int32_t position) {
  return drafted_[count(std::int64_t{request} * shape_.gamma + position)];
}

void RequestBatch::make(const MadeLogits& how) {
  for (std::int32_t request = 0; request < shape_.requests; ++request) {
    for (std::int32_t position = 0; position <= shape_.gamma; ++position) {
      for (Token id = 0; id < shape_.vocab; ++id) {
        const MadeLogit made = made_logit(how, std::int64_t{request} * (shape_.gamma + 1) + position, id);
        set_target(request, position, id, made.target);
        if (position < shape_.gamma) set_draft(request, position, id, made.draft);
      }
      if (position == shape_.gamma) continue;
      const std::vector<double> row = probabilities(batch, false, request, position);
      SampledRandomSource random = sampled_random_source(how.seed, static_cast<std::uint32_t>(request), 0);
      drafted(request, position) = random.categorical({Use::draft, static_cast<std::uint16_t>(position)},
                                                      Row{row.data(), shape_.vocab});
    }
  }
}

void RequestBatch::set_uniforms(std::int32_t request, const std::vector<double>& uniforms) {
  const std::int64_t each = shape_.gamma + 1;
  if (uniforms_.empty()) uniforms_.assign(count(shape_.requests * each), 0.5);
  std::copy(uniforms.begin(), uniforms.end(), uniforms_.begin() + request * each);
  batch.uniforms = uniforms_.data();
  batch.addresses = nullptr;
}

std::vector<RequestResult> RequestBatch::run(const BatchRunner& runner, Implementation implementation) {
  constexpr std::int32_t untouched = -77;
  std::fill(accepted_.begin(), accepted_.end(), untouched);
  std::fill(next_.begin(), next_.end(), untouched);
  std::fill(flags_.begin(), flags_.end(), ~0U);
  runner(implementation, batch);
  std::vector<RequestResult> results;
  for (std::size_t i = 0; i < accepted_.size(); ++i) results.push_back({accepted_[i], next_[i], flags_[i]});
  return results;
}

std::vector<VerifyRule> checked_rules() {
  return {{}, {.method = KernelRule::lenient, .lenience = 0.6}, {.method = KernelRule::block}};
}

std::string rule_name(const VerifyRule& rule) {
  if (rule.method == KernelRule::lenient) return fmt::format("lenient {}", rule.lenience);
  return rule.method == KernelRule::block ? "block" : "token";
}

DecisionAgreement decision_agreement(Implementation implementation, const VerifyBatch& batch,
                                     const std::vector<RequestResult>& results) {
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  for (const RequestResult& result : results) {
    accepted.push_back(result.accepted);
    next.push_back(result.next);
  }
  return agreement_with(reference_of(implementation, batch), implementation, batch.vocab, accepted.data(),
                        next.data());
}

}  // namespace speclab
