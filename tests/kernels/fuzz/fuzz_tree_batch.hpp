// Makes random trees over a random batch, for fuzz_trees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/verify/reference.hpp"
#include "kernels/verify/verify_tree.hpp"
#include "tests/kernels/fuzz/fuzz_batch.hpp"

namespace speclab {

inline constexpr std::int32_t untouched_node = -99;

/// Trees over a batch of fuzz_verification.
class FuzzTrees {
 public:
  FuzzTrees(FuzzBatch& fuzz, std::uint64_t number) : random_(number * 0x9e3779b97f4a7c15U + 7) {
    tree.batch = fuzz.batch;
    tree.batch.rule = {};
    tree.batch.log_probabilities = nullptr;
    tree.batch.log_sum_exps = nullptr;
    tree.batch.top_k = {};
    tree.batch.top_p = {};
    tree.batch.min_p = {};
    tree.siblings = chance(0.3) ? Siblings::independent : Siblings::without_replacement;
    const bool without_replacement = tree.siblings == Siblings::without_replacement && !fuzz.how.certain;
    if (without_replacement && chance(0.5)) tree.method = TreeMethod::traversal;
    for (const bool of_target : {true, false}) make_sums(fuzz, of_target);
    if (tree.batch.draft_place != nullptr) make_places();
    make_parents();
    if (!fuzz.how.certain && chance(0.3)) shuffle_rows();
    make_drafted();
    path.assign(static_cast<std::size_t>(tree.batch.requests) * size() + 1, untouched_node);
    tree.path = path.data();
  }
  FuzzTrees(const FuzzTrees&) = delete;
  FuzzTrees& operator=(const FuzzTrees&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(tree.batch.gamma); }

  TreeBatch tree;
  std::vector<std::int32_t> path;

 private:
  bool chance(double probability) { return std::uniform_real_distribution<>(0, 1)(random_) < probability; }
  std::int32_t whole(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(random_);
  }

  /// Replaces given sums by correct ones. fuzz_verification scales some of them, which gives rows whose sum
  /// is not 1; for such rows, what siblings leave is undefined.
  void make_sums(const FuzzBatch& fuzz, bool of_target) {
    View<const float>& given = (of_target ? tree.batch.target_options : tree.batch.draft_options).log_sum_exp;
    if (given == nullptr) return;
    std::vector<float>& sums = sums_[of_target ? 1 : 0];
    for (std::int32_t request = 0; request < tree.batch.requests; ++request) {
      for (std::int32_t i = 0; i < tree.batch.positions_of(of_target); ++i) {
        const float old = *tree.batch.entry(given, of_target, request, i);
        sums.push_back(old != old ? old : static_cast<float>(fuzz.log_sum(of_target, request, i)));
      }
    }
    given = sums.data();
  }

  /// Maps each id of the draft to one of the target, so that a row by the target's ids has the sum 1.
  void make_places() {
    places_.resize(static_cast<std::size_t>(tree.batch.vocab), -1);
    for (std::int32_t id = 0; id < tree.batch.vocab_of(false); ++id)
      places_[static_cast<std::size_t>(id)] = id;
    std::shuffle(places_.begin(), places_.end(), random_);
    tree.batch.draft_place = places_.data();
  }

  void make_parents() {
    const bool one_for_all = chance(0.5);
    const std::int32_t trees = one_for_all ? 1 : tree.batch.requests;
    for (std::int32_t i = 0; i < trees; ++i) {
      // Trees range from chains to stars.
      const std::int32_t reach = whole(1, std::max(1, tree.batch.gamma));
      for (std::int32_t node = 0; node < tree.batch.gamma; ++node) {
        parents_.push_back(std::max(-1, node - whole(1, reach)));
      }
      if (tree.batch.gamma > 0 && chance(0.03)) {
        const auto last = static_cast<std::int32_t>(parents_.size()) - 1;
        parents_[static_cast<std::size_t>(last)] = chance(0.5) ? tree.batch.gamma : -2;
      }
    }
    tree.parents = {parents_.data(), nullptr, one_for_all ? 0 : tree.batch.gamma, 1};
  }

  /// Puts the draft's rows in another order.
  void shuffle_rows() {
    for (std::int32_t row = 0; row < tree.batch.gamma; ++row) rows_.push_back(row);
    std::shuffle(rows_.begin(), rows_.end(), random_);
    if (!rows_.empty() && chance(0.05)) rows_[0] = chance(0.5) ? -1 : tree.batch.gamma;
    tree.draft_row = {rows_.data(), nullptr, 0, 1};
  }

  /// Draws each token from the draft's row after the parent, while the row has probability left; some ids are
  /// out of range, some equal.
  void make_drafted() {
    for (std::int32_t request = 0; request < tree.batch.requests; ++request) {
      for (std::int32_t node = 0; node < tree.batch.gamma; ++node) {
        const std::size_t first = drafted_.size() - static_cast<std::size_t>(node);
        drafted_.push_back(whole(-2, tree.batch.vocab + 1));
        if (chance(0.04) || !tree.node_valid(request, node)) continue;
        drafted_.back() = whole(0, tree.batch.vocab - 1);
        if (chance(0.1)) continue;
        const std::int32_t parent = tree.parent(request, node);
        const bool certain = tree.batch.certain_drafts();
        auto left = probabilities(tree.batch, certain, request,
                                  certain ? parent + 1 : tree.draft_position(request, parent + 1));
        double sum = 0;
        for (std::int32_t other = 0; other < node; ++other) {
          const Token token = drafted_[first + static_cast<std::size_t>(other)];
          const bool sibling = tree.parent(request, other) == parent;
          if (sibling && token >= 0 && token < tree.batch.vocab && tree.siblings != Siblings::independent) {
            left[static_cast<std::size_t>(token)] = 0;
          }
        }
        for (const double probability : left) sum += probability;
        if (!(sum > 0)) continue;
        const double u = std::uniform_real_distribution<>(0, 1)(random_);
        drafted_.back() = std::max(0, inverse_cdf(Row{left.data(), tree.batch.vocab}, u));
      }
    }
    tree.batch.drafted = drafted_.data();
  }

  std::mt19937_64 random_;
  std::vector<float> sums_[2];
  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> rows_;
  std::vector<Token> drafted_;
};

}  // namespace speclab
