#include "sim/simulation_size.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace speclab;

namespace {

SimulationSize size_of(std::uint32_t trials, std::uint32_t length, std::uint32_t batches) {
  SimulationSize simulation;
  simulation.trials = trials;
  simulation.length = length;
  simulation.batches = batches;
  return simulation;
}

}  // namespace

TEST_CASE("few trials: batches are stretches of (trial, round), none empty, sizes within one of each other") {
  for (const std::uint32_t trials : {1U, 3U, 7U}) {
    for (const std::uint32_t length : {1U, 2U, 13U, 65U, 1000U}) {
      for (const std::uint32_t batches : {1U, 2U, 32U, 64U, 100U}) {
        CAPTURE(trials);
        CAPTURE(length);
        CAPTURE(batches);
        const SimulationSize simulation = size_of(trials, length, batches);
        std::vector<std::uint64_t> sizes(std::min<std::uint64_t>(batches, simulation.total()));
        std::uint32_t last = 0;
        bool ordered = true;
        for (std::uint32_t trial = 0; trial < trials; ++trial) {
          for (std::uint32_t round = 0; round < length; ++round) {
            const std::uint32_t batch = simulation.batch_of(trial, round);
            ordered = ordered && (batch == last || batch == last + 1) && batch < sizes.size();
            last = batch;
            if (batch < sizes.size()) ++sizes[batch];
          }
        }
        CHECK(ordered);
        const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
        CHECK(*least >= 1);
        CHECK(*most - *least <= 1);
      }
    }
  }
}

TEST_CASE("trials enough: batches are whole trials, none empty, sizes within one trial of each other") {
  for (const std::uint32_t trials : {8U, 9U, 63U, 64U, 100U, 200U}) {
    for (const std::uint32_t batches : {1U, 2U, 7U, 64U, 4096U}) {
      CAPTURE(trials);
      CAPTURE(batches);
      const SimulationSize simulation = size_of(trials, 13, batches);
      std::vector<std::uint32_t> sizes(std::min(batches, trials));
      REQUIRE(simulation.cut().count() == sizes.size());
      std::uint32_t last = 0;
      for (std::uint32_t trial = 0; trial < trials; ++trial) {
        const std::uint32_t batch = simulation.batch_of(trial, 0);
        CHECK(simulation.batch_of(trial, 12) == batch);
        CHECK((batch == last || batch == last + 1));
        last = batch;
        ++sizes.at(batch);
      }
      for (std::uint32_t batch = 0; batch < sizes.size(); ++batch) {
        CHECK(simulation.batch_end(batch) - simulation.cut().begin(batch) == sizes[batch] * 13U);
      }
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      CHECK(*least >= 1);
      CHECK(*most - *least <= 1);
    }
  }
}

TEST_CASE("the largest plan does not overflow") {
  const SimulationSize simulation = size_of(~0U, ~0U, 64);
  CHECK(simulation.batch_of(0, 0) == 0);
  CHECK(simulation.batch_of(~0U - 1, ~0U - 1) == 63);
}

TEST_CASE("trials take turns at the prompts") {
  SimulationSize simulation;
  simulation.prompts = {{1}, {2, 3}};
  CHECK(simulation.prompt(0) == std::vector<Token>{1});
  CHECK(simulation.prompt(5) == std::vector<Token>{2, 3});
  CHECK(SimulationSize{}.prompt(9).empty());
}

TEST_CASE("a writer hands each tally to its batch, also across trials") {
  const SimulationSize simulation = size_of(4, 5, 3);  // too few trials to stay whole
  Outcome outcome;
  outcome.batches.resize(3);
  std::mutex mutex;
  for (const std::uint32_t trial : {2U, 0U, 3U, 1U}) {
    BatchWriter writer(simulation, outcome, mutex);
    for (std::uint32_t round = 0; round < 5; ++round) writer.at(trial, round).add_round(Round{1, 1, 1, 0, 0});
  }
  CHECK(outcome.batches[0].rounds == 7);
  CHECK(outcome.batches[1].rounds == 7);
  CHECK(outcome.batches[2].rounds == 6);
  CHECK(outcome.total().rounds == 20);
}
