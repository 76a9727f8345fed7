#include "sim/drafters/lookup.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<LookupDrafter>);

namespace {

using Tokens = std::vector<Token>;

/// Drafts by the definition, length by length and place by place.
Tokens plainly(const Tokens& context, const LookupOptions& options) {
  const long searched = std::ssize(context);
  for (long length = options.max_match; length >= options.min_match; --length) {
    if (length > std::ssize(context)) continue;
    long found = 0;
    for (long end = length; end < searched; ++end) {
      if (!std::equal(context.end() - length, context.end(), context.begin() + end - length)) continue;
      if (found == 0 || options.occurrence == Occurrence::last) found = end;
    }
    if (found == 0) continue;
    const long count = std::min<long>(options.length, searched - found);
    return {context.begin() + found, context.begin() + found + count};
  }
  return {};
}

std::vector<LookupOptions> many_options() {
  std::vector<LookupOptions> all;
  for (const auto& [shortest, longest] : {std::pair{1, 1}, {1, 3}, {2, 2}, {2, 5}, {4, 4}}) {
    for (const std::int32_t length : {0, 1, 4, 100}) {
      for (const Occurrence occurrence : {Occurrence::last, Occurrence::first}) {
        all.push_back({shortest, longest, length, occurrence});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("drafts what followed the longest match") {
  const LookupDrafter last(10);
  CHECK(fresh_chain(last, Tokens{1, 2, 3, 9, 2, 4, 1, 2}) == Tokens{3, 9, 2, 4, 1, 2});  // up to the end
  CHECK(fresh_chain(last, Tokens{1, 2, 3, 1, 2, 4, 1, 2}) == Tokens{4, 1, 2});           // the recent one
  CHECK(fresh_chain(last, Tokens{1, 2, 3}).empty());
  const LookupDrafter first(10, {1, 3, 2, Occurrence::first});
  CHECK(fresh_chain(first, Tokens{1, 2, 3, 1, 2, 4, 1, 2}) == Tokens{3, 1});
}

TEST_CASE("agrees with the definition while random texts grow, and at once") {
  for (const LookupOptions& options : many_options()) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::int32_t vocab = 1 + static_cast<std::int32_t>(seed % 4);
      const LookupDrafter drafter(vocab, options);
      const Tokens text = random_tokens(seed, 60, static_cast<std::uint64_t>(vocab));
      LookupDrafter::Memory memory;
      Philox growth = world(seed + 100);
      for (std::size_t size = growth() % 3; size <= text.size(); size += growth() % 5) {
        const Tokens settled(text.begin(), text.begin() + static_cast<long>(size));
        drafter.read(memory, settled);
        const Tokens expected = plainly(settled, options);
        CHECK(drafted_chain(drafter, memory, settled) == expected);
        CHECK(drafted_chain(drafter, memory, settled) == expected);  // the same round may be asked for again
        CHECK(fresh_chain(drafter, settled) == expected);
      }
    }
  }
}

TEST_CASE("the settled context alone decides, whatever was drafted") {
  const LookupDrafter drafter(10);
  const Tokens settled{1, 2, 3, 9, 2, 4, 1, 2};
  LookupDrafter::Memory memory;
  drafter.read(memory, settled);
  std::vector<double> storage;
  Tokens context = settled;
  CHECK(argmax(drafter.propose(memory, context, 0, storage)) == 3);
  context.push_back(7);
  CHECK(argmax(drafter.propose(memory, context, 1, storage)) == 9);
  const Row early = drafter.propose(memory, context, 1, storage);
  context.push_back(7);
  CHECK(argmax(drafter.propose(memory, context, 2, storage)) == 2);
  CHECK(argmax(early) == 9);  // rows of one round stay valid together
}

TEST_CASE("copies of a memory go their own ways") {
  const LookupDrafter drafter(10);
  const Tokens settled{1, 2, 3, 1};
  LookupDrafter::Memory one;
  drafter.read(one, settled);
  LookupDrafter::Memory other = one;
  const Tokens to_two{1, 2, 3, 1, 5, 1, 5, 6, 1, 5};
  const Tokens to_nine{1, 2, 3, 1, 2};
  drafter.read(other, to_two);
  drafter.read(one, to_nine);
  CHECK(drafted_chain(drafter, one, to_nine) == Tokens{3, 1, 2});
  CHECK(drafted_chain(drafter, other, to_two) == Tokens{6, 1, 5});
}

TEST_CASE("n-grams of one hash are told apart by their tokens") {
  const Tokens text = random_tokens(3, 200, 6);
  NgramPlaces places;
  std::vector<Tokens> seen;
  for (std::size_t end = 2; end <= text.size(); ++end) {
    const auto here = text.begin() + static_cast<long>(end);
    const Tokens ngram(here - 2, here);
    const bool known = std::find(seen.begin(), seen.end(), ngram) != seen.end();
    CHECK((places.find(7, ngram, text) != 0) == known);
    places.store(7, 2, end, Occurrence::last, text);
    CHECK(places.find(7, ngram, text) == end);
    seen.push_back(ngram);
  }
  CHECK(places.find(7, Tokens{6, 6}, text) == 0);
}

TEST_CASE("nothing to go by") {
  const LookupDrafter drafter(1);
  CHECK(fresh_chain(drafter, Tokens{}).empty());
  CHECK(fresh_chain(drafter, Tokens{0}).empty());
  CHECK(fresh_chain(drafter, Tokens{0, 0}) == Tokens{0});
  CHECK(fresh_chain(drafter, Tokens(50, 0)) == Tokens{0});  // the most recent match leaves one token to copy
  const LookupDrafter first(1, {1, 3, 10, Occurrence::first});
  CHECK(fresh_chain(first, Tokens(50, 0)) == Tokens(10, 0));
  LookupDrafter::Memory unread;
  CHECK(drafted_chain(drafter, unread, Tokens{}).empty());
  CHECK(drafter.runs(0) == 0);
  CHECK(drafter.runs(7) == 1);
}
