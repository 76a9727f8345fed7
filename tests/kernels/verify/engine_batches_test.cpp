// Tests batches as serving engines have them: rows in other layouts and formats, argmax, masks, the draft's
// own vocabulary, logarithms. The random batches of tests/kernels/fuzz cover their combinations.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/verify/fused_runs.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t requests = 12;
constexpr std::int32_t drafts = 3;
constexpr std::int32_t vocab = 60;

struct Outcome {
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  std::vector<float> log_probabilities, log_sum_exps;

  bool operator==(const Outcome&) const = default;
};

Outcome run_with_logs(VerifyBatch batch, Implementation implementation = Implementation::fused) {
  const auto count = static_cast<std::size_t>(batch.requests);
  const std::size_t positions = count * static_cast<std::size_t>(batch.gamma + 1);
  Outcome outcome{std::vector<std::int32_t>(count), std::vector<Token>(count), std::vector<float>(positions),
                  std::vector<float>(positions)};
  batch.accepted = outcome.accepted.data();
  batch.next = outcome.next.data();
  batch.flags = nullptr;
  batch.log_probabilities = outcome.log_probabilities.data();
  batch.log_sum_exps = outcome.log_sum_exps.data();
  run_emulated(implementation, batch);
  return outcome;
}

/// Returns lengths from 0 to the maximum.
std::vector<std::int32_t> mixed_lengths() {
  std::vector<std::int32_t> lengths;
  for (std::int32_t i = 0; i < requests; ++i) lengths.push_back(i % (drafts + 1));
  return lengths;
}

}  // namespace

TEST_CASE("flattened and slotted rows give the bits of padded ones") {
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = vocab, .distance = 0.5}, 5);
    logits.batch.rule.method = method;
    const auto lengths = mixed_lengths();
    logits.batch.lengths = lengths.data();
    const Outcome padded = run_with_logs(logits.batch);
    CHECK(run_with_logs(logits.batch) == padded);

    // The layout is vLLM's: target rows lie one after the other, and each drafted id lies one place after its
    // row.
    std::vector<std::int32_t> first{0};
    std::vector<float> target;
    std::vector<Token> inputs;
    for (std::int32_t request = 0; request < requests; ++request) {
      const std::int32_t length = lengths[static_cast<std::size_t>(request)];
      first.push_back(first.back() + length + 1);
      inputs.push_back(vocab);  // the last token of the previous round
      for (std::int32_t i = 0; i <= length; ++i) {
        for (Token id = 0; id < vocab; ++id) target.push_back(logits.target_logit(request, i, id));
        if (i < length) inputs.push_back(logits.drafted[static_cast<std::size_t>(request * drafts + i)]);
      }
    }
    // Draft rows and temperatures are in slots of another order.
    std::vector<std::int32_t> slot;
    std::vector<float> draft(static_cast<std::size_t>(requests * drafts * vocab));
    for (std::int32_t request = 0; request < requests; ++request) {
      slot.push_back(requests - 1 - request);
      for (std::int32_t i = 0; i < drafts * vocab; ++i) {
        draft[static_cast<std::size_t>(slot.back() * drafts * vocab + i)] =
            logits.draft[static_cast<std::size_t>(request * drafts * vocab + i)];
      }
    }
    const std::vector<float> ones(requests, 1.0F);
    VerifyBatch batch = logits.batch;
    batch.lengths = nullptr;
    batch.cumulative = first.data();
    batch.cumulative_extra = 1;
    batch.target = {target.data(), Dtype::f32, vocab, vocab, first.data()};
    batch.drafted = {inputs.data() + 1, first.data(), 1, 1};
    batch.draft = {draft.data(), Dtype::f32, drafts * vocab, vocab, slot.data()};
    batch.target_options.temperature = {ones.data(), slot.data(), 1, 0};
    batch.draft_options.temperature = {ones.data(), nullptr, 0, 0};
    CHECK(run_with_logs(batch) == padded);
    if (method == KernelRule::token) CHECK(run_with_logs(batch, Implementation::cluster) == padded);
  }
}

TEST_CASE("seeds with positions are addresses") {
  LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = vocab}, 5);
  std::vector<RandomAddress> addresses;
  std::vector<std::int64_t> positions;
  for (std::uint32_t i = 0; i < requests; ++i) {
    addresses.push_back({42, i, 3});
    positions.push_back((std::int64_t{3} << 32U) + i);
  }
  logits.batch.addresses = addresses.data();
  const Outcome expected = run_with_logs(logits.batch);
  const std::uint64_t seed = 42;
  logits.batch.addresses = nullptr;
  logits.batch.seeds = {&seed, nullptr, 0, 0};
  logits.batch.positions = positions.data();
  CHECK(run_with_logs(logits.batch) == expected);
}

