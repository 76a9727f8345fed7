// Compares the simulating kernels in the emulator with simple loops, all counts bit for bit. Overlaps depend
// on every context visited, so a single different token would be found.
#include "kernels/simulate/simulate.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <numeric>

#include "kernels/simulate/simulate_layout.hpp"
#include "tests/kernels/simulate/simulate_fixture.hpp"

using namespace speclab;

namespace {

constexpr std::array orders{simt::Order::forward, simt::Order::backward, simt::Order::shuffled};

bool go_on(std::uint64_t) { return true; }

/// Counts the blocks of a run of acceptance draws, trial by trial and batch by batch: a block whose two
/// rounds lie in two pieces counts twice. Batches must be short enough to be one piece.
std::uint64_t blocks_by_walking(const RunShape& shape) {
  const std::vector<std::uint32_t> batches = batches_of_rounds(shape);
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const bool same_block = i % shape.length % 2 == 1 && batches[i] == batches[i - 1];
    blocks += same_block ? 0 : 1;
  }
  return blocks;
}

template <class Rule>
void check_pair(const StoredRows& target, const StoredRows& draft, const Rule& rule, RunShape shape,
                const std::vector<std::vector<Token>>& prompts = {{1, 0, 2}, {}, {2}}) {
  for (const std::int32_t gamma : {0, 1, 5, 20}) {
    CAPTURE(gamma);
    shape.gamma = gamma;
    const PairInMemory<Rule> pair(target, draft, rule, shape, prompts);
    const RoundCounts expected = plain_loop(pair);
    for (const simt::Order order : orders) {
      const RoundCounts found = simulate_emulated(pair.run, go_on, order);
      CHECK(same_counts(found, expected));
      CHECK(found.blocks == expected.blocks);
    }
  }
}

const RunShape small{.seed = 9, .trials = 37, .length = 60, .batches = 11, .gamma = 0};

}  // namespace

TEST_CASE("independent acceptances: the plain loop's counts, whatever the sizes") {
  for (const auto& [trials, length, batches] : {std::array<std::uint32_t, 3>{1, 1, 1},
                                                {1, 2, 5},
                                                {3, 1001, 7},
                                                {64, 33, 64},
                                                {2, 5000, 3},
                                                {700, 1, 2},
                                                {3000, 5, 3}}) {
    for (const double alpha : {0.0, 0.3, 0.8, 1.0}) {
      for (const std::int32_t gamma : {0, 1, 5, 20, 64}) {
        IidRun run{{.seed = 4, .trials = trials, .length = length, .batches = batches, .gamma = gamma},
                   alpha};
        CAPTURE(trials);
        CAPTURE(length);
        CAPTURE(alpha);
        CAPTURE(gamma);
        const RoundCounts expected = plain_loop(run);
        for (const simt::Order order : orders) {
          const RoundCounts found = simulate_emulated(run, go_on, order);
          CHECK(same_counts(found, expected));
          CHECK(found.blocks == blocks_by_walking(run.shape));
          CHECK(found.blocks <= iid_layout(run.shape).random_blocks);
          CHECK(found.blocks + batches >= iid_layout(run.shape).random_blocks);
        }
      }
    }
  }
}

TEST_CASE("independent acceptances: several pieces a batch, several shares a piece, several launches") {
  IidRun run{{.seed = 5, .trials = 3, .length = 1'100'001, .batches = 2, .gamma = 5}, 0.8};
  const RoundCounts expected = plain_loop(run);
  CHECK(iid_layout(run.shape).launches == 1);
  CHECK(same_counts(simulate_emulated(run, go_on), expected));
  run.shape.limits.rounds = 1U << 20U;
  CHECK(iid_layout(run.shape).launches == 4);
  std::uint64_t told = 0;
  const auto watch = [&](std::uint64_t rounds) {
    told += rounds;
    return true;
  };
  CHECK(same_counts(simulate_emulated(run, watch), expected));
  CHECK(told == run.shape.total());
}

TEST_CASE("tables: the plain loop's counts for all orders, rules and prompts") {
  for (const auto& [target_order, draft_order] :
       {std::pair{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 0}, {2, 1}, {1, 3}}) {
    CAPTURE(target_order);
    CAPTURE(draft_order);
    const StoredRows target = random_rows(5, target_order, 1);
    const StoredRows draft = random_rows(5, draft_order, 2);
    check_pair(target, draft, TokenRule{}, small);
    check_pair(target, draft, LenienceRule{0.6, Residual::literal}, small);
    check_pair(target, draft, LenienceRule{0.3, Residual::target}, small);
  }
}

