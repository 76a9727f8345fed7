#include "sim/drafters/aligned_copy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<AlignedCopy>);

namespace {

using Tokens = std::vector<Token>;

/// Computes by the definition the alignment after each output token, from the start, by plain search; -1
/// without one.
Tokens plainly(const Tokens& input, const Tokens& output, const AlignedCopyOptions& options) {
  const long size = std::ssize(input);
  long at = 0;
  bool aligned = true;
  for (long i = 0; i < std::ssize(output); ++i) {
    if (aligned && at < size && input[static_cast<std::size_t>(at)] == output[static_cast<std::size_t>(i)]) {
      ++at;
      continue;
    }
    aligned = false;
    if (i + 1 < options.match) continue;
    const auto last = output.begin() + i + 1;
    std::vector<long> places;
    for (long place = options.match; place <= size; ++place) {
      const auto here = input.begin() + place;
      if (std::equal(last - options.match, last, here - options.match)) places.push_back(place);
    }
    if (options.realign == Realign::nearest) {
      std::erase_if(places, [&](long place) { return place < at; });
    } else if (places.size() > 1) {
      places.clear();
    }
    if (places.empty()) continue;
    aligned = true;
    at = places.front();
  }
  if (!aligned) return {};
  const long rest = options.length > 0 ? std::min<long>(options.length, size - at) : size - at;
  return {input.begin() + at, input.begin() + at + rest};
}

Tokens joined(Tokens one, const Tokens& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// Returns the input with about one token in four left out, inserted or changed.
Tokens edited(const Tokens& input, std::uint64_t seed, std::uint64_t vocab) {
  Philox stream = world(seed);
  Tokens output;
  for (const Token token : input) {
    const std::uint64_t what = stream() % 12;
    const auto other = static_cast<Token>(stream() % vocab);
    if (what == 0) continue;
    if (what == 1) output.push_back(other);
    output.push_back(what == 2 ? other : token);
  }
  return output;
}

/// Returns the tokens drafted for this input after this output, which is read token by token.
Tokens chain_after(const AlignedCopy& drafter, const Tokens& input, const Tokens& output) {
  AlignedCopy::Memory memory;
  drafter.read(memory, input);
  Tokens context = input;
  for (const Token token : output) {
    context.push_back(token);
    drafter.read(memory, context);
  }
  return drafted_chain(drafter, memory, context);
}

}  // namespace

TEST_CASE("copies from the start, and again after a disagreement") {
  const AlignedCopy drafter(20, {1, 0, Realign::unique});
  const Tokens input{1, 2, 3, 4, 5, 6};
  CHECK(chain_after(drafter, input, {}) == input);
  CHECK(chain_after(drafter, input, {1, 2}) == Tokens{3, 4, 5, 6});
  CHECK(chain_after(drafter, input, {1, 2, 9}).empty());                // 9 is not in the input
  CHECK(chain_after(drafter, input, {1, 2, 9, 4}) == Tokens{5, 6});     // aligned again at 4
  CHECK(chain_after(drafter, input, {1, 2, 4}) == Tokens{5, 6});        // 3 is left out
  CHECK(chain_after(drafter, input, {1, 2, 9, 3}) == Tokens{4, 5, 6});  // 9 is inserted
  CHECK(chain_after(drafter, input, input).empty());
  CHECK(chain_after(drafter, input, joined(input, {2})) ==
        Tokens{3, 4, 5, 6});  // after the end, from 2 again
}

TEST_CASE("a token that stands twice: the unique place, or the nearest") {
  const Tokens input{7, 1, 2, 7, 3, 4, 7, 5};
  CHECK(chain_after(AlignedCopy(10, {1, 0, Realign::unique}), input, {7, 1, 9, 7}).empty());
  CHECK(chain_after(AlignedCopy(10, {1, 0, Realign::nearest}), input, {7, 1, 9, 7}) == Tokens{3, 4, 7, 5});
  CHECK(chain_after(AlignedCopy(10, {2, 0, Realign::unique}), input, {7, 1, 9, 4, 7}) == Tokens{5});
  // Both tokens only occur before the old alignment.
  CHECK(chain_after(AlignedCopy(10, {1, 0, Realign::nearest}), input, {7, 1, 2, 7, 2}).empty());
  CHECK(chain_after(AlignedCopy(10, {1, 0, Realign::unique}), input, {7, 1, 2, 7, 2}) ==
        Tokens{7, 3, 4, 7, 5});
}

TEST_CASE("agrees with the definition while outputs grow, and at once") {
  int drafted = 0;
  int empty = 0;
  for (const Realign realign : {Realign::unique, Realign::nearest}) {
    for (const std::int32_t match : {1, 2, 3, 50}) {
      for (const std::int32_t length : {0, 3}) {
        const AlignedCopyOptions options{match, length, realign};
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          const std::int32_t vocab = 1 + static_cast<std::int32_t>(seed % 10);
          const AlignedCopy drafter(vocab, options);
          const Tokens input = random_tokens(seed, 30, static_cast<std::uint64_t>(vocab));
          const Tokens output = edited(input, seed, static_cast<std::uint64_t>(vocab));
          AlignedCopy::Memory memory;
          drafter.read(memory, input);
          Philox growth = world(seed + 30);
          for (std::size_t size = 0; size <= output.size(); size += 1 + growth() % 4) {
            const Tokens so_far(output.begin(), output.begin() + static_cast<long>(size));
            const Tokens expected = plainly(input, so_far, options);
            drafter.read(memory, joined(input, so_far));
            CHECK(drafted_chain(drafter, memory, joined(input, so_far)) == expected);
            CHECK(chain_after(drafter, input, so_far) == expected);
            (expected.empty() ? empty : drafted) += 1;
          }
        }
      }
    }
  }
  CHECK(drafted > 500);
  CHECK(empty > 500);
}

TEST_CASE("the last tokens are the output's, not the prompt's") {
  const AlignedCopy drafter(10, {2, 0, Realign::unique});
  // (5 2) occurs in the input, but 5 is the prompt's last token.
  CHECK(chain_after(drafter, {1, 5, 2, 3, 5}, {2}).empty());
  CHECK(chain_after(drafter, {1, 5, 2, 3, 5}, {2, 3}) == Tokens{5});
}

TEST_CASE("copies of a memory go their own ways") {
  const AlignedCopy drafter(10, {1, 0, Realign::unique});
  const Tokens input{1, 2, 3, 4};
  AlignedCopy::Memory one;
  drafter.read(one, input);
  AlignedCopy::Memory other = one;
  drafter.read(one, joined(input, {1}));
  drafter.read(other, joined(input, {3}));
  CHECK(drafted_chain(drafter, one, joined(input, {1})) == Tokens{2, 3, 4});
  CHECK(drafted_chain(drafter, other, joined(input, {3})) == Tokens{4});
}

TEST_CASE("nothing to copy, one token") {
  const AlignedCopy drafter(1, {1, 0, Realign::unique});
  CHECK(chain_after(drafter, {}, {}).empty());
  CHECK(chain_after(drafter, {}, {0}).empty());
  CHECK(chain_after(drafter, {0}, {}) == Tokens{0});
  CHECK(chain_after(drafter, {0, 0, 0}, {0}) == Tokens{0, 0});
  CHECK(chain_after(drafter, {0, 0, 0}, {0, 0, 0, 0}).empty());  // 0 does not occur there once
  AlignedCopy::Memory unread;
  CHECK(drafted_chain(drafter, unread, Tokens{}).empty());
  CHECK(drafter.runs(0) == 0);
  CHECK(drafter.runs(9) == 1);
}
