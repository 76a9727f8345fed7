#include "sim/models/copy_drafter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/round/round.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(LanguageModel<CopyDrafter>);

namespace {
using Context = std::vector<Token>;

/// The definition, tried length by length and place by place.
Token plainly(const Context& context, std::size_t min_match, std::size_t max_match) {
  for (std::size_t length = std::min(max_match, context.size()); length >= min_match; --length) {
    for (std::size_t end = context.size() - 1; end >= length && end > 0; --end) {
      const auto last = context.begin() + static_cast<long>(end);
      if (std::equal(last - static_cast<long>(length), last, context.end() - static_cast<long>(length)))
        return *last;
    }
  }
  return no_token;
}
}  // namespace

TEST_CASE("copies what followed the longest match, most recent first") {
  const CopyDrafter draft(10);
  CHECK(draft.copied(Context{1, 2, 3, 9, 2, 4, 1, 2}) == 3);  // (1 2) beats the more recent (2)
  CHECK(draft.copied(Context{1, 2, 3, 1, 2, 4, 1, 2}) == 4);  // equal lengths: the recent one
  CHECK(draft.copied(Context{5, 5}) == 5);                    // an occurrence may overlap the suffix
  CHECK(draft.copied(Context{1, 2, 3}) == no_token);
  CHECK(draft.copied(Context{}) == no_token);
  CHECK(draft.copied(Context{1}) == no_token);
}

TEST_CASE("match lengths are limited on both sides") {
  const Context context{1, 2, 3, 7, 2, 3, 8, 1, 2, 3};
  CHECK(CopyDrafter(10, 1, 16).copied(context) == 7);
  CHECK(CopyDrafter(10, 1, 2).copied(context) == 8);  // (2 3) is long enough, and its recent occurrence wins
  CHECK(CopyDrafter(10, 3, 3).copied(context) == 7);
  CHECK(CopyDrafter(10, 4, 16).copied(context) == no_token);
}

TEST_CASE("rows: a point mass on the copied token, else uniform") {
  const CopyDrafter draft(4);
  std::vector<double> scratch;
  const Row copied = draft.next(Context{0, 3, 0}, scratch);
  CHECK(std::vector<double>(copied.probabilities, copied.probabilities + copied.size) ==
        std::vector<double>{0, 0, 0, 1});
  const Row uniform = draft.next(Context{0, 3}, scratch);
  CHECK(std::vector<double>(uniform.probabilities, uniform.probabilities + uniform.size) ==
        std::vector<double>(4, 0.25));
}

TEST_CASE("agrees with the definition on random contexts") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Context context = random_tokens(seed, 1 + seed % 40, 3);
    for (const std::size_t min_match : {1U, 2U, 4U}) {
      for (const std::size_t max_match : {4U, 16U}) {
        const CopyDrafter draft(3, static_cast<std::int32_t>(min_match),
                                static_cast<std::int32_t>(max_match));
        CHECK(draft.copied(context) == plainly(context, min_match, max_match));
      }
    }
  }
}
