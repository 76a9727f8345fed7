#include "sim/fast/iid_decode.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>

#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

/// Decodes by the definition: round r of a trial is word r % 2 of block r / 2, and accepts the largest number
/// of tokens k <= gamma with word < alpha^k 2^64.
Outcome reference(double alpha, std::int32_t gamma, const SimulationSize& simulation) {
  Outcome outcome;
  outcome.batches.resize(simulation.batches);
  for (std::uint32_t trial = 0; trial < simulation.trials; ++trial) {
    for (std::uint32_t round = 0; round < simulation.length; ++round) {
      Philox words(simulation.seed, Site{trial, round / 2, Draw{Use::iid, 0}});
      std::uint64_t word = words();
      if (round % 2 == 1) word = words();
      std::int32_t kept = 0;
      for (double power = alpha; kept < gamma && static_cast<double>(word) < power * 0x1p64; power *= alpha)
        ++kept;
      const std::uint64_t at = std::uint64_t{trial} * simulation.length + round;
      Tally& tally = outcome.batches[simulation.independent_cut().batch_of(at)];
      tally.add_round(Round{gamma, gamma, std::min(kept + 1, gamma), kept, 0});
      for (std::int32_t i = 0; i <= kept; ++i) tally.add_overlap(alpha);
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("the outcome is the definition's, whatever the lengths, batches and threads") {
  for (const auto& [trials, length, batches] :
       {std::array<std::uint32_t, 3>{1, 1, 1}, {3, 1001, 7}, {64, 33, 64}, {2, 5000, 3}}) {
    for (const double alpha : {0.0, 0.3, 0.8, 1.0}) {
      for (const std::int32_t gamma : {0, 1, 5, 64}) {
        SimulationSize simulation;
        simulation.seed = 4;
        simulation.trials = trials;
        simulation.length = length;
        simulation.batches = batches;
        const Outcome found = decode_iid(alpha, gamma, simulation);
        CHECK(found.batches == reference(alpha, gamma, simulation).batches);
        const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
        CHECK(decode_iid(alpha, gamma, simulation).batches == found.batches);
      }
    }
  }
}

TEST_CASE("accepted lengths have the geometric distribution; 7 sigma, and a wrong alpha shows") {
  SimulationSize simulation;
  simulation.seed = test_seed(11);
  simulation.length = 40000;
  const Tally total = decode_iid(0.8, 5, simulation).total();
  const auto rounds = static_cast<double>(total.rounds);
  double at_least = rounds;
  for (std::size_t k = 0; k < 5; ++k) {
    at_least -= static_cast<double>(total.accepted_lengths[k]);
    CHECK(count_agrees(at_least, rounds, std::pow(0.8, static_cast<double>(k + 1))));
    // 2.56e6 rounds separate .8 from .803 at the first position with certainty: 12 sigma apart.
    if (k == 0) CHECK(!count_agrees(at_least, rounds, 0.803));
  }
}

TEST_CASE("it stops when asked") {
  SimulationSize simulation;
  simulation.length = 4000000000;
  std::atomic<std::uint64_t> told{0};
  Control control;
  control.progress = [&](std::uint64_t rounds) { told += rounds; };
  control.stop = [&] { return told > 5000000; };
  const Outcome found = decode_iid(0.5, 3, simulation, control);
  CHECK(found.partial);
  CHECK(found.total().rounds == told);
}

TEST_CASE("a run of 4e15 rounds stops without looking at those that are left") {
  SimulationSize simulation;
  simulation.trials = 4000000000;
  simulation.length = 1000000;
  std::atomic<std::uint64_t> told{0};
  std::atomic<std::uint64_t> asked{0};
  Control control;
  control.progress = [&](std::uint64_t rounds) { told += rounds; };
  control.stop = [&] { return ++asked > 3; };
  const Outcome found = decode_iid(0.5, 3, simulation, control);
  CHECK(found.partial);
  CHECK(found.total().rounds == told);
  CHECK(asked < 100);
}
