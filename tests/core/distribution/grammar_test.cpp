#include "core/distribution/grammar.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

struct GrammarDice {
  Philox stream;
  explicit GrammarDice(std::uint32_t number) : stream(2026, Site{number, 0, Draw{Use::world, 8}}) {}
  int below(int n) { return static_cast<int>(open_unit(stream()) * n); }
};

}  // namespace

// A text of up to 40 tokens decides every fault of 3 states and at most 4 tokens before "min_tokens".
TEST_CASE("states that cannot be meant are those that a walk over texts finds") {
  const auto walked = [](const Grammar& grammar, int min_tokens, const auto& may) {
    std::vector<std::vector<bool>> at{{true, false, false}};
    std::vector<GrammarFault> faults;
    std::vector<int> only(3, 3);  // the state after the only token; 3 if there are several
    for (int count = 0; count < 40; ++count) {
      at.emplace_back(3, false);
      for (std::size_t state = 0; state < 3; ++state) {
        if (!at[at.size() - 2][state]) continue;
        int allowed = 0;
        int after = 3;
        for (Token token = 0; token < 4; ++token) {
          const auto to = grammar[state].after(token);
          if (!to || !may(token, count < min_tokens)) continue;
          ++allowed;
          at.back()[static_cast<std::size_t>(*to)] = true;
          after = *to;
        }
        if (allowed == 0) faults.push_back({state, false});
        if (count >= min_tokens) only[state] = allowed == 1 ? after : 3;
      }
    }
    for (std::size_t state = 0; state < 3; ++state) {
      if (!at[39][state]) continue;
      int now = static_cast<int>(state);
      for (int steps = 0; steps < 9 && now < 3; ++steps) now = only[static_cast<std::size_t>(now)];
      if (now < 3) faults.push_back({static_cast<std::size_t>(now), true});
    }
    return faults;
  };
  int dead = 0;
  int endless = 0;
  int sound = 0;
  int only_later = 0;
  for (std::uint32_t number = 0; number < 4000; ++number) {
    CAPTURE(number);
    GrammarDice dice(number);
    Grammar grammar(3);
    for (GrammarState& state : grammar) {
      for (int arcs = 1 + dice.below(2); arcs > 0; --arcs) state.next[dice.below(4)] = dice.below(3);
      if (dice.below(5) == 0) state.other = dice.below(3);
    }
    const int min_tokens = dice.below(5);
    const auto may = [&](Token token, bool early) { return token != 1 && !(early && token == 2); };
    const auto found = grammar_fault(grammar, 4, static_cast<std::size_t>(min_tokens), may);
    const std::vector<GrammarFault> expected = walked(grammar, min_tokens, may);
    REQUIRE(found.has_value() == !expected.empty());
    if (!found) {
      ++sound;
      continue;
    }
    const bool any_dead =
        std::any_of(expected.begin(), expected.end(), [](auto& one) { return !one.endless; });
    CHECK(found->endless == !any_dead);
    CHECK(std::any_of(expected.begin(), expected.end(), [&](const GrammarFault& one) {
      return one.endless == found->endless && (one.state == found->state || one.endless);
    }));
    ++(found->endless ? endless : dead);
    // The planted fault: tokens that are refused early are taken for refused for ever.
    const auto early =
        grammar_fault(grammar, 4, 0, [&](Token token, bool) { return may(token, min_tokens > 0); });
    if (found && !found->endless && !early) ++only_later;
  }
  CHECK(dead > 200);
  CHECK(endless > 200);
  CHECK(sound > 200);
  CHECK(only_later > 0);
}

TEST_CASE("a walk through a grammar gives the states that each text has by itself") {
  GrammarDice dice(5);
  const Grammar grammar{
      {.next = {{0, 1}}, .other = 2}, {.next = {{1, 0}, {2, 2}}}, {.next = {{3, 0}}, .other = 1}};
  GrammarWalk walk;
  std::vector<Token> text;
  for (int step = 0; step < 2000; ++step) {
    text.resize(text.size() - static_cast<std::size_t>(
                                  dice.below(static_cast<int>(std::min<std::size_t>(text.size(), 4)) + 1)));
    for (int more = dice.below(6); more > 0; --more) text.push_back(dice.below(5));
    if (step % 40 == 39)
      text[static_cast<std::size_t>(dice.below(static_cast<int>(text.size())))] = dice.below(5);
    CHECK(&walk.after(grammar, text) == &state_after(grammar, text));
  }
  CHECK(text.size() > 500);
}
