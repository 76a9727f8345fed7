// Compares the simulating kernels on a GPU with simple loops and the emulator, all counts bit for bit; then
// measures their speed and compares it with the targets. Ends with status 77 (skipped) if there is no device.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "kernels/gpu/device.hpp"
#include "kernels/simulate/simulate_layout.hpp"
#include "tests/kernels/simulate/simulate_fixture.hpp"

namespace {

using namespace speclab;
using Clock = std::chrono::steady_clock;

bool go_on(std::uint64_t) { return true; }

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int report(bool same, const char* what, const RunShape& shape) {
  std::printf("%-34s %9u x %9u rounds, %4u batches, gamma %2d: %s\n", what, shape.trials, shape.length,
              shape.batches, shape.gamma, same ? "same" : "DIFFERENT");
  return same ? 0 : 1;
}

/// Returns draft rows that mix the target's, with weight `weight`, and others.
StoredRows nearer(const StoredRows& target, const StoredRows& other, double weight) {
  StoredRows draft = other;
  for (std::size_t i = 0; i < draft.probabilities.size(); ++i) {
    draft.probabilities[i] = weight * target.probabilities[i] + (1 - weight) * other.probabilities[i];
  }
  return draft;
}

int compare_coins() {
  int wrong = 0;
  for (const auto& [trials, length, batches] :
       {std::array<std::uint32_t, 3>{1, 1, 1}, {3, 1001, 7}, {64, 33, 64}, {1000, 2000, 64}}) {
    for (const double alpha : {0.0, 0.8, 1.0}) {
      for (const std::int32_t gamma : {0, 1, 5, 20, 64}) {
        const IidRun run{{.seed = 4, .trials = trials, .length = length, .batches = batches, .gamma = gamma},
                         alpha};
        wrong +=
            report(same_counts(simulate_on_gpu(run, go_on), plain_loop(run)), "coins, plain loop", run.shape);
      }
    }
  }
  for (const std::uint64_t rounds : {std::uint64_t{1} << 32U, std::uint64_t{1} << 21U}) {
    const IidRun run{{.seed = 7,
                      .trials = 3,
                      .length = 33'000'001,
                      .batches = 64,
                      .gamma = 5,
                      .limits = {.rounds = rounds}},
                     0.8};
    wrong += report(same_counts(simulate_on_gpu(run, go_on), simulate_emulated(run, go_on)),
                    "coins, emulator", run.shape);
  }
  return wrong;
}

template <class Rule>
int compare_tables(std::int32_t vocab, std::int32_t target_order, std::int32_t draft_order,
                   const Rule& rule) {
  int wrong = 0;
  for (const std::int32_t gamma : {0, 1, 5, 20}) {
    const RunShape shape{.seed = 9, .trials = 300, .length = 61, .batches = 64, .gamma = gamma};
    const PairInMemory<Rule> pair(random_rows(vocab, target_order, 1), random_rows(vocab, draft_order, 2),
                                  rule, shape, {{1, 0, 2}, {}, {2}});
    wrong +=
        report(same_counts(simulate_on_gpu(pair.run, go_on), plain_loop(pair)), "tables, plain loop", shape);
  }
  return wrong;
}

int compare_large_tables() {
  int wrong = 0;
  const StoredRows target = random_rows(256, 1, 1);
  const StoredRows draft = nearer(target, random_rows(256, 1, 2), 0.6);
  RunShape shape{.seed = 9, .trials = 5000, .length = 1001, .batches = 64, .gamma = 5};
  for (const std::uint64_t steps : {std::uint64_t{1} << 31U, std::uint64_t{1} << 20U}) {
    shape.limits.steps = steps;
    const PairInMemory<TokenRule> pair(target, draft, TokenRule{}, shape, {{}});
    wrong += report(same_counts(simulate_on_gpu(pair.run, go_on), simulate_emulated(pair.run, go_on)),
                    "tables, emulator", shape);
  }
  return wrong;
}

template <class Run>
void time_run(const char* what, const Run& run, double target) {
  simulate_on_gpu(run, [](std::uint64_t) { return false; });  // the first launch warms up
  double longest = 0;
  Clock::time_point last = Clock::now();
  const Clock::time_point start = last;
  const RoundCounts counts = simulate_on_gpu(run, [&](std::uint64_t) {
    longest = std::max(longest, seconds_since(last));
    last = Clock::now();
    return true;
  });
  const double seconds = seconds_since(start);
  double tokens = 0;
  const auto width = static_cast<std::size_t>(counts.gamma + 1);
  for (std::size_t i = 0; i < counts.lengths.size(); ++i) {
    tokens += static_cast<double>(counts.lengths[i]) * static_cast<double>(i % width + 1);
  }
  std::printf(
      "%s: %.3g tokens in %.3f s, %.3g tokens/s (target %.0e); random blocks %.3g/s; longest launch %.3f s\n",
      what, tokens, seconds, tokens / seconds, target, static_cast<double>(counts.blocks) / seconds, longest);
}

void time_all() {
  time_run("i.i.d., alpha 0.8, gamma 5",
           IidRun{{.seed = 1, .trials = 4096, .length = 1U << 24U, .batches = 64, .gamma = 5}, 0.8}, 5e10);
  const StoredRows target = random_rows(256, 1, 1);
  const StoredRows draft = nearer(target, random_rows(256, 1, 2), 0.6);
  for (const std::uint32_t trials : {64U, 4096U, 1U << 18U}) {
    const RunShape shape{.seed = 1,
                         .trials = trials,
                         .length = trials == 64 ? 1U << 18U : 1U << 15U,
                         .batches = 64,
                         .gamma = 5};
    const PairInMemory<TokenRule> pair(target, draft, TokenRule{}, shape, {{}});
    const std::string what = "stored bigrams, V = 256, gamma 5, " + std::to_string(trials) + " sequences";
    time_run(what.c_str(), pair.run, 1e10);
  }
}

}  // namespace

int main() {
  constexpr int skipped = 77;
  if (!why_no_device().empty()) {
    std::printf("skipped: kernels/simulate_gpu: %s\n", why_no_device().c_str());
    return skipped;
  }
  int wrong = compare_coins();
  for (const auto& [target_order, draft_order] : {std::pair{0, 0}, {1, 1}, {2, 2}, {0, 1}, {2, 1}, {1, 3}}) {
    wrong += compare_tables(5, target_order, draft_order, TokenRule{});
    wrong += compare_tables(5, target_order, draft_order, LenienceRule{0.6, Residual::literal});
  }
  wrong += compare_tables(100, 1, 1, TokenRule{});
  wrong += compare_large_tables();
  time_all();
  return wrong == 0 ? 0 : 1;
}
