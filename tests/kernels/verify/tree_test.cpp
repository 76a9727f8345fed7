// Compares tree verification in the emulator with the reference and with the verification of chains.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/verify/implementation.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

/// The same as in the tests of chains.
constexpr double tree_band = 1e-5;

const std::vector<std::int32_t> wide_tree{-1, -1, -1, 0, 0, 1, 3, 3, 3, 5, 7};

std::vector<std::int32_t> chain(std::int32_t nodes) {
  std::vector<std::int32_t> parents(static_cast<std::size_t>(nodes));
  std::iota(parents.begin(), parents.end(), -1);
  return parents;
}

constexpr Drafting draftings[] = {Drafting::without_replacement, Drafting::independent, Drafting::chosen,
                                  Drafting::traversed};
constexpr Drafting methods[] = {Drafting::without_replacement, Drafting::traversed};

/// Gives a row all its probability on one id.
void make_certain(TreeLogits& logits, bool of_target, std::int32_t request, std::int32_t position,
                  Token only) {
  for (Token id = 0; id < logits.batch.vocab; ++id) {
    float& logit =
        of_target ? logits.target_logit(request, position, id) : logits.draft_logit(request, position, id);
    logit = id == only ? 0 : -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

TEST_CASE("trees: paths and next tokens are the reference's, with the same bits in any order of threads") {
  int requests = 0;
  int within = 0;
  int refused = 0;
  int accepted = 0;
  for (const Drafting how : draftings) {
    for (const auto& shape :
         {wide_tree, branching_tree({2, 2, 2}).parents(), branching_tree({8}).parents(), chain(4)}) {
      for (const auto& [ids, dtype, count] : {std::tuple{3, Dtype::f32, 8},
                                              {50, Dtype::bf16, 16},
                                              {1000, Dtype::f16, 8},
                                              {17001, Dtype::f32, 2}}) {
        const std::int32_t vocab = ids;  // clang cannot capture bindings
        CAPTURE(static_cast<int>(how));
        CAPTURE(shape.size());
        CAPTURE(vocab);
        TreeLogits logits({.requests = count, .vocab = vocab, .dtype = dtype, .distance = 0.9}, shape, how,
                          5);
        const auto expected = verify_tree_reference(logits.tree());
        logits.run();
        CHECK(logits.different_from(expected, tree_band, &within) == 0);
        const auto path = logits.path;
        const auto next = logits.next;
        for (const simt::Order order : {simt::Order::backward, simt::Order::shuffled}) {
          logits.run(order);
          CHECK(logits.path == path);
          CHECK(logits.next == next);
        }
        CHECK(logits.path.back() == -7);
        requests += count;
        for (std::size_t i = 0; i < logits.accepted.size(); ++i) {
          accepted += logits.accepted[i];
          refused += logits.accepted[i] == 0 ? 1 : 0;
        }
      }
    }
  }
  MESSAGE(requests << " requests, " << within << " within the band");
  CHECK(within < requests / 50);
  CHECK(refused > 50);
  CHECK(accepted > requests / 2);
}

TEST_CASE("a tree without branches: decisions, flags and next tokens of chains, bit for bit") {
  for (const bool certain : {false, true}) {
    for (const std::int32_t vocab : {100, 9001}) {
      TreeLogits logits({.requests = 12, .vocab = vocab, .dtype = Dtype::bf16, .distance = 0.7}, chain(4),
                        certain ? Drafting::chosen : Drafting::independent, 6);
      std::vector<double> uniforms;
      Philox stream(7, Site{0, 0, Draw{Use::world, 0}});
      for (int i = 0; i < 12 * 5; ++i) uniforms.push_back(open_unit(stream()));
      logits.batch.addresses = nullptr;
      logits.batch.uniforms = uniforms.data();
      logits.drafted_at(3, 1) = vocab + 5;
      std::vector<Token> tokens(12 * 5);
      std::vector<std::int32_t> counts(12);
      logits.batch.tokens = tokens.data();
      logits.batch.counts = counts.data();
      run_emulated(Implementation::cluster, logits.batch);
      const auto accepted = logits.accepted;
      const auto next = logits.next;
      const auto flags = logits.flags;
      const auto chain_tokens = tokens;
      const auto chain_counts = counts;
      logits.run();
      CHECK(logits.accepted == accepted);
      CHECK(logits.flags == flags);
      CHECK(tokens == chain_tokens);
      CHECK(counts == chain_counts);
      // After a chosen token is refused, chains weigh a residual relative to the row's sum, and trees weigh
      // the target without that id: the draws may differ by rounding.
      if (!certain) CHECK(logits.next == next);
      CHECK(logits.different_from(verify_tree_reference(logits.tree()), tree_band) == 0);
    }
  }
}

TEST_CASE("a tree of no nodes samples the target") {
  LogitBatch logits({.requests = 5, .gamma = 0, .vocab = 200}, 8);
  for (const TreeMethod method : {TreeMethod::recursive_rejection, TreeMethod::traversal}) {
    TreeBatch tree;
    tree.batch = logits.batch;
    tree.method = method;
    run_tree_emulated(tree);
    const auto next = logits.next;
    run_emulated(Implementation::cluster, logits.batch);
    CHECK(logits.next == next);
    CHECK(logits.accepted == std::vector<std::int32_t>(5, 0));
  }
}

TEST_CASE("trees of requests of their own, in slots, and of fewer nodes") {
  constexpr std::int32_t requests = 6;
  for (const Drafting how : methods) {
    TreeLogits logits({.requests = requests, .vocab = 40, .distance = 0.8}, wide_tree, how, 9);
    const auto nodes = static_cast<std::int32_t>(wide_tree.size());
    const auto whole = verify_tree_reference(logits.tree());
    logits.run();
    const auto path = logits.path;
    const auto next = logits.next;

    // The same shape, written out; the draft has only rows of inner nodes, in another order.
    std::vector<std::int32_t> written;
    std::vector<std::int32_t> index;
    for (std::int32_t request = 0; request < requests; ++request) {
      written.insert(written.end(), wide_tree.begin(), wide_tree.end());
      index.push_back(requests - 1 - request);
    }
    TreeBatch tree = logits.tree();
    tree.parents = {written.data(), index.data(), nodes, 1};
    const std::vector<std::int32_t> row_at{6, 5, 4, -1, 3, -1, 2, -1, 1, -1, -1};  // after -1, 0, 1, 3, 5, 7
    constexpr std::int32_t rows = 7;
    std::vector<float> inner(static_cast<std::size_t>(requests * rows * 40));
    for (std::int32_t request = 0; request < requests; ++request) {
      for (std::int32_t position = 0; position < nodes; ++position) {
        const std::int32_t row = row_at[static_cast<std::size_t>(position)];
        for (Token id = 0; row >= 0 && id < 40; ++id) {
          inner[static_cast<std::size_t>((request * rows + row) * 40 + id)] =
              logits.draft_logit(request, position, id);
        }
      }
    }
    tree.draft_row = {row_at.data(), nullptr, 0, 1};
    tree.draft_rows = rows;
    tree.batch.draft = {inner.data(), Dtype::f32, rows * 40, 40};
    CHECK(tree_error(tree) == std::nullopt);
    run_tree_emulated(tree);
    CHECK(logits.path == path);
    CHECK(logits.next == next);
    for (std::size_t i = 0; i < whole.size(); ++i)
      CHECK(verify_tree_reference(tree)[i].path == whole[i].path);

    // With fewer nodes the others do not exist.
    std::vector<std::int32_t> lengths{0, 1, 5, nodes, nodes + 1, -1};
    logits.batch.lengths = lengths.data();
    const auto fewer = verify_tree_reference(logits.tree());
    logits.run();
    CHECK(logits.different_from(fewer, tree_band) == 0);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK((logits.flags[i] == flag_length_out_of_range) == (i > 3));
      CHECK((logits.next[i] == invalid_token) == (i > 3));
    }
    CHECK(logits.accepted[0] == 0);
    CHECK(logits.accepted[1] <= 1);
  }
}

TEST_CASE("trees that are none are refused, each for itself") {
  const auto flags_with = [](std::int32_t node, std::int32_t parent) {
    TreeLogits logits({.requests = 2, .vocab = 20}, wide_tree, Drafting::without_replacement, 10);
    std::vector<std::int32_t> written = wide_tree;
    written.insert(written.end(), wide_tree.begin(), wide_tree.end());
    written[wide_tree.size() + static_cast<std::size_t>(node)] = parent;
    TreeBatch tree = logits.tree();
    tree.parents = written.data();
    run_tree_emulated(tree);
    const auto expected = verify_tree_reference(tree);
    CHECK(logits.flags[0] != flag_invalid_tree);
    CHECK(expected[0].flags != flag_invalid_tree);
    CHECK(expected[1].flags == logits.flags[1]);
    CHECK((logits.next[1] == invalid_token) == (logits.flags[1] == flag_invalid_tree));
    return logits.flags[1];
  };
  CHECK(flags_with(4, 4) == flag_invalid_tree);
  CHECK(flags_with(4, 7) == flag_invalid_tree);
  CHECK(flags_with(0, -2) == flag_invalid_tree);
  CHECK(flags_with(4, 3) != flag_invalid_tree);

  TreeLogits logits({.requests = 1, .vocab = 20}, wide_tree, Drafting::without_replacement, 10);
  TreeBatch tree = logits.tree();
  std::vector<std::int32_t> rows(wide_tree.size(), 0);
  tree.draft_row = rows.data();
  tree.draft_rows = 1;
  run_tree_emulated(tree);
  CHECK(logits.flags[0] != flag_invalid_tree);
  rows[0] = 1;
  run_tree_emulated(tree);
  CHECK(logits.flags[0] == flag_invalid_tree);
  rows[0] = -1;
  run_tree_emulated(tree);
  CHECK(logits.flags[0] == flag_invalid_tree);
}

TEST_CASE("siblings that are one token, ids out of range, and a draft that has run out") {
  // The context has four children.
  const std::vector<std::int32_t> star{-1, -1, -1, -1};
  for (const Drafting how : draftings) {
    CAPTURE(static_cast<int>(how));
    TreeLogits logits({.requests = 40, .vocab = 6, .spread = 1, .distance = 1.5}, star, how, 11);
    for (std::int32_t request = 0; request < 40; ++request) {
      if (request % 2 == 0) logits.drafted_at(request, 2) = logits.drafted_at(request, 0);
      if (request % 3 == 0) logits.drafted_at(request, 1) = request % 2 == 0 ? -1 : 6;
      if (request % 5 == 0) logits.drafted_at(request, 3) = logits.drafted_at(request, 1);
    }
    logits.run();
    CHECK(logits.different_from(verify_tree_reference(logits.tree()), tree_band) == 0);
    for (std::size_t i = 0; i < 40; i += 3) {
      // Either the first child was accepted, or the second was tried.
      CHECK((logits.path_of(i) == std::vector<std::int32_t>{0}) ==
            ((logits.flags[i] & flag_token_out_of_range) == 0));
    }
  }
  // Two ids have the draft's probability, half each, or one has all of it: the third child is impossible.
  for (const auto& [how, one] :
       {std::pair{methods[0], false}, {methods[0], true}, {methods[1], false}, {methods[1], true}}) {
    TreeLogits logits({.requests = 40, .vocab = 6, .spread = 1}, star, how, 12);
    for (std::int32_t request = 0; request < 40; ++request) {
      make_certain(logits, false, request, 0, 2);
      if (!one) logits.draft_logit(request, 0, 4) = 0;
      for (std::int32_t node = 0; node < 4; ++node) {
        logits.drafted_at(request, node) = node == 0 ? 2 : node == 1 && !one ? 4 : node;
      }
    }
    logits.store();
    logits.run();
    CHECK(logits.different_from(verify_tree_reference(logits.tree()), tree_band) == 0);
    int impossible = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const bool flagged = (logits.flags[i] & flag_zero_draft_probability) != 0;
      CHECK(flagged == logits.path_of(i).empty());
      impossible += flagged ? 1 : 0;
    }
    CHECK(impossible > 5);
  }
}

