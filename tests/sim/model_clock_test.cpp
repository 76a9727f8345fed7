#include "sim/model_clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/rules/token.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/models/synthetic.hpp"

using namespace speclab;

namespace {

/// Requests to prepare: first and length of the context.
using Asked = std::vector<std::pair<std::size_t, std::size_t>>;

/// A chain that computes rows together and records each request.
struct PreparingChain {
  TableModel table;
  std::shared_ptr<Asked> asked;

  std::int32_t vocab() const { return table.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    return table.next(context, scratch);
  }
  void prepare(std::span<const Token> context, std::size_t first) const {
    asked->emplace_back(first, context.size());
  }
  bool prepares() const { return true; }
};

TableModel chain(std::uint64_t seed) { return TableModel(4, 1, dirichlet_rows(4, 4, 0.7, seed)); }

}  // namespace

TEST_CASE("model clock: runs over 1, 2, ... new positions at every place") {
  const auto asked = std::make_shared<Asked>();
  const Model target = PreparingChain{chain(1), asked};
  const std::vector<std::vector<Token>> text{{0, 1, 2, 3, 0, 1, 2, 3, 0}};
  const std::vector<std::size_t> starts{4, 6};
  const RunSeconds runs = measure_runs(target, chain(2), text, starts, 3, ClockKind::processor);
  CHECK(runs.target.size() == 3);
  CHECK(runs.draft.size() == 2);
  // A run of the same length precedes the timed round.
  const Asked expected{{6, 6}, {7, 7}, {5, 6}, {7, 8}, {4, 6}, {7, 9},
                       {4, 4}, {5, 5}, {3, 4}, {5, 6}, {2, 4}, {5, 7}};
  CHECK(*asked == expected);
}

TEST_CASE("model clock: every gamma decodes the text in rounds of gamma + 1 positions") {
  const auto asked = std::make_shared<Asked>();
  const Model target = PreparingChain{chain(1), asked};
  const std::vector<std::int32_t> gammas{2, 4};
  const std::vector<std::vector<Token>> prompts{{0}, {1, 2}};
  std::uint64_t told = 0;
  const Control control{.progress = [&](std::uint64_t tokens) { told += tokens; }};
  const ClockedGammas found =
      clock_decoding(target, chain(2), TokenRule{}, gammas, prompts, 7, 30, 3, 1, ClockKind::wall, control);
  REQUIRE(found.plain.size() == 3);
  REQUIRE(found.gammas.size() == 2);
  CHECK(told == 3 * 3 * 30);
  std::uint64_t rounds = 0;
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    REQUIRE(found.gammas[i].size() == 3);
    for (const ClockedDecode& decode : found.gammas[i]) {
      CHECK(decode.tokens >= 30);
      CHECK(decode.tokens <= 30 + static_cast<std::uint64_t>(gammas[i]));
      CHECK(decode.seconds > 0);
      rounds += decode.rounds;
    }
  }
  CHECK(asked->size() == rounds);
  for (const auto& [first, length] : *asked) {
    CHECK((length - first == 2 || length - first == 4));
  }
  const Control stopped{.stop = [] { return true; }};
  CHECK(clock_decoding(target, chain(2), TokenRule{}, gammas, prompts, 7, 30, 3, 1, ClockKind::wall, stopped)
            .plain.empty());
}
