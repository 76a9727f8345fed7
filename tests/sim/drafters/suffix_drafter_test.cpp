#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/drafters/suffix_drafter.hpp"
#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<SuffixDrafter>);

namespace {

using Tokens = std::vector<Token>;

/// The tokens that followed a string: how often, and when last.
struct Followers {
  std::map<Token, int> counts;
  std::map<Token, std::size_t> last;
  int total = 0;

  Token best() const {
    Token best = no_token;
    for (const auto& [token, count] : counts) {
      if (best == no_token || count > counts.at(best) ||
          (count == counts.at(best) && last.at(token) > last.at(best))) {
        best = token;
      }
    }
    return best;
  }
};

Followers followers(const Tokens& text, const Tokens& string) {
  Followers found;
  for (std::size_t end = string.size(); end < text.size(); ++end) {
    if (!std::equal(string.rbegin(), string.rend(), text.rend() - static_cast<long>(end))) continue;
    ++found.counts[text[end]];
    ++found.total;
    found.last[text[end]] = end;
  }
  return found;
}

/// Returns the length of the longest suffix that also occurs earlier.
std::size_t longest_match(const Tokens& text) {
  for (std::size_t length = text.size(); length-- > 1;) {
    if (followers(text, Tokens(text.end() - static_cast<long>(length), text.end())).total > 0) return length;
  }
  return 0;
}

/// Checks every string of the text of up to `depth` tokens against its naive counts.
void check_counts(const SuffixAutomaton& automaton, const Tokens& text, std::size_t depth) {
  for (std::size_t begin = 0; begin <= text.size(); ++begin) {
    SuffixAutomaton::State state = SuffixAutomaton::root;
    for (std::size_t length = 0; length <= depth && begin + length <= text.size(); ++length) {
      const auto first = text.begin() + static_cast<long>(begin);
      const Tokens string(first, first + static_cast<long>(length));
      if (length > 0) {
        const SuffixAutomaton::Edge* const edge = automaton.edge(state, string.back());
        REQUIRE(edge != nullptr);
        state = edge->target;
      }
      const Followers expected = followers(text, string);
      CHECK(automaton.total(state) == expected.total);
      for (const auto& [token, count] : expected.counts) {
        REQUIRE(automaton.edge(state, token) != nullptr);
        CHECK(automaton.edge(state, token)->count == count);
      }
      const SuffixAutomaton::Edge* const best = automaton.best(state);
      CHECK((best == nullptr ? no_token : best->token) == expected.best());
    }
  }
}

/// The token at one position by the definition, which counts in the text again; no_token if nothing is
/// proposed. `drafted` are the tokens so far.
Token plainly(const Tokens& settled, const Tokens& drafted, const SuffixOptions& options) {
  const std::size_t match = std::min(longest_match(settled), static_cast<std::size_t>(options.max_match));
  if (match < static_cast<std::size_t>(options.min_match)) return no_token;
  const auto position = static_cast<std::int32_t>(drafted.size());
  if (position >= options.length) return no_token;
  if (position + 1 > options.factor * static_cast<double>(match)) return no_token;
  Tokens string(settled.end() - static_cast<long>(match), settled.end());
  double probability = 1;
  for (const Token token : drafted) {
    const Followers here = followers(settled, string);
    if (!here.counts.contains(token)) return no_token;
    probability *= static_cast<double>(here.counts.at(token)) / here.total;
    string.push_back(token);
  }
  const Followers here = followers(settled, string);
  if (here.total == 0) return no_token;
  const Token best = here.best();
  if (probability * (here.counts.at(best) / static_cast<double>(here.total)) < options.min_probability)
    return no_token;
  return best;
}

Tokens plain_chain(const Tokens& settled, const SuffixOptions& options) {
  Tokens drafted;
  for (;;) {
    const Token token = plainly(settled, drafted, options);
    if (token == no_token) return drafted;
    drafted.push_back(token);
  }
}

std::vector<SuffixOptions> many_suffix_options() {
  std::vector<SuffixOptions> all;
  for (const auto& [shortest, longest] : {std::pair{1, 1}, {1, 4}, {3, 3}, {2, 50}}) {
    for (const std::int32_t length : {1, 6, 20}) {
      for (const double factor : {0.5, 1.0, 4.0}) {
        for (const double probability : {0.0, 0.3, 1.0}) {
          all.push_back({shortest, longest, length, factor, probability});
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the automaton counts as naive search does, after every token") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Tokens text = random_tokens(seed, 40, 1 + seed % 4);
    for (const std::int32_t depth : {0, 1, 3, 7, 100}) {
      SuffixAutomaton automaton(depth);
      Tokens so_far;
      for (const Token token : text) {
        automaton.append(token);
        so_far.push_back(token);
        if (so_far.size() % 4 == 0) check_counts(automaton, so_far, static_cast<std::size_t>(depth));
        const SuffixAutomaton::Match match = automaton.match(depth);
        CHECK(static_cast<std::size_t>(match.length) ==
              std::min(longest_match(so_far), static_cast<std::size_t>(depth)));
      }
      CHECK(automaton.states() <= 2 * text.size());
      CHECK(automaton.edges() <= 3 * text.size());
    }
  }
}

TEST_CASE("a state may have as many edges as there are tokens, far apart") {
  Tokens text;
  for (Token token = 0; token < 500; ++token) text.insert(text.end(), {1, 500 * token + 7});
  SuffixAutomaton automaton(3);
  for (const Token token : text) automaton.append(token);
  const SuffixAutomaton::Edge* const one = automaton.edge(SuffixAutomaton::root, 1);
  REQUIRE(one != nullptr);
  CHECK(one->count == 500);
  CHECK(automaton.total(one->target) == 500);
  for (Token token = 0; token < 500; ++token) {
    const SuffixAutomaton::Edge* const edge = automaton.edge(one->target, 500 * token + 7);
    REQUIRE(edge != nullptr);
    CHECK(edge->count == 1);
  }
  CHECK(automaton.edge(one->target, 8) == nullptr);
}

TEST_CASE("suffixes longer than the depth are not followed: the cost of a token is bounded") {
  SuffixAutomaton automaton(3);
  for (int i = 0; i < 100; ++i) automaton.append(0);
  SuffixAutomaton::State state = SuffixAutomaton::root;
  for (int length = 0; length <= 50; ++length) {
    CHECK(automaton.total(state) == (length <= 3 ? 100 - length : 0));
    state = automaton.edge(state, 0)->target;
  }
}

TEST_CASE("drafts the most frequent continuation") {
  // After (1 2) come 3 twice and 4 once; after (1 2 3) come 5 once, and 6 once and last.
  const Tokens text{1, 2, 3, 5, 1, 2, 4, 1, 2, 3, 6, 1, 2};
  SuffixOptions options;
  options.factor = 2;
  options.min_probability = 0.5;
  CHECK(fresh_chain(SuffixDrafter(10, options), text) == Tokens{3});
  options.min_probability = 0.3;
  CHECK(fresh_chain(SuffixDrafter(10, options), text) == Tokens{3, 6, 1, 2});
  options.factor = 1;
  CHECK(fresh_chain(SuffixDrafter(10, options), text) == Tokens{3, 6});
  options.length = 1;
  CHECK(fresh_chain(SuffixDrafter(10, options), text) == Tokens{3});
  options.min_match = 3;
  CHECK(fresh_chain(SuffixDrafter(10, options), text).empty());
}

TEST_CASE("agrees with the definition while random texts grow, and at once") {
  for (const SuffixOptions& options : many_suffix_options()) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::int32_t vocab = 1 + static_cast<std::int32_t>(seed);
      const SuffixDrafter drafter(vocab, options);
      const Tokens text = random_tokens(seed, 40, static_cast<std::uint64_t>(vocab));
      SuffixDrafter::Memory memory;
      Philox growth = world(seed + 100);
      for (std::size_t size = 0; size <= text.size(); size += 1 + growth() % 6) {
        const Tokens settled(text.begin(), text.begin() + static_cast<long>(size));
        drafter.read(memory, settled);
        const Tokens expected = plain_chain(settled, options);
        CHECK(drafted_chain(drafter, memory, settled) == expected);
        CHECK(drafted_chain(drafter, memory, settled) == expected);
        CHECK(fresh_chain(drafter, settled) == expected);
      }
    }
  }
}

TEST_CASE("copies of a memory go their own ways") {
  const SuffixDrafter drafter(10);
  SuffixDrafter::Memory one;
  drafter.read(one, Tokens{1, 2, 3, 1});
  SuffixDrafter::Memory other = one;
  const Tokens to_six{1, 2, 3, 1, 5, 1, 5, 6, 1, 5, 6, 1, 5};
  const Tokens to_three{1, 2, 3, 1, 2};
  drafter.read(other, to_six);
  drafter.read(one, to_three);
  CHECK(drafted_chain(drafter, one, to_three) == plain_chain(to_three, {}));
  CHECK(drafted_chain(drafter, other, to_six) == plain_chain(to_six, {}));
  CHECK(drafted_chain(drafter, one, to_three) == Tokens{3, 1, 2});
  CHECK(drafted_chain(drafter, other, to_six).front() == 6);
}

TEST_CASE("nothing to go by, and nothing else than one token") {
  const SuffixDrafter drafter(1);
  CHECK(fresh_chain(drafter, Tokens{}).empty());
  CHECK(fresh_chain(drafter, Tokens{0}).empty());
  CHECK(fresh_chain(drafter, Tokens{0, 0}) == Tokens{0});
  // The last 24 tokens and the drafted ones occur in a text of 500.
  CHECK(fresh_chain(drafter, Tokens(500, 0)) == Tokens(10, 0));
  SuffixDrafter::Memory unread;
  CHECK(drafted_chain(drafter, unread, Tokens{}).empty());
  CHECK(drafter.runs(0) == 0);
  CHECK(drafter.runs(7) == 1);
}
