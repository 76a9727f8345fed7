// Compares traversal verification with block verification, tests long and wide trees, and tests which rows it
// does not read.
#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "kernels/verify/implementation.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

constexpr double traversal_band = 1e-5;

std::vector<std::int32_t> path_tree(std::int32_t nodes) {
  std::vector<std::int32_t> parents(static_cast<std::size_t>(nodes));
  std::iota(parents.begin(), parents.end(), -1);
  return parents;
}

std::vector<double> uniforms_for(const TreeLogits& logits) {
  std::vector<double> uniforms;
  Philox stream(91, Site{0, 0, Draw{Use::world, 0}});
  for (std::int32_t i = 0; i < logits.batch.requests * (logits.batch.gamma + 1); ++i) {
    uniforms.push_back(open_unit(stream()));
  }
  return uniforms;
}

}  // namespace

TEST_CASE("traversal of a chain is block verification: tokens, decided by the same uniforms") {
  for (const auto& [ids, dtype, nodes, count] :
       {std::tuple{100, Dtype::f32, 4, 60}, {9001, Dtype::bf16, 6, 6}, {40, Dtype::f16, 64, 2}}) {
    for (const bool frozen : {false, true}) {
      const std::int32_t vocab = ids;  // clang cannot capture bindings
      CAPTURE(vocab);
      CAPTURE(frozen);
      TreeLogits logits({.requests = count, .vocab = vocab, .dtype = dtype, .distance = 0.5},
                        path_tree(nodes), Drafting::traversed, 92);
      const std::vector<double> uniforms = uniforms_for(logits);
      logits.batch.addresses = nullptr;
      logits.batch.uniforms = uniforms.data();
      std::vector<Token> tokens(static_cast<std::size_t>(count * (nodes + 1)));
      logits.batch.tokens = tokens.data();
      // Some targets and drafts have all probability on one id.
      std::vector<float> temperature(tokens.size(), 1.0F);
      for (std::size_t i = 0; i < temperature.size(); i += 3) temperature[i] = 0;
      if (frozen) {
        logits.batch.ties = Ties::lowest;
        logits.batch.target_options.temperature = temperature.data();
        logits.batch.draft_options.temperature = temperature.data() + 1;
      }
      logits.drafted_at(1, 1) = vocab + 5;
      logits.batch.rule.method = KernelRule::block;
      run_emulated(Implementation::fused, logits.batch);
      const auto of_block = tokens;
      const auto accepted = logits.accepted;
      logits.batch.rule = {};
      const auto expected = verify_tree_reference(logits.tree());
      logits.run();
      CHECK(logits.different_from(expected, traversal_band) == 0);
      CHECK(std::accumulate(accepted.begin(), accepted.end(), 0) > count / 3);
      int different = 0;
      for (std::size_t i = 0; i < accepted.size(); ++i) {
        const auto first = static_cast<std::ptrdiff_t>(i) * (nodes + 1);
        if (expected[i].margin < traversal_band) continue;
        different +=
            std::equal(tokens.begin() + first, tokens.begin() + first + nodes + 1, of_block.begin() + first)
                ? 0
                : 1;
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("traversal: a path of 256 nodes, 256 children of the context, and both in one tree") {
  std::vector<std::int32_t> star(256, -1);
  std::vector<std::int32_t> both = path_tree(128);
  for (std::int32_t node = 128; node < 256; ++node) both.push_back(node % 2 == 0 ? 40 : 127);
  for (const auto& [shape, distance] :
       {std::pair{path_tree(256), 0.05}, {star, 3.0}, {both, 0.05}, {path_tree(256), 0.0}}) {
    TreeLogits logits({.requests = 4, .vocab = 300, .distance = distance}, shape, Drafting::traversed, 93);
    const auto expected = verify_tree_reference(logits.tree());
    logits.run();
    int within = 0;
    CHECK(logits.different_from(expected, traversal_band, &within) == 0);
    CHECK(within < 4);
    const auto path = logits.path;
    const auto next = logits.next;
    logits.run(simt::Order::shuffled);
    CHECK(logits.path == path);
    CHECK(logits.next == next);
    if (distance > 0) continue;
    CHECK(logits.accepted == std::vector<std::int32_t>(4, 256));
    for (std::size_t i = 0; i < 4; ++i) CHECK(logits.path_of(i).back() == 255);
  }
}

TEST_CASE("traversal: the same bits in any slot of a batch") {
  TreeLogits logits({.requests = 9, .vocab = 9000, .dtype = Dtype::bf16, .distance = 0.8},
                    {-1, -1, 0, 0, 1, 1, 2}, Drafting::traversed, 94);
  logits.run();
  const auto path = logits.path;
  const auto next = logits.next;
  // Each request is verified by itself.
  for (std::int32_t request = 0; request < 9; ++request) {
    TreeBatch alone = logits.tree();
    std::vector<std::int32_t> own_path(7);
    std::int32_t accepted = -1;
    std::uint32_t flags = 0;
    Token following = -1;
    const auto* const addresses = alone.batch.addresses;
    alone.batch.requests = 1;
    alone.batch.target.data = row_of(alone.batch.target, request, 0);
    alone.batch.draft.data = row_of(alone.batch.draft, request, 0);
    alone.batch.addresses = addresses + request;
    alone.batch.drafted = logits.drafted.data() + request * 7;
    alone.batch.accepted = &accepted;
    alone.batch.next = &following;
    alone.batch.flags = &flags;
    alone.path = own_path.data();
    run_tree_emulated(alone);
    CHECK(following == next[static_cast<std::size_t>(request)]);
    CHECK(std::equal(own_path.begin(), own_path.end(), path.begin() + request * 7));
  }
}

TEST_CASE("traversal reads nothing behind a child that is not reached, and meets invalid rows where it is") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float none = -std::numeric_limits<float>::infinity();
  // The target gives node 0 probability 0 in even requests; the rows after node 0, and that of its child, are
  // invalid.
  TreeLogits logits({.requests = 60, .vocab = 50, .distance = 0.9}, {-1, -1, 0, 1}, Drafting::traversed, 95);
  for (std::int32_t request = 0; request < 60; ++request) {
    if (request % 2 == 0) logits.target_logit(request, 0, logits.drafted_at(request, 0)) = none;
    logits.target_logit(request, 1, 7) = nan;
    logits.draft_logit(request, 1, 8) = nan;
    logits.target_logit(request, 3, 9) = nan;
    if (request % 3 == 0 && request % 2 == 0) logits.drafted_at(request, 1) = -4;
  }
  logits.store();
  logits.run();
  CHECK(logits.different_from(verify_tree_reference(logits.tree()), traversal_band) == 0);
  for (std::size_t i = 0; i < 60; ++i) {
    const bool invalid = (logits.flags[i] & flag_invalid_row) != 0;
    CHECK(invalid == (i % 2 == 1));
    CHECK(((logits.flags[i] & flag_token_out_of_range) != 0) == (i % 6 == 0));
    if (i % 2 == 1) CHECK(logits.path_of(i) == std::vector<std::int32_t>{0});
  }
}
