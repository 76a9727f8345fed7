// Tests logits of any size against the definition: ids masked with a finite number, one huge logit, rows
// whose logits are all huge, and NaN among logits that hardly count.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/verify/fused_runs.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = tile_size + 64;
const std::vector<float> temperatures{0, 1e-3F, 0.1F, 0.7F, 1};
const std::vector<float> sizes{std::numeric_limits<float>::max(), 1e20F, 1e9F};
enum Kind : int { masked_tile, masked_rest, one_huge, all_low, not_a_number, kinds };

constexpr std::int32_t requests_of_kind = 3 * 5;

/// Fills the rows of a request, which has a kind, a size and a temperature.
void fill(LogitBatch& logits, std::int32_t request) {
  const int kind = request / requests_of_kind;
  constexpr float largest[] = {std::numeric_limits<float>::max(), 0x1.fep127F, 65504};
  const float size = std::min(sizes[static_cast<std::size_t>(request / 5 % 3)],
                              largest[static_cast<int>(logits.batch.target.dtype)]);
  const auto each = [&](const auto& visit) {
    for (std::int32_t i = 0; i <= logits.batch.gamma; ++i) {
      for (Token id = 0; id < vocab; ++id) {
        visit(logits.target_logit(request, i, id), id);
        if (i < logits.batch.gamma) visit(logits.draft_logit(request, i, id), id + 1);
      }
    }
  };
  if (kind == masked_tile) each([&](float& logit, Token id) { logit = id < tile_size ? -size : logit; });
  if (kind == masked_rest) each([&](float& logit, Token id) { logit = id < 32 ? logit : -size; });
  if (kind == one_huge) each([&](float& logit, Token id) { logit = id == tile_size + 7 ? size : logit; });
  if (kind == all_low) each([&](float& logit, Token) { logit = -size; });
  if (kind != not_a_number) return;
  // The rows agree, so that all drafted tokens are accepted: NaN stands in the last row alone.
  for (std::int32_t i = 0; i < logits.batch.gamma; ++i) {
    for (Token id = 0; id < vocab; ++id)
      logits.draft_logit(request, i, id) = logits.target_logit(request, i, id);
  }
  logits.target_logit(request, logits.batch.gamma, 3) = 100;
  logits.target_logit(request, logits.batch.gamma, tile_size - 1) = std::numeric_limits<float>::quiet_NaN();
}

/// Fills all requests and sets the temperature of each; `heat` holds the temperatures.
void fill(LogitBatch& logits, std::vector<float>& heat) {
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) {
    fill(logits, request);
    heat.push_back(temperatures[static_cast<std::size_t>(request % 5)]);
  }
  logits.batch.target_options.temperature = logits.batch.draft_options.temperature =
      View<const float>(heat.data(), nullptr, 1, 0);
  logits.store();
}

LogitShape shape_of(Dtype dtype, std::int32_t gamma) {
  return {.requests = kinds * requests_of_kind, .gamma = gamma, .vocab = vocab, .dtype = dtype};
}

/// Counts requests whose results differ from the definition's, apart from those that rounding may decide.
template <class Expected>
int different_from(const LogitBatch& logits, const std::vector<Expected>& expected, int& close) {
  int different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool invalid = expected[i].next == invalid_token;
    const bool equal =
        logits.next[i] == expected[i].next && ((logits.flags[i] & flag_invalid_row) != 0) == invalid;
    const bool near = expected[i].margin < 2e-6 && !invalid;
    close += near ? 1 : 0;
    if (equal || near) continue;
    ++different;
    MESSAGE("request " << i << ": " << logits.next[i] << " instead of " << expected[i].next);
  }
  return different;
}

}  // namespace

TEST_CASE("logits of any size give the definition's tokens, by every exact implementation") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
      LogitBatch logits(shape_of(dtype, 1), 5);
      std::vector<float> heat;
      fill(logits, heat);
      logits.draw();
      logits.batch.rule.method = method;
      const auto expected = verify_reference(logits.batch);
      for (const Implementation implementation : {Implementation::fused, Implementation::cluster}) {
        if (unsupported_reason(implementation, logits.batch)) continue;
        CAPTURE(static_cast<int>(dtype));
        CAPTURE(static_cast<int>(method));
        CAPTURE(static_cast<int>(implementation));
        run_emulated(implementation, logits.batch);
        int close = 0;
        CHECK(different_from(logits, expected, close) == 0);
        CHECK(close < 5);
      }
      // Among all requests, only those with NaN are damaged.
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK((logits.next[i] == invalid_token) == (i >= not_a_number * requests_of_kind));
    }
  }
}

TEST_CASE("logits of any size give the definition's tokens in trees") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    for (const Drafting how : {Drafting::without_replacement, Drafting::chosen, Drafting::traversed}) {
      TreeLogits logits(shape_of(dtype, 0), {-1, -1}, how, 5);
      std::vector<float> heat;
      fill(logits, heat);
      for (std::int32_t request = 0; request < logits.batch.requests; ++request) logits.draw_tree(request);
      if (how == Drafting::chosen) logits.batch.draft = {};
      const auto expected = verify_tree_reference(logits.tree());
      CAPTURE(static_cast<int>(dtype));
      CAPTURE(static_cast<int>(how));
      logits.run();
      int close = 0;
      CHECK(different_from(logits, expected, close) == 0);
      CHECK(close < 5);
    }
  }
}

TEST_CASE("a temperature near 0 is served, and an infinite one is refused as NaN is") {
  LogitBatch logits({.requests = 4, .gamma = 0, .vocab = 100}, 3);
  const std::vector<float> heat{1e-30F, 1e-40F, std::numeric_limits<float>::infinity(), 3e38F};
  logits.batch.target_options.temperature = View<const float>(heat.data(), nullptr, 1, 0);
  for (const Implementation implementation : {Implementation::fused, Implementation::cluster}) {
    run_emulated(implementation, logits.batch);
    CHECK(compare(logits, verify_reference(logits.batch), band).different == 0);
    CHECK(logits.flags == std::vector<std::uint32_t>{0, 0, flag_invalid_row, 0});
  }
}
