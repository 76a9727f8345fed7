// Makes random batches of draft trees for tests of verification kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/verify/tree_reference.hpp"
#include "kernels/verify/verify_tree.hpp"
#include "tests/kernels/verify/logit_batch.hpp"
#include "tests/kernels/verify/run_with_sums.hpp"

namespace speclab {

/// How the tokens of a tree are drawn; traversed: without replacement, and verified by traversal.
enum class Drafting { without_replacement, independent, chosen, traversed };

/// A batch whose trees have one shape, with room for its results. A node's token comes from the draft's row
/// after its parent.
class TreeLogits : public LogitBatch {
 public:
  TreeLogits(LogitShape shape, std::vector<std::int32_t> tree_parents, Drafting how, std::uint64_t seed)
      : LogitBatch(of_nodes(shape, tree_parents.size()), seed), parents(std::move(tree_parents)), how_(how) {
    path.resize(accepted.size() * parents.size() + 1);
    for (std::int32_t request = 0; request < batch.requests; ++request) draw_tree(request);
    if (how == Drafting::chosen) batch.draft = {};
  }

  TreeBatch tree() {
    TreeBatch whole;
    whole.batch = batch;
    whole.parents = {parents.data(), nullptr, 0, 1};
    whole.siblings = how_ == Drafting::independent ? Siblings::independent : Siblings::without_replacement;
    if (how_ == Drafting::traversed) whole.method = TreeMethod::traversal;
    whole.path = path.data();
    return whole;
  }

  /// Verifies the batch in the emulator. Returns the bytes loaded.
  std::uint64_t run(simt::Order order = simt::Order::forward, bool sums_first = false) {
    std::fill(next.begin(), next.end(), -7);
    std::fill(path.begin(), path.end(), -7);
    return sums_first ? run_with_sums(tree(), order) : run_tree_emulated(tree(), order);
  }

  std::vector<std::int32_t> path_of(std::size_t request) const {
    const auto first = path.begin() + static_cast<std::ptrdiff_t>(request * parents.size());
    return {first, first + accepted[request]};
  }

  /// Counts the requests that differ from the reference although no uniform was this close to an edge.
  int different_from(const std::vector<TreeReferenceDecision>& expected, double least_margin,
                     int* within = nullptr) {
    int different = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].margin < least_margin) {
        if (within != nullptr) ++*within;
      } else if (path_of(i) != expected[i].path || next[i] != expected[i].next ||
                 (flags[i] & ~std::uint32_t{flag_zero_residual}) != expected[i].flags) {
        ++different;
      }
    }
    return different;
  }

  void draw_tree(std::int32_t request) {
    const RandomAddress at = addresses[static_cast<std::size_t>(request)];
    SampledRandomSource random = sampled_random_source(at.seed, at.trial, at.round);
    for (std::int32_t node = 0; node < batch.gamma; ++node)
      drafted_at(request, node) = draw_node(request, node, random);
  }

  /// Draws one node's token; those of earlier nodes must have been drawn.
  template <class Random>
  Token draw_node(std::int32_t request, std::int32_t node, Random& random) {
    const std::int32_t parent = parents[static_cast<std::size_t>(node)];
    std::vector<double> left = probabilities(batch, false, request, parent + 1);
    for (std::int32_t other = 0; other < node; ++other) {
      const Token token = drafted_at(request, other);
      const bool sibling = parents[static_cast<std::size_t>(other)] == parent && token >= 0;
      if (how_ != Drafting::independent && sibling) left[static_cast<std::size_t>(token)] = 0;
    }
    if (how_ == Drafting::chosen) {
      return static_cast<Token>(std::max_element(left.begin(), left.end()) - left.begin());
    }
    const Draw draw{Use::draft, static_cast<std::uint16_t>(node + 1)};
    return random.categorical(draw, Row{left.data(), batch.vocab});
  }

  Token& drafted_at(std::int32_t request, std::int32_t node) {
    return drafted[static_cast<std::size_t>(request * batch.gamma + node)];
  }

  std::vector<std::int32_t> parents;
  std::vector<std::int32_t> path;

 private:
  static LogitShape of_nodes(LogitShape shape, std::size_t nodes) {
    shape.gamma = static_cast<std::int32_t>(nodes);
    return shape;
  }

  Drafting how_;
};

}  // namespace speclab