TEST_CASE("at temperature 0 the lowest id of the largest logits is the only one, if so asked") {
  const std::vector<float> frozen(static_cast<std::size_t>(requests * (drafts + 1)), 0.0F);
  for (const std::int32_t ids : {60, 20000}) {
    for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
      for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
        LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = ids, .dtype = dtype}, 6);
        // Three ids have the largest logit, each in another tile if there are several.
        const Token lowest = ids / 7;
        for (std::int32_t request = 0; request < requests; ++request) {
          for (std::int32_t i = 0; i <= drafts; ++i) {
            for (const Token id : {lowest, ids / 2, ids - 1}) logits.target_logit(request, i, id) = 30;
            // Requests are drafted the lowest of these ids, another of them, or any id, in turn.
            if (i == drafts) continue;
            Token& drafted = logits.drafted[static_cast<std::size_t>(request * drafts + i)];
            if (request % 3 < 2) drafted = request % 3 == 0 || i == 0 ? lowest : ids - 1;
          }
        }
        logits.store();
        logits.batch.rule.method = method;
        logits.batch.rule.lenience = 0.9;
        logits.batch.target_options.temperature = frozen.data();
        logits.batch.ties = Ties::lowest;
        CHECK(compare(logits).different == 0);
        const Outcome outcome = run_with_logs(logits.batch);
        for (std::size_t request = 0; request < requests; ++request) {
          CHECK(outcome.next[request] == lowest);
          if (method != KernelRule::block && request % 3 < 2) {
            CHECK(outcome.accepted[request] == (request % 3 == 0 ? drafts : 1));
          }
          CHECK(outcome.log_probabilities[request * (drafts + 1)] == 0);
          CHECK(outcome.log_sum_exps[request * (drafts + 1)] == 30);
        }
        if (method != KernelRule::block)
          CHECK(run_with_logs(logits.batch, Implementation::cluster) == outcome);
        // Otherwise ties share the probability: some requests get other ids.
        logits.batch.ties = Ties::shared;
        CHECK(compare(logits).different == 0);
        CHECK(
            std::any_of(logits.next.begin(), logits.next.end(), [&](Token next) { return next != lowest; }));
      }
    }
  }
}

TEST_CASE("probabilities, another format and a draft of fewer ids decide as the reference does") {
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = vocab, .dtype = Dtype::bf16}, 9);
    logits.batch.rule.method = method;
    // The draft has probabilities in single precision, the target logits in half of it.
    std::vector<float> draft;
    for (std::int32_t request = 0; request < requests; ++request) {
      for (std::int32_t i = 0; i < drafts; ++i) {
        for (const double q : probabilities(logits.batch, false, request, i)) {
          draft.push_back(static_cast<float>(q));
        }
      }
    }
    const Outcome by_logits = run_with_logs(logits.batch);
    logits.batch.draft = {draft.data(), Dtype::f32, drafts * vocab, vocab, nullptr, RowKind::probabilities};
    CHECK(compare(logits).different == 0);
    CHECK(run_with_logs(logits.batch).accepted == by_logits.accepted);
    CHECK(unsupported_reason(Implementation::cluster, logits.batch));

    // Only every other id keeps the same numbers; the draft knows them by ids of its own.
    std::vector<std::int32_t> place;
    for (Token id = 0; id < vocab; ++id) place.push_back(id % 2 == 0 ? id / 2 : -1);
    std::vector<float> fewer;
    for (std::size_t i = 0; i < draft.size(); i += 2) fewer.push_back(draft[i] + draft[i + 1]);
    logits.batch.draft = {fewer.data(), Dtype::f32, drafts * vocab / 2,
                          vocab / 2,    nullptr,    RowKind::probabilities};
    logits.batch.draft_vocab = vocab / 2;
    logits.batch.draft_place = place.data();
    for (Token& drafted : logits.drafted) drafted = drafted / 2 * 2;
    logits.drafted[0] = 7;
    CHECK(compare(logits).different == 0);
    CHECK(logits.accepted[0] == 0);
    CHECK((logits.flags[0] & flag_zero_draft_probability) != 0);
  }
}

TEST_CASE("what a mask forbids is neither accepted nor drawn, and the rest keeps its ratios") {
  LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = vocab, .distance = 0.3}, 12);
  // Odd ids are allowed.
  const std::uint32_t words[] = {0xaaaaaaaaU, 0xaaaaaaaaU};
  logits.batch.mask = {words, nullptr, 0, 0};
  CHECK(compare(logits).different == 0);
  for (std::size_t request = 0; request < requests; ++request) {
    CHECK(logits.next[request] % 2 == 1);
    for (std::int32_t i = 0; i < logits.accepted[request]; ++i) {
      CHECK(logits.drafted[request * drafts + static_cast<std::size_t>(i)] % 2 == 1);
    }
  }
  // Compared with a row where the same ids have probability 0, only sums of logarithms differ, by rounding.
  const Outcome masked = run_with_logs(logits.batch);
  logits.batch.mask = {};
  for (std::int32_t request = 0; request < requests; ++request) {
    for (std::int32_t i = 0; i <= drafts; ++i) {
      for (Token id = 0; id < vocab; id += 2) {
        logits.target_logit(request, i, id) = -std::numeric_limits<float>::infinity();
      }
    }
  }
  logits.store();
  CHECK(run_with_logs(logits.batch) == masked);
}

