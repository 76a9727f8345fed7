// Verifies random draft trees in the emulator and compares with the reference. Batches are those of
// fuzz_verification (formats, layouts, options, invalid rows, ids out of range), with trees of random shapes
// instead of chains. Siblings are drawn with or without replacement, or chosen; half of the batches with
// siblings drawn without replacement are verified by traversal, all others by recursive rejection. Batches
// with options that trees do not support are skipped. usage: fuzz_trees BATCHES [FIRST]; the batch with a
// given number is the same everywhere.
//
// Every batch is verified twice, with rows summed before the walk and without.
//
// A fault is a path or a token that differs from the reference's although its uniforms are further than 1e-5
// from another outcome (in the reference's units), a wrong flag, a result written outside its place, a bit
// that differs between the two runs, or an exception. Exit code 1 if there was any.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/verify/tree_reference.hpp"
#include "tests/kernels/fuzz/fuzz_run.hpp"
#include "tests/kernels/fuzz/fuzz_tree_batch.hpp"
#include "tests/kernels/verify/run_with_sums.hpp"

using namespace speclab;

namespace {

constexpr double tree_band = 1e-5;

struct Totals {
  std::uint64_t batches = 0;
  std::uint64_t requests = 0;
  std::uint64_t within_band = 0;
  std::uint64_t accepted = 0;
  std::uint64_t traversed = 0;  ///< batches verified by traversal
};

std::string fault_of(const FuzzTrees& trees, std::int32_t request, const TreeReferenceDecision& expected,
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
  run_with_sums(trees.tree, fuzz.how.order);
  const std::uint64_t with_sums = fuzz.added_to(0);
  const std::vector<std::int32_t> path_with_sums = trees.path;
  fuzz.clear_results();
  std::fill(trees.path.begin(), trees.path.end(), untouched_node);
  run_tree_emulated(trees.tree, fuzz.how.order);
  if (fuzz.added_to(0) != with_sums || trees.path != path_with_sums) {
    return "sums taken before the walk change a bit";
  }
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