TEST_CASE("tables: a larger vocabulary, equal and disjoint rows, one token alone") {
  check_pair(random_rows(100, 1, 4), random_rows(100, 1, 5), TokenRule{}, small);
  const StoredRows one = random_rows(7, 1, 6);
  check_pair(one, one, TokenRule{}, small);
  check_pair({3, 0, {0, 1, 0}}, {3, 0, {0, 0, 1}}, TokenRule{}, small);
  check_pair({3, 0, {0.5, 0.5, 0}}, {3, 0, {0, 0.5, 0.5}}, TokenRule{}, small);
  check_pair({1, 0, {1}}, {1, 0, {1}}, TokenRule{}, small, {{}, {0}});
  check_pair({1, 2, {1}}, {1, 0, {1}}, TokenRule{}, small, {{}, {0}});
}

TEST_CASE(
    "tables: sizes that do not divide, many small launches, and sequences that go on where they stood") {
  const StoredRows target = random_rows(6, 2, 7);
  const StoredRows draft = random_rows(6, 1, 8);
  for (const auto& [trials, length, batches, unit] : {std::array<std::uint32_t, 4>{1, 1, 1, 1},
                                                      {1, 90, 7, 1},
                                                      {300, 7, 64, 1},
                                                      {300, 7, 64, 7},
                                                      {129, 50, 1, 1},
                                                      {40, 2, 300, 2}}) {
    RunShape shape{.seed = 3, .trials = trials, .length = length, .batches = batches, .gamma = 4};
    shape.batch_unit = unit;
    const std::vector<std::vector<Token>> prompts{{1, 2}, {5}};
    const PairInMemory<TokenRule> whole(target, draft, TokenRule{}, shape, prompts);
    const RoundCounts expected = plain_loop(whole);
    CHECK(same_counts(simulate_emulated(whole.run, go_on), expected));
    shape.limits = {.rounds = 1, .steps = 600, .steps_in_a_row = 50, .sequences = 130};
    const TableLayout plan = table_layout(shape, whole.run.tables, prompts.size());
    CHECK(plan.launches ==
          (trials + plan.sequences - 1) / plan.sequences * ((length + plan.stretch - 1) / plan.stretch));
    CHECK(std::uint64_t{plan.sequences} * plan.stretch * 5 <= 600);
    const PairInMemory<TokenRule> parts(target, draft, TokenRule{}, shape, prompts);
    std::uint64_t launches = 0;
    std::uint64_t told = 0;
    const RoundCounts found = simulate_emulated(parts.run, [&](std::uint64_t rounds) {
      ++launches;
      told += rounds;
      return true;
    });
    CHECK(same_counts(found, expected));
    CHECK(launches == plan.launches);
    CHECK(told == shape.total());
  }
}

TEST_CASE("an acceptance draw whose upper bits do not decide is decided by the rest") {
  int undecided = 0;
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    Philox block(seed, Site{0, 0, Draw{Use::draft, 0}});
    block();
    const std::uint64_t word = block();
    const double u = open_unit(word);
    for (const double kept : {u, std::nextafter(u, 1), u + 0x1p-40, u - 0x1p-40}) {
      const RunShape shape{.seed = seed, .trials = 1, .length = 1, .batches = 1, .gamma = 1};
      const PairInMemory<TokenRule> pair({2, 0, {kept, 1 - kept}}, {2, 0, {1, 0}}, TokenRule{}, shape, {{}});
      const RoundCounts found = simulate_emulated(pair.run, go_on);
      CHECK(found.lengths[1] == (u < kept ? 1 : 0));
      CHECK(same_counts(found, plain_loop(pair)));
      undecided += bernoulli_bits(kept) == bernoulli_bits_of(word) ? 1 : 0;
    }
  }
  CHECK(undecided > 100);
}

TEST_CASE("who stops has whole launches") {
  const auto stop_at = [](std::uint64_t goal) {
    return [goal, told = std::uint64_t{0}](std::uint64_t rounds) mutable { return (told += rounds) < goal; };
  };
  const auto rounds_of = [](const RoundCounts& counts) {
    return std::accumulate(counts.lengths.begin(), counts.lengths.end(), std::uint64_t{0});
  };
  const IidRun acceptances{{.seed = 1,
                            .trials = 1,
                            .length = 4'000'000'000,
                            .batches = 2,
                            .gamma = 3,
                            .limits = {.rounds = 1U << 21U}},
                           0.5};
  const RoundCounts some = simulate_emulated(acceptances, stop_at(3'000'000));
  CHECK(some.partial);
  CHECK(rounds_of(some) == std::uint64_t{2} << 21U);
  CHECK(some.blocks == std::uint64_t{1} << 21U);

  const RunShape shape{.seed = 1,
                       .trials = 10,
                       .length = 1'000'000,
                       .batches = 4,
                       .gamma = 3,
                       .limits = {.rounds = 1, .steps = 4000, .steps_in_a_row = 400, .sequences = 4}};
  const PairInMemory<TokenRule> pair(random_rows(4, 1, 1), random_rows(4, 1, 2), TokenRule{}, shape, {{}});
  const RoundCounts few = simulate_emulated(pair.run, stop_at(1000));
  CHECK(few.partial);
  CHECK(rounds_of(few) == 1200);
  // After the last launch there is nothing to stop.
  const IidRun short_run{{.seed = 1, .trials = 1, .length = 10, .batches = 2, .gamma = 3}, 0.5};
  CHECK(!simulate_emulated(short_run, [](std::uint64_t) { return false; }).partial);
}

