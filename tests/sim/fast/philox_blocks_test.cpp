#include "sim/fast/philox_blocks.hpp"

#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <set>
#include <string>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

/// Calls body() with each instruction set that this processor has, and ends with the best.
template <class Body>
std::set<std::string> on_each_instruction_set(const Body& body) {
  std::set<std::string> seen;
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  };
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    choose(rest & -rest);
    seen.insert(instruction_set());
    body();
  }
  choose(0);
  return seen;
}

}  // namespace

TEST_CASE("blocks have the bits of Philox at their sites, on every instruction set") {
  const auto check = [] {
    for (const std::size_t width : {philox_batch, 2 * philox_batch, 7 * philox_batch}) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0xfedcba9876543210}}) {
        Philox stream(seed, Site{1, 2, Draw{Use::world, 3}});
        std::vector<std::uint32_t> counters(4 * width);
        std::vector<Site> sites;
        for (std::size_t i = 0; i < width; ++i) {
          const auto word = [&] { return static_cast<std::uint32_t>(stream()); };
          const Site site{word(), word(),
                          Draw{static_cast<Use>(word() % 7), static_cast<std::uint16_t>(word()), word()}};
          counters[i] = site.draw.attempt;
          counters[width + i] = (static_cast<std::uint32_t>(site.draw.use) << 16U) | site.draw.slot;
          counters[2 * width + i] = site.round;
          counters[3 * width + i] = site.trial;
          sites.push_back(site);
        }
        std::vector<std::uint32_t> words(4 * width);
        philox_blocks(seed, counters.data(), words.data(), width);
        for (std::size_t i = 0; i < width; ++i) {
          Philox expected(seed, sites[i]);
          REQUIRE(((std::uint64_t{words[width + i]} << 32U) | words[i]) == expected());
          REQUIRE(((std::uint64_t{words[3 * width + i]} << 32U) | words[2 * width + i]) == expected());
        }
      }
    }
  };
  const std::set<std::string> seen = on_each_instruction_set(check);
  CHECK(!seen.empty());
  std::string names;
  for (const std::string& name : seen) names += name + " ";
  MESSAGE("instruction sets: ", names);
}

TEST_CASE("words below a threshold are counted alike on every instruction set") {
  Philox stream(2, Site{0, 0, Draw{Use::world, 0}});
  std::vector<std::uint64_t> words(10 * philox_batch);
  for (std::uint64_t& word : words) word = stream();
  words[3] = 0;
  words[5] = words[6] = ~std::uint64_t{0};
  on_each_instruction_set([&] {
    for (const std::uint64_t threshold : {std::uint64_t{0}, std::uint64_t{1}, words[7], words[7] + 1,
                                          std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
      std::uint64_t below = 0;
      for (const std::uint64_t word : words) below += static_cast<std::uint64_t>(word < threshold);
      CHECK(count_below(words.data(), words.size(), threshold) == below);
    }
  });
}
