#include "kernels/lab/request_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "core/random/random_source.hpp"

namespace speclab {

RequestBatch::RequestBatch(const BenchShape& shape, std::uint64_t seed, std::uint32_t first_trial) {
  std::vector<RandomAddress> addresses;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(shape.requests); ++i)
    addresses.push_back({seed, first_trial + i, 0});
  batch = place_batch(memory_, shape, addresses).tree.batch;
}

void RequestBatch::set(bool of_target, std::int32_t request, std::int32_t position, Token id, float logit) {
  const LogitRows& rows = batch.rows(of_target);
  const std::int64_t at = request * rows.request_stride + position * rows.row_stride + id;
  with_logit_type(rows.dtype, [&](auto type) {
    using T = decltype(type);
    static_cast<T*>(const_cast<void*>(rows.data))[at] = from_float<T>(logit);
  });
}

Token& RequestBatch::drafted(std::int32_t request, std::int32_t position) {
  return *const_cast<Token*>(batch.drafted.at(request, position, batch.gamma));
}

void RequestBatch::make(const MadeLogits& how) {
  for (std::int32_t request = 0; request < batch.requests; ++request) {
    for (std::int32_t position = 0; position <= batch.gamma; ++position) {
      for (Token id = 0; id < batch.vocab; ++id) {
        const MadeLogit made = made_logit(how, std::int64_t{request} * (batch.gamma + 1) + position, id);
        set(true, request, position, id, made.target);
        if (position < batch.gamma) set(false, request, position, id, made.draft);
      }
      if (position == batch.gamma) continue;
      const std::vector<double> row = probabilities(batch, false, request, position);
      SampledRandomSource random = sampled_random_source(how.seed, static_cast<std::uint32_t>(request), 0);
      drafted(request, position) = random.categorical({Use::draft, static_cast<std::uint16_t>(position)},
                                                      Row{row.data(), batch.vocab});
    }
  }
}

void RequestBatch::set_uniforms(std::vector<double> uniforms) {
  uniforms.resize(static_cast<std::size_t>(batch.requests) * (static_cast<std::size_t>(batch.gamma) + 1),
                  0.5);
  batch.uniforms = keep(uniforms);
  batch.addresses = nullptr;
}

std::vector<RequestResult> RequestBatch::run(const BatchRunner& runner, Implementation implementation) {
  constexpr std::int32_t untouched = -77;
  std::fill_n(batch.accepted, batch.requests, untouched);
  std::fill_n(batch.next, batch.requests, untouched);
  std::fill_n(batch.flags, batch.requests, ~0U);
  runner(implementation, batch);
  std::vector<RequestResult> results;
  for (std::int32_t i = 0; i < batch.requests; ++i)
    results.push_back({batch.accepted[i], batch.next[i], batch.flags[i]});
  return results;
}

std::vector<VerifyRule> checked_rules() {
  return {{}, {.method = KernelRule::lenient, .lenience = 0.6}, {.method = KernelRule::block}};
}

std::string rule_name(const VerifyRule& rule) {
  switch (rule.method) {
    case KernelRule::token:
      return "token";
    case KernelRule::lenient:
      return fmt::format("lenient {}", rule.lenience);
    case KernelRule::block:
      return "block";
  }
  throw std::logic_error("a rule without a name");
}

DecisionAgreement decision_agreement(Implementation implementation, const VerifyBatch& batch) {
  return agreement_with(reference_of(implementation, batch), implementation, batch.vocab, batch.accepted,
                        batch.next);
}

}  // namespace speclab
