// Tests fast decoding of stored tables, bit for bit, against a simple implementation with the same random
// numbers: overlaps depend on every visited context, so that a single wrong token would show.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <vector>

#include "core/random/block_random_source.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/core/fast/cold_rows.hpp"
#include "tests/core/fast/fast_round.hpp"
#include "tests/core/rules/all_rules.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

/// A user's rule whose replacement differs from the residual.
struct Resampling : ResampleTargetFault {
  using SaidByPosition = Resampling;
};

/// Decodes by tests/core/fast/fast_round.hpp, one round after another.
template <class Rule>
Outcome reference(const TableModel& target, const TableModel& draft, const Rule& rule, std::int32_t gamma,
                  const SimulationSize& simulation) {
  return run_trials(simulation, Control{},
                    [&](std::uint32_t trial, std::uint32_t number, std::vector<Token>& context, Tally& tally,
                        RoundScratch<double>& round_scratch) {
                      BlockRandomSource random(simulation.seed, trial, number);
                      std::vector<double> scratch;
                      const std::size_t start = context.size();
                      const Round round =
                          fast_round(target, draft, rule, gamma, 0, context, random, round_scratch);
                      const std::span<const Token> all(context);
                      for (std::size_t at = start; at < context.size(); ++at) {
                        const Row p = target.next(all.first(at), scratch);
                        tally.add_overlap(rule.acceptance_rate(p, draft.next(all.first(at), scratch)));
                      }
                      tally.add_round(round);
                    });
}

TableModel random_table(std::int32_t vocab, std::int32_t order, std::uint64_t seed) {
  std::uint32_t rows = 1;
  for (std::int32_t k = 0; k < order; ++k) rows *= static_cast<std::uint32_t>(vocab);
  return {vocab, order, dirichlet_rows(vocab, rows, 0.5, seed)};
}

SimulationSize small_plan() {
  SimulationSize simulation;
  simulation.seed = 9;
  simulation.trials = 37;
  simulation.length = 60;
  simulation.batches = 11;
  simulation.prompts = {{1, 0, 2}, {}, {2}};
  return simulation;
}

template <class Rule>
void check_pair(const TableModel& target, const TableModel& draft, const Rule& rule) {
  const Model t(target);
  const Model d(draft);
  const AnyRule any(rule);
  REQUIRE(!fast_unsupported_reason(t, d, any));
  const FastPair pair(t, d, any);
  for (const std::int32_t gamma : {0, 1, 5}) {
    const SimulationSize simulation = small_plan();
    const Outcome expected = reference(target, draft, rule, gamma, simulation);
    for (const std::size_t lanes : {1, 2, 7, 32, 64}) {
      const Outcome found = pair.decode(gamma, simulation, Control{}, lanes);
      CHECK(found.batches == expected.batches);
      CHECK(found.work == pair.decode(gamma, simulation).work);
      CHECK(!found.partial);
    }
  }
}

}  // namespace

TEST_CASE("all orders, rules, gammas and numbers of lanes give the reference's outcome") {
  for (const auto& [target_order, draft_order] :
       {std::pair{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 0}, {2, 1}, {1, 3}}) {
    const TableModel target = random_table(5, target_order, 1);
    const TableModel draft = mixed(target, random_table(5, draft_order, 2), 0.6);
    check_pair(target, random_table(5, draft_order, 3), TokenRule{});
    check_pair(target, draft, TokenRule{});
    check_pair(target, draft, LenienceRule{0.6, Residual::literal});
    check_pair(target, draft, LenienceRule{0.3, Residual::target});
    check_pair(target, draft, GreedyRule{});
    check_pair(target, draft, GreedyLenienceRule{0.4});
    check_pair(target, draft, TypicalRule{});
    check_pair(target, draft, RejectionRule{});
    check_pair(target, draft, CascadeRule{0.3});
    check_pair(target, draft, SigmoidRule(-20, 5));
    check_pair(target, draft, Resampling{});
    CHECK(fast_unsupported_reason(Model(target), Model(draft), ResampleTargetFault{}));
  }
}

TEST_CASE("a larger vocabulary, equal models, point masses, and one token alone") {
  check_pair(random_table(100, 1, 4), random_table(100, 1, 5), TokenRule{});
  const TableModel one = random_table(7, 1, 6);
  check_pair(one, one, TokenRule{});
  check_pair(TableModel(3, 0, point_row(3, 1)), TableModel(3, 0, point_row(3, 2)), TokenRule{});
  check_pair(TableModel(3, 0, {0.5, 0.5, 0}), TableModel(3, 0, {0, 0.5, 0.5}), TokenRule{});
  check_pair(TableModel(1, 0, {1.0}), TableModel(1, 0, {1.0}), TokenRule{});
}

