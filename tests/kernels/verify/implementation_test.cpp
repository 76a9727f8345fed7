// Tests the launches of implementations, the bytes they read and write, and the batches they refuse.
#include "kernels/verify/implementation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/kernels/verify/verify_comparison.hpp"

using namespace speclab;

namespace {

/// Returns the share of the requests that rejected a token.
double rejecting(const LogitBatch& logits) {
  double count = 0;
  for (std::size_t i = 0; i < logits.accepted.size(); ++i) {
    count += logits.accepted[i] < logits.batch.gamma ? 1 : 0;
  }
  return count / static_cast<double>(logits.accepted.size());
}

/// Returns the bytes of a workspace that a run writes: they are the same after runs from two different
/// fillings.
template <class Program>
double written_bytes(const VerifyBatch& batch) {
  const KeptWorkspace<Program> zeros(batch, simt::Order::forward, 0);
  const KeptWorkspace<Program> ones(batch, simt::Order::forward, 0xff);
  return static_cast<double>(zeros.equal_bytes(ones));
}

Traffic each_id(Implementation implementation, std::int32_t gamma, Dtype dtype) {
  VerifyBatch batch;
  const float row = 0;
  batch.requests = 3;
  batch.gamma = gamma;
  batch.vocab = 1 << 17;
  batch.target = {&row, dtype, 0, 0};
  batch.draft = batch.target;
  const Traffic traffic = traffic_of(implementation, batch, {1, 1});
  const double ids = 3.0 * (1 << 17);
  return {traffic.read / ids, traffic.written / ids};
}

}  // namespace

TEST_CASE("threads of programs over whole rows load what traffic_of says") {
  for (const Implementation implementation :
       {Implementation::baseline, Implementation::wagner_exact, Implementation::wagner_sigmoid}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      for (const std::int32_t vocab : {999, 9000}) {  // all rows are aligned to 16 bytes
        for (const std::int32_t gamma : {0, 3}) {
          CAPTURE(static_cast<int>(implementation));
          CAPTURE(vocab);
          CAPTURE(gamma);
          LogitBatch logits({.requests = 4,
                             .gamma = gamma,
                             .vocab = vocab,
                             .dtype = dtype,
                             .padding = vocab % 8 == 0 ? 0 : 1},
                            31);
          logits.batch.rule.sigmoid_alpha = 4;
          logits.batch.rule.sigmoid_beta = 5;
          const auto loaded = static_cast<double>(run_emulated(implementation, logits.batch));
          // The bytes agree exactly: the kernels do not count loads of parts of tiles, looked-up ratios or
          // probabilities, probes of the search, and the batch itself.
          CHECK(loaded ==
                doctest::Approx(traffic_of(implementation, logits.batch, {0, rejecting(logits)}).read)
                    .epsilon(1e-14));
        }
      }
    }
  }
}

TEST_CASE("programs over whole rows write what traffic_of says") {
  // `small`: bytes that traffic_of leaves out, for each request, and for each that rejects.
  const auto check = [](auto program, Implementation implementation, double small,
                        double small_of_rejecting) {
    LogitBatch logits({.requests = 8, .gamma = 2, .vocab = 9000}, 32);
    logits.batch.rule.sigmoid_alpha = 4;
    logits.batch.rule.sigmoid_beta = 5;
    const double written = written_bytes<decltype(program)>(logits.batch);
    const double share = rejecting(logits);
    CHECK(share > 0);
    CHECK(share < 1);
    CHECK(written == traffic_of(implementation, logits.batch, {0, share}).written +
                         8 * (small + share * small_of_rejecting));
  };
  // There are two tiles of 8192 or nine of 1024. Left out are parts of the softmaxes, for which both models
  // have the same room, b_k or sums of a residual, sums of weights, and the choice.
  const double parts = 3 * 2 * sizeof(PartialSum);
  const double draw = 2 * sizeof(double) + sizeof(AcceptanceEnd);
  check(baseline::Program{}, Implementation::baseline, parts + draw, 2 * sizeof(double));
  check(wagner::Exact{}, Implementation::wagner_exact, parts + 2 * 9 * sizeof(double) + draw, 0);
  check(wagner::SigmoidProgram{}, Implementation::wagner_sigmoid, 2 * 9 * sizeof(double) + draw, 0);
}

TEST_CASE("bytes of an id, in numbers of 4 bytes, beside what the originals move") {
  for (const int gamma : {1, 2, 4, 8, 16}) {
    CAPTURE(gamma);
    const double baseline = each_id(Implementation::baseline, gamma, Dtype::f32).total() / 4;
    const double exact = each_id(Implementation::wagner_exact, gamma, Dtype::f32).total() / 4;
    const double sigmoid = each_id(Implementation::wagner_sigmoid, gamma, Dtype::f32).total() / 4;
    CHECK(baseline == 6 * gamma + 10);
    CHECK(exact == 10 * gamma + 7);
    CHECK(sigmoid == 4 * gamma + 4);
    // The originals move 8 gamma + 20 with PyTorch's softmaxes, 10 gamma + 12, and 7 gamma + 12. Our versions
    // of them move no more.
    CHECK(baseline < 8 * gamma + 20);
    CHECK(exact < 10 * gamma + 12);
    CHECK(sigmoid < 7 * gamma + 12);
    // Logits of half the size.
    CHECK(each_id(Implementation::baseline, gamma, Dtype::bf16).total() / 4 == baseline - 2 * gamma - 1);
    CHECK(each_id(Implementation::wagner_sigmoid, gamma, Dtype::f16).total() / 4 == sigmoid - gamma);
    // Fused exact verification reads less than the sigmoids do.
    CHECK(each_id(Implementation::fused, gamma, Dtype::f32).total() / 4 < sigmoid);
  }
}

