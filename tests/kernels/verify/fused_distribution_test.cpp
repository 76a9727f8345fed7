// Tests how single precision changes the output distribution, at the vocabularies of real models.
#include "kernels/verify/fused_distribution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/verify/implementation.hpp"
#include "tests/kernels/verify/logit_batch.hpp"

using namespace speclab;

namespace {

double total_variation_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t id = 0; id < a.size(); ++id) sum += std::abs(a[id] - b[id]);
  return sum / 2;
}

std::vector<double> target_row(const LogitBatch& logits) { return probabilities(logits.batch, true, 0, 0); }

}  // namespace

TEST_CASE("the distribution of a token is the target's up to the grain of single precision") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const std::int32_t vocab : {100, 32000, 128256}) {
      for (const double distance : {0.001, 0.5, 3.0}) {
        LogitBatch logits({.requests = 1, .gamma = 1, .vocab = vocab, .dtype = dtype, .distance = distance},
                          3);
        const double tv =
            total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits));
        CAPTURE(vocab);
        CAPTURE(distance);
        CHECK(tv < 2e-6);
        CHECK(tv > 0);
      }
    }
  }
}

TEST_CASE("options, certain drafts and lenience are part of the distribution") {
  LogitBatch logits({.requests = 1, .gamma = 1, .vocab = 5000}, 3);
  const float temperature[] = {0.7F, 1};
  const float cutoff[] = {-1.0F, 0};
  logits.batch.target_options = {temperature, cutoff, nullptr};
  CHECK(total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits)) < 2e-6);

  // Another distribution is far away: with the first residual of lenience a token's probability stays below p
  // / l.
  logits.batch.rule = {KernelRule::lenient, 0.5};
  const auto lenient = fused_token_distribution(logits.batch, 0, 0);
  CHECK(total_variation_of(lenient, target_row(logits)) > 0.01);
  const auto target = target_row(logits);
  for (std::size_t id = 0; id < target.size(); ++id) CHECK(lenient[id] <= target[id] / 0.5 + 1e-6);

  logits.batch.rule = {};
  logits.batch.draft = {};
  CHECK(total_variation_of(fused_token_distribution(logits.batch, 0, 0), target_row(logits)) < 2e-6);
}

TEST_CASE("the distribution is the kernel's: at stratified uniforms it emits in proportion") {
  // The drafted id is always rejected, so that 4000 equally spaced uniforms walk through the residual.
  constexpr std::int32_t requests = 4000;
  LogitBatch one({.requests = 1, .gamma = 1, .vocab = 30, .spread = 1}, 12);
  LogitBatch many({.requests = requests, .gamma = 1, .vocab = 30}, 12);
  std::vector<double> uniforms;
  for (std::int32_t request = 0; request < requests; ++request) {
    for (Token id = 0; id < 30; ++id) {
      for (std::int32_t i = 0; i < 2; ++i) many.target_logit(request, i, id) = one.target_logit(0, i, id);
      many.draft_logit(request, 0, id) = one.draft_logit(0, 0, id);
    }
    uniforms.push_back(1);
    uniforms.push_back((request + 0.5) / requests);
  }
  many.store();
  const auto target = target_row(one);
  const auto draft = probabilities(one.batch, false, 0, 0);
  const auto most = [&] {
    Token best = 0;
    for (Token id = 1; id < 30; ++id) {
      const auto excess = [&](Token at) {
        return draft[static_cast<std::size_t>(at)] / target[static_cast<std::size_t>(at)];
      };
      if (excess(id) > excess(best)) best = id;
    }
    return best;
  }();
  std::fill(many.drafted.begin(), many.drafted.end(), most);
  many.batch.addresses = nullptr;
  many.batch.uniforms = uniforms.data();
  run_emulated(Implementation::fused, many.batch);
  std::vector<double> emitted(30);
  for (const Token next : many.next) emitted[static_cast<std::size_t>(next)] += 1.0 / requests;

  // The distribution minus the accepted part is the residual's share.
  const auto distribution = fused_token_distribution(one.batch, 0, 0);
  double rejected = 0;
  std::vector<double> replaced(30);
  for (std::size_t id = 0; id < 30; ++id) {
    replaced[id] = distribution[id] - std::min(target[id], draft[id]);
    rejected += replaced[id];
  }
  for (std::size_t id = 0; id < 30; ++id) {
    CHECK(std::abs(emitted[id] - replaced[id] / rejected) <= 1.0 / requests + 1e-4);
  }
}