TEST_CASE(
    "trees: a target that is the draft accepts the first child, and samples itself where none was possible") {
  for (const Drafting how : methods) {
    TreeLogits logits({.requests = 6, .vocab = 30, .distance = 0}, {-1, -1, 0}, how, 13);
    for (std::int32_t request = 3; request < 6; ++request) {
      logits.drafted_at(request, 0) = 30;
      logits.drafted_at(request, 1) = -1;
    }
    logits.run();
    for (std::size_t i = 0; i < 3; ++i) CHECK(logits.path_of(i) == std::vector<std::int32_t>{0, 2});
    for (std::size_t i = 3; i < 6; ++i) {
      CHECK(logits.accepted[i] == 0);
      CHECK((logits.flags[i] & flag_zero_residual) != 0);
      const auto row = probabilities(logits.batch, true, static_cast<std::int32_t>(i), 0);
      const double u = tree_uniform_of(logits.tree(), static_cast<std::int64_t>(i), {Use::replace, 0});
      CHECK(logits.next[i] == inverse_cdf(Row{row.data(), 30}, u));
    }
  }
}

TEST_CASE("trees: rows of the path alone matter, and an invalid one among them leaves no next token") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Drafting how : methods) {
    TreeLogits logits({.requests = 4, .vocab = 9000, .distance = 0}, {-1, -1, 0, 0, 1}, how, 14);
    for (std::int32_t request = 0; request < 4; ++request)
      logits.target_logit(request, 2, 77) = nan;  // after node 1
    logits.draft_logit(1, 1, 8500) = nan;
    logits.target_logit(2, 0, 3) = nan;
    logits.target_logit(3, 3, 8999) = std::numeric_limits<float>::infinity();
    logits.store();
    logits.run();
    CHECK(logits.accepted == std::vector<std::int32_t>{2, 1, 0, 2});
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK((logits.next[i] == invalid_token) == (i > 0));
      CHECK(logits.flags[i] == (i > 0 ? flag_invalid_row : 0U));
    }
    CHECK(logits.different_from(verify_tree_reference(logits.tree()), tree_band) == 0);
  }
}