TEST_CASE("plans hold what is launched, at any size") {
  VerifyBatch batch;
  const float row = 0;
  batch.gamma = 16;
  batch.vocab = 262144;
  batch.target = {&row, Dtype::bf16, 0, 0};
  batch.draft = batch.target;
  for (const std::int32_t requests : {1, 256}) {
    batch.requests = requests;
    for (const ImplementationInfo& info : implementations()) {
      CAPTURE(info.name);
      const KernelLayout plan = layout_of(info.implementation, batch);
      const std::size_t launches = info.implementation == Implementation::fused            ? 2
                                   : info.implementation == Implementation::cluster        ? 1
                                   : info.implementation == Implementation::wagner_sigmoid ? 5
                                                                                           : 9;
      CHECK(plan.launches.size() == launches);
      for (const simt::Launch& launch : plan.launches) {
        CHECK(launch.blocks > 0);
        CHECK(launch.blocks <= simt::max_blocks);
        CHECK(launch.threads <= 1024);
      }
      CHECK(plan.workspace_bytes % 256 == 0);
    }
    // The workspace has probabilities, two rows of the draw and one of the residual; for the large batch this
    // exceeds 32 bits.
    const std::size_t rows = static_cast<std::size_t>(requests) * (33 + 3);
    const std::size_t bytes = layout_of(Implementation::baseline, batch).workspace_bytes;
    CHECK(bytes >= rows * 262144 * 4);
    CHECK(bytes < rows * 262144 * 4 / 100 * 101);
  }
  batch.requests = 0;
  for (const ImplementationInfo& info : implementations()) {
    CHECK(layout_of(info.implementation, batch).launches.empty());
  }
}

TEST_CASE("the list has every name once, and says which are exact") {
  std::vector<std::string> names;
  for (const ImplementationInfo& info : implementations()) {
    names.emplace_back(info.name);
    CHECK(info.exact == (info.implementation != Implementation::wagner_sigmoid));
  }
  CHECK(names == std::vector<std::string>{"fused", "cluster", "baseline", "wagner-exact", "wagner-sigmoid"});
}

TEST_CASE("batches that an implementation cannot run are refused with the reason") {
  const std::vector<float> ones(8, 1);
  const auto reason = [](Implementation implementation, const VerifyBatch& batch) {
    const auto found = unsupported_reason(implementation, batch);
    if (found) {
      CHECK_THROWS_AS(layout_of(implementation, batch), std::invalid_argument);
      CHECK_THROWS_AS(traffic_of(implementation, batch, MeanOutcome{}), std::invalid_argument);
      CHECK_THROWS_AS(run_emulated(implementation, batch), std::invalid_argument);
    }
    return found.value_or("");
  };
  for (const Implementation implementation :
       {Implementation::baseline, Implementation::wagner_exact, Implementation::wagner_sigmoid}) {
    CAPTURE(static_cast<int>(implementation));
    const bool sigmoid = implementation == Implementation::wagner_sigmoid;
    LogitBatch logits({.requests = 2, .gamma = 1, .vocab = 10}, 33);
    const VerifyBatch plain = logits.batch;
    CHECK(reason(implementation, plain).empty());
    CHECK(reason(Implementation::fused, plain).empty());

    VerifyBatch batch = plain;
    batch.rule.method = KernelRule::block;
    CHECK(reason(implementation, batch).find("token rule") != std::string::npos);
    CHECK(reason(Implementation::fused, batch).empty());
    batch = plain;
    batch.draft.data = nullptr;
    CHECK(reason(implementation, batch).find("draft's logits") != std::string::npos);
    batch.gamma = 0;
    CHECK(reason(implementation, batch).empty());
    batch = plain;
    batch.draft_options.log_sum_exp = ones.data();
    CHECK(reason(implementation, batch).find("log-sum-exps") != std::string::npos);
    batch = plain;
    batch.target_options.temperature = ones.data();
    CHECK(reason(implementation, batch).empty() != sigmoid);
    batch = plain;
    batch.rule.sigmoid_beta = batch.rule.sigmoid_alpha;
    CHECK(reason(implementation, batch).empty() != sigmoid);
  }
  LogitBatch logits({.requests = 1, .gamma = 1, .vocab = 10}, 34);
  CHECK(reason(Implementation::cluster, logits.batch).empty());
  logits.batch.rule.method = KernelRule::block;
  CHECK(reason(Implementation::cluster, logits.batch).find("every position") != std::string::npos);
  CHECK_THROWS_AS(run_emulated(static_cast<Implementation>(99), logits.batch), std::invalid_argument);
}