TEST_CASE("rows as low temperatures leave them") {
  Philox stream(63, Site{0, 0, Draw{Use::world, 0}});
  const auto cold_table = [&stream] {
    std::vector<double> all;
    for (const auto& row : cold_rows(stream, 4, 4)) all.insert(all.end(), row.begin(), row.end());
    return TableModel(4, 1, all);
  };
  for (int pair = 0; pair < 12; ++pair) {
    const TableModel target = cold_table();
    const TableModel draft = cold_table();
    check_pair(target, draft, TokenRule{});
    check_pair(target, draft, LenienceRule{0.6, Residual::literal});
    check_pair(target, draft, TypicalRule{});
    check_pair(target, draft, RejectionRule{});
    check_pair(target, draft, CascadeRule{0.37});
    check_pair(target, draft, SigmoidRule(-20, 5));
  }
}

TEST_CASE("a residual of one token in a million") {
  std::vector<double> p(64, (1 - 1e-6) / 63);
  p[63] = 1e-6;
  std::vector<double> q = p;
  q[63] = 0;
  q[0] += 1e-6;
  check_pair(TableModel(64, 0, p), TableModel(64, 0, q), TokenRule{});
}

TEST_CASE("a coin whose upper bits do not tell is decided by the rest") {
  // The draft has one token, accepted with a probability just above or below the very number that is drawn.
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    Philox block(seed, Site{0, 0, Draw{Use::draft, 0}});
    block();
    const double u = open_unit(block());
    for (const double kept : {u, std::nextafter(u, 1), u + 0x1p-40, u - 0x1p-40}) {
      const TableModel target(2, 0, {kept, 1 - kept});
      const TableModel draft(2, 0, {1, 0});
      const Model target_model(target);
      const Model draft_model(draft);
      SimulationSize simulation;
      simulation.seed = seed;
      simulation.trials = 1;
      simulation.length = 1;
      simulation.batches = 1;
      const Outcome found = FastPair(target_model, draft_model, AnyRule(TokenRule{})).decode(1, simulation);
      // Rows are normalised, which may change the last bit; the reference reads the same row.
      CHECK(found.batches == reference(target, draft, TokenRule{}, 1, simulation).batches);
      CHECK(found.total().accepted == (u < target.row(0)[0] ? 1 : 0));
    }
  }
}

TEST_CASE("the number of threads does not matter, nor how many trials there are") {
  const Model target(random_table(6, 1, 1));
  const Model draft(random_table(6, 1, 2));
  const FastPair pair(target, draft, AnyRule(TokenRule{}));
  for (const std::uint32_t trials : {1U, 3U, 1000U}) {
    SimulationSize simulation;
    simulation.trials = trials;
    simulation.length = 50;
    std::vector<Outcome> found;
    for (const std::size_t threads : {1U, 2U, 5U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      found.push_back(pair.decode(4, simulation));
    }
    CHECK(found[0].batches == found[1].batches);
    CHECK(found[0].batches == found[2].batches);
    CHECK(found[0].work == found[2].work);
    CHECK(found[0].total().rounds == simulation.total());
  }
}

TEST_CASE("what is asked to stop stops, with whole rounds") {
  const Model target(random_table(6, 0, 1));
  const FastPair pair(target, target, AnyRule(TokenRule{}));
  SimulationSize simulation;
  simulation.trials = 4;
  simulation.length = 4000000000;
  std::atomic<std::uint64_t> told{0};
  Control control;
  control.progress = [&](std::uint64_t rounds) { told += rounds; };
  control.stop = [&] { return told > 100000; };
  const Outcome found = pair.decode(3, simulation, control);
  CHECK(found.partial);
  CHECK(found.total().rounds == told);
  CHECK(found.total().overlap_contexts == found.total().emitted);
}

TEST_CASE(
    "as many trials as 32 bits count, shorter than the stretch between two looks: it runs, and stops when "
    "asked") {
  const Model target(random_table(6, 0, 1));
  const FastPair pair(target, target, AnyRule(TokenRule{}));
  for (const std::uint32_t trials : {4294967295U, 4000000000U}) {
    SimulationSize simulation;
    simulation.trials = trials;
    simulation.length = 1;
    std::atomic<std::uint64_t> told{0};
    Control control;
    control.progress = [&](std::uint64_t rounds) { told += rounds; };
    control.stop = [&] { return told > 1000; };
    const Outcome found = pair.decode(3, simulation, control);
    CHECK(found.partial);
    CHECK(found.total().rounds == told);
    CHECK(told < 100000);
  }
}

TEST_CASE("what has no fast form says why") {
  const Model table(random_table(4, 1, 1));
  CHECK(fast_unsupported_reason(table, table, AnyRule(ImportanceRule(2)))->find("more of a row") !=
        std::string::npos);
  CHECK(fast_unsupported_reason(table, Model(MixtureModel{table, table, 0.5}), AnyRule(TokenRule{}))
            ->find("stored rows") != std::string::npos);
  CHECK(fast_unsupported_reason(table, table, AnyRule(BlockPrefixFault{})));
  CHECK_FALSE(fast_unsupported_reason(table, table, AnyRule(GumbelRule{})));
  SimulationSize simulation;
  simulation.trials = 1;
  simulation.length = 31;
  CHECK(!fast_pays(table, table, simulation));
  simulation.length = 32;
  CHECK(fast_pays(table, table, simulation));
}
