// Verification of random draft trees in the emulator, beside the reference: the batches of fuzz_verification
// (formats, layouts, options, invalid rows, ids out of range), with trees of random shapes in the place of
// chains, their siblings drawn with or without replacement, or chosen; those drawn without replacement are
// verified by traversal in half of the batches, the others by recursive rejection. Batches with options that
// trees do not have are passed over. usage: fuzz_trees BATCHES [FIRST]; the batch of a number is the same
// everywhere.
//
// A fault is a path or a token that is not the reference's although its uniforms are further than 1e-5 from
// another outcome (in the reference's units), a flag that says something else than happened, a result outside
// of where it belongs, or an exception. Exit code 1 if there was any.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kernels/verify/reference.hpp"
#include "kernels/verify/tree_reference.hpp"
#include "kernels/verify/verify_tree.hpp"
#include "tests/kernels/fuzz/fuzz_run.hpp"

using namespace speclab;

namespace {

constexpr double tree_band = 1e-5;
constexpr std::int32_t untouched_node = -99;

struct Totals {
  std::uint64_t batches = 0;
  std::uint64_t requests = 0;
  std::uint64_t within_band = 0;
  std::uint64_t accepted = 0;
  std::uint64_t traversed = 0;  ///< batches
};

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

  /// Known sums are right ones here: those of fuzz_verification, in part scaled, make rows whose sum is not
  /// 1, of which nobody says what siblings leave.
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

  /// Each id of the draft stands for one of the target, so that a row by the target's ids has the sum 1.
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
      // From chains to stars.
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

  /// The draft's rows in another order.
  void shuffle_rows() {
    for (std::int32_t row = 0; row < tree.batch.gamma; ++row) rows_.push_back(row);
    std::shuffle(rows_.begin(), rows_.end(), random_);
    if (!rows_.empty() && chance(0.05)) rows_[0] = chance(0.5) ? -1 : tree.batch.gamma;
    tree.draft_row = {rows_.data(), nullptr, 0, 1};
  }

  /// From the draft's row after the parent, as far as it has probability left; some ids out of range, some
  /// equal.
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

std::string fault_of(const FuzzTrees& trees, std::int32_t request, const TreeReferenceVerdict& expected,
                     Totals& totals) {
  const TreeBatch& tree = trees.tree;
  const VerifyBatch& batch = tree.batch;
  const std::int32_t accepted = batch.accepted[request];
  const Token next = batch.next[request];
  const std::uint32_t flags = batch.flags[request];
  const std::int32_t length = batch.length(request);
  if ((expected.flags & (flag_length_out_of_range | flag_invalid_tree)) != 0) {
    const bool refused = accepted == 0 && next == invalid_token && flags == expected.flags;
    return refused ? "" : "what is no tree was not refused";
  }
  if (accepted < 0 || accepted > length) return "accepted is out of range";
  if (next != invalid_token && (next < 0 || next >= batch.vocab)) return "next is no id";
  if ((next == invalid_token) != ((flags & flag_invalid_row) != 0)) return "the flag of an invalid row";
  const auto first = trees.path.begin() + static_cast<std::ptrdiff_t>(request) * batch.gamma;
  std::vector<std::int32_t> path(first, first + accepted);
  for (std::int32_t i = 0; i < accepted; ++i) {
    if (path[static_cast<std::size_t>(i)] < 0 || path[static_cast<std::size_t>(i)] >= length)
      return "no node";
    const std::int32_t before = i == 0 ? -1 : path[static_cast<std::size_t>(i) - 1];
    if (tree.parent(request, path[static_cast<std::size_t>(i)]) != before) return "the path is none";
  }
  if (!std::all_of(first + accepted, first + batch.gamma, [](std::int32_t node) { return node == -1; })) {
    return "something behind the path";
  }
  for (std::int32_t i = 0; batch.tokens != nullptr && i <= batch.gamma; ++i) {
    const Token token = i < accepted ? batch.drafted_token(request, path[static_cast<std::size_t>(i)])
                        : i == accepted && next != invalid_token ? next
                                                                 : no_token;
    if (batch.tokens[request * (batch.gamma + 1) + i] != token) return "tokens say something else";
  }
  if (batch.counts != nullptr && batch.counts[request] != accepted + (next == invalid_token ? 0 : 1)) {
    return "counts say something else";
  }
  if (expected.margin < tree_band) {
    ++totals.within_band;
    return "";
  }
  if (path != expected.path || next != expected.next) {
    return "accepted " + std::to_string(accepted) + ", next " + std::to_string(next) + " instead of " +
           std::to_string(expected.path.size()) + ", " + std::to_string(expected.next) + " (margin " +
           std::to_string(expected.margin) + ")";
  }
  totals.accepted += static_cast<std::uint64_t>(accepted);
  if (next != invalid_token && (flags & ~std::uint32_t{flag_zero_residual}) != expected.flags) {
    return "flags " + std::to_string(flags) + " instead of " + std::to_string(expected.flags);
  }
  return "";
}

std::string fault_of(FuzzBatch& fuzz, std::uint64_t number, Totals& totals) {
  FuzzTrees trees(fuzz, number);
  if (const auto error = tree_error(trees.tree)) return *error;
  const auto expected = verify_tree_reference(trees.tree);
  run_tree_emulated(trees.tree, fuzz.how.order);
  if (!fuzz.kept_to_its_place() || trees.path.back() != untouched_node) return "wrote beside its results";
  for (std::int32_t request = 0; request < trees.tree.batch.requests; ++request) {
    const std::string fault = fault_of(trees, request, expected[static_cast<std::size_t>(request)], totals);
    if (!fault.empty()) return "request " + std::to_string(request) + ": " + fault;
  }
  ++totals.batches;
  totals.traversed += trees.tree.method == TreeMethod::traversal ? 1 : 0;
  totals.requests += static_cast<std::uint64_t>(trees.tree.batch.requests);
  return "";
}

}  // namespace

int main(int count, char** arguments) {
  const FuzzRange range = fuzz_range("fuzz_trees", count, arguments);
  Totals totals;
  const std::uint64_t faults = run_fuzz(range, [&](FuzzBatch& fuzz, std::uint64_t number) {
    return fuzz.batch.bonus != nullptr ? "" : fault_of(fuzz, number, totals);
  });
  const auto print = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::printf(
      "%llu batches (%llu by traversal), %llu requests, %llu tokens accepted, %llu requests within the "
      "band, %llu faults\n",
      print(totals.batches), print(totals.traversed), print(totals.requests), print(totals.accepted),
      print(totals.within_band), print(faults));
  return faults == 0 ? 0 : 1;
}