TEST_CASE("planted faults show: another seed, alpha, start, slot, rate, batch or threshold") {
  const IidRun acceptances{{.seed = 4, .trials = 3, .length = 1001, .batches = 7, .gamma = 5}, 0.8};
  const RoundCounts expected = simulate_emulated(acceptances, go_on);
  IidRun other = acceptances;
  other.alpha = 0.801;
  CHECK(!same_counts(simulate_emulated(other, go_on), expected));
  other = acceptances;
  other.shape.seed = 5;
  CHECK(!same_counts(simulate_emulated(other, go_on), expected));
  // One round moves to the other side of a batch's end; the total stays the same.
  other = acceptances;
  other.shape.trials = 1001;
  other.shape.length = 3;
  CHECK(!same_counts(simulate_emulated(other, go_on), expected));

  const StoredRows target = random_rows(5, 1, 1);
  const StoredRows draft = random_rows(5, 1, 2);
  const auto differs = [&](const auto& invalidity) {
    RunShape shape = small;
    shape.gamma = 5;
    PairInMemory<TokenRule> pair(target, draft, TokenRule{}, shape, {{1}, {2}});
    const RoundCounts plain = plain_loop(pair);
    invalidity(pair);
    return !same_counts(simulate_emulated(pair.run, go_on), plain);
  };
  using Pair = PairInMemory<TokenRule>;
  CHECK(!differs([](Pair&) {}));
  CHECK(differs([](Pair& pair) { std::swap(pair.run.starts[0], pair.run.starts[1]); }));
  CHECK(differs([](Pair& pair) { pair.run.starts.pop_back(); }));
  CHECK(differs([](Pair& pair) { ++pair.overlap[3]; }));
  // Planted faults in every part: the cuts of the slots of one context's five tokens.
  for (const std::size_t part : {0, 1, 2}) {
    CHECK(differs([part](Pair& pair) {
      for (std::size_t i = 0; i < 5; ++i) pair.slots[(part * 5 + 2) * 8 + i].cut ^= 1U << 31U;
    }));
  }
  // Acceptance probabilities that are too high by 2^-8.
  CHECK(differs([](Pair& pair) {
    for (std::size_t i = 0; i < 5 * 8; ++i) {
      for (std::uint32_t* const acceptance : {&pair.slots[i].acceptance, &pair.slots[i].other_acceptance}) {
        if (*acceptance != 0 && *acceptance < 0xfe000000U) *acceptance += 1U << 24U;
      }
    }
  }));
  CHECK(differs([](Pair& pair) { ++pair.run.shape.batches; }));
}

TEST_CASE("plans hold what devices allow, from sizes alone") {
  RunShape shape{.seed = 1, .trials = 4'294'967'295, .length = 4'294'967'295, .batches = 4096, .gamma = 64};
  PreparedPairView tables{};
  tables.contexts = 256;
  tables.target_contexts = tables.draft_contexts = tables.vocab = 256;
  tables.suffix_contexts = 1;
  tables.bits = 8;
  const TableLayout plan = table_layout(shape, tables, 1);
  CHECK(plan.launch.blocks <= simt::max_blocks);
  CHECK(std::uint64_t{plan.sequences} * plan.stretch * 65 <= shape.limits.steps);
  CHECK(std::uint64_t{plan.stretch} * 65 <= shape.limits.steps_in_a_row);
  CHECK(plan.device_bytes > std::uint64_t{48} * 256 * 256);
  CHECK(layout_unsupported_reason(plan, std::uint64_t{1} << 30U).empty());
  CHECK(layout_unsupported_reason(plan, 1U << 20U).find("device memory") != std::string::npos);
  tables.bits = 30;
  CHECK(layout_unsupported_reason(table_layout(shape, tables, 1), std::uint64_t{1} << 38U)
            .find("device memory") != std::string::npos);

  CHECK(plan.random_blocks == std::numeric_limits<std::uint64_t>::max());
  CHECK(iid_layout(shape).random_blocks >= shape.total() / 2);

  shape.trials = 1'000'000;
  shape.length = 1'000'000;
  for (const std::int32_t gamma : {0, 5, 64}) {
    shape.gamma = gamma;
    const IidLayout acceptances = iid_layout(shape);
    CHECK(acceptances.launch.blocks <= simt::max_blocks);
    CHECK(acceptances.pieces * max_piece_rounds <= shape.limits.rounds);
    CHECK(acceptances.launches * shape.limits.rounds >= shape.total());
    CHECK(acceptances.random_blocks >= shape.total() / 2);
    CHECK(layout_unsupported_reason(acceptances, 1U << 30U).empty());
  }
}