TEST_CASE("a bonus token drawn elsewhere needs no row, and logarithms add up") {
  LogitBatch logits({.requests = requests, .gamma = drafts, .vocab = vocab, .distance = 0.1}, 14);
  const Outcome with_row = run_with_logs(logits.batch);
  const std::vector<Token> bonus(requests, 55);
  VerifyBatch batch = logits.batch;
  batch.bonus = bonus.data();
  const Outcome without = run_with_logs(batch);
  CHECK(without.accepted == with_row.accepted);
  int complete = 0;
  for (std::size_t request = 0; request < requests; ++request) {
    const bool all = without.accepted[request] == drafts;
    complete += all ? 1 : 0;
    CHECK(without.next[request] == (all ? 55 : with_row.next[request]));
    CHECK(std::isnan(without.log_probabilities[request * (drafts + 1) + drafts]) == all);
    double sum = 0;
    double expected = 0;
    for (std::int32_t i = 0; i <= drafts; ++i) {
      const auto at = request * (drafts + 1) + static_cast<std::size_t>(i);
      sum += static_cast<double>(with_row.log_probabilities[at]);
      if (i > with_row.accepted[request]) continue;
      const Token token = i < with_row.accepted[request]
                              ? logits.drafted[request * drafts + static_cast<std::size_t>(i)]
                              : with_row.next[request];
      expected += std::log(probabilities(logits.batch, true, static_cast<std::int64_t>(request),
                                         i)[static_cast<std::size_t>(token)]);
    }
    CHECK(std::abs(sum - expected) < 1e-5);
  }
  CHECK(complete > 0);
  CHECK(complete < requests);
}

TEST_CASE("numbers that are no probabilities damage a row where they are looked at, as in the definition") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::int32_t ids = 20;
  struct Damage {
    int row;  // 0: the target's, 1: the draft's, 2: the row after the drafted token
    Token at;
    float value;
    double u;
  };
  std::vector<Damage> damages;
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.25F}) {
    for (const int row : {0, 1, 2}) {
      // Id 3 is the drafted one.
      for (const Token at : {3, 7}) {
        for (const double u : {0.0, 0.99}) damages.push_back({row, at, value, u});
      }
    }
  }
  const auto count = static_cast<std::int32_t>(damages.size());
  LogitBatch rows({.requests = count, .gamma = 1, .vocab = ids}, 5);
  std::vector<double> uniforms;
  for (std::int32_t request = 0; request < count; ++request) {
    const Damage& damage = damages[static_cast<std::size_t>(request)];
    for (Token id = 0; id < ids; ++id) {
      // Id 3 is accepted with probability 1/2.
      rows.target_logit(request, 0, id) = rows.target_logit(request, 1, id) = 1.0F / ids;
      rows.draft_logit(request, 0, id) = id == 3 ? 2.0F / ids : id == 4 ? 0 : 1.0F / ids;
    }
    (damage.row == 1 ? rows.draft_logit(request, 0, damage.at)
                     : rows.target_logit(request, damage.row / 2, damage.at)) = damage.value;
    uniforms.insert(uniforms.end(), {damage.u, 0.5});
  }
  rows.store();
  rows.batch.target.kind = rows.batch.draft.kind = RowKind::probabilities;
  std::fill(rows.drafted.begin(), rows.drafted.end(), 3);
  rows.batch.addresses = nullptr;
  rows.batch.uniforms = uniforms.data();
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    rows.batch.rule.method = method;
    const auto expected = verify_reference(rows.batch);
    run_fused_on(rows);
    int damaged = 0;
    for (std::size_t i = 0; i < damages.size(); ++i) {
      CAPTURE(damages[i].row);
      CAPTURE(damages[i].at);
      CAPTURE(damages[i].value);
      CAPTURE(damages[i].u);
      CHECK(rows.accepted[i] == expected[i].accepted);
      CHECK(rows.next[i] == expected[i].next);
      CHECK((rows.flags[i] & flag_invalid_row) == (rows.next[i] == invalid_token ? 1 : 0));
      damaged += rows.next[i] == invalid_token ? 1 : 0;
    }
    // With u = 0 the drafted token's own numbers and the last row matter, with 0.99 the rows before it.
    CHECK(damaged == 4 * (2 + 2 + 2 + 2));
  }
}
