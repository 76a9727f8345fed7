#include "sim/sequences.hpp"

#include "core/rules/faults.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <vector>

#include "sim/any_rule.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"

// tests/analysis/exact/losslessness_slow_test.cpp tests whether these sequences have the right distribution.

using namespace speclab;

namespace {

const TableModel target(6, 1, dirichlet_rows(6, 6, 0.7, 1));
const TableModel draft(6, 1, dirichlet_rows(6, 6, 0.7, 2));

SimulationSize prompted_simulation(std::uint32_t trials) {
  SimulationSize simulation;
  simulation.seed = 99;
  simulation.trials = trials;
  simulation.prompts = {{3}, {1, 5}};
  return simulation;
}

}  // namespace

TEST_CASE("records, joined, are the context: the sequence that decoding emits under the same seed") {
  constexpr std::size_t length = 400;
  for (const std::int32_t gamma : {0, 1, 4}) {
    const auto records = record_rounds(target, draft, TokenRule{}, gamma, {3}, length, 99);
    std::vector<Token> joined;
    for (const RoundRecord& record : records) {
      REQUIRE(record.drafted.size() == static_cast<std::size_t>(gamma));
      REQUIRE(record.accepted <= gamma);
      CHECK(record.corrected() == (record.accepted < gamma));
      CHECK(joined.size() < length);
      joined.insert(joined.end(), record.drafted.begin(), record.drafted.begin() + record.accepted);
      joined.push_back(record.next);
    }
    REQUIRE(joined.size() >= length);
    joined.resize(length);
    CHECK(joined == speculative_sequences(target, draft, TokenRule{}, gamma, prompted_simulation(1), length));
  }
}

TEST_CASE("a correction never repeats the rejected token, whose residual is zero") {
  int corrected = 0;
  for (const RoundRecord& record : record_rounds(target, draft, TokenRule{}, 3, {}, 2000, 4)) {
    if (!record.corrected()) continue;
    ++corrected;
    CHECK(record.next != record.drafted[static_cast<std::size_t>(record.accepted)]);
  }
  CHECK(corrected > 100);
  // The planted fault, which samples the target instead, does repeat the rejected token.
  int repeated = 0;
  for (const RoundRecord& record : record_rounds(target, draft, ResampleTargetFault{}, 3, {}, 2000, 4)) {
    if (record.corrected() && record.next == record.drafted[static_cast<std::size_t>(record.accepted)])
      ++repeated;
  }
  CHECK(repeated > 0);
}

TEST_CASE("sequences are addressed by trial: neither threads nor the number of trials change them") {
  const auto speculative = [&](std::uint32_t trials) {
    return speculative_sequences(target, draft, TokenRule{}, 3, prompted_simulation(trials), 5);
  };
  const auto plain = [&](std::uint32_t trials) {
    return plain_sequences(target, TokenRule{}, prompted_simulation(trials), 5);
  };
  const auto check = [](const auto& sequences) {
    std::vector<Token> alone;
    {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
      alone = sequences(501U);
    }
    CHECK(alone == sequences(501U));
    std::vector<Token> fewer = sequences(100U);
    alone.resize(fewer.size());
    CHECK(fewer == alone);
  };
  check(speculative);
  check(plain);
  // The samples are independent, although of one distribution: decoding without speculation uses another
  // stream.
  CHECK(speculative(50) != plain(50));
  CHECK(speculative_sequences(target, target, TokenRule{}, 0, prompted_simulation(50), 5) != plain(50));
}

TEST_CASE("sequences start after each trial's own prompt") {
  // Every token is followed by the next one.
  const TableModel cycle(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  SimulationSize simulation;
  simulation.trials = 2;
  simulation.prompts = {{0}, {0, 2}};
  const std::vector<Token> expected{1, 2, 0, 0, 1, 2};
  CHECK(plain_sequences(cycle, TokenRule{}, simulation, 3) == expected);
  CHECK(speculative_sequences(cycle, TableModel(3, 0, {1, 1, 1}), TokenRule{}, 4, simulation, 3) == expected);
}
