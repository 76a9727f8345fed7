#include "sim/drafters/model_drafter.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sim/drafters/any_drafter.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/models/model.hpp"
#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<ModelDrafter>);

TEST_CASE("point rows hold one 1, at the place of their token") {
  for (const std::int32_t vocab : {1, 2, 5, 1000}) {
    const PointRows rows(vocab);
    for (Token token = 0; token<vocab; token += vocab> 10 ? 37 : 1) {
      const Row row = rows[token];
      REQUIRE(row.size == vocab);
      for (Token id = 0; id < vocab; ++id) CHECK(row[id] == (id == token ? 1 : 0));
    }
  }
}

TEST_CASE("a model's own rows, run by run") {
  const Model model(TableModel(3, 1, {1, 2, 3, 4, 5, 6, 9, 8, 7}));
  const ModelDrafter drafter(model);
  ModelDrafter::Memory memory;
  std::vector<double> storage;
  std::vector<double> scratch;
  std::vector<Token> context;
  for (std::int32_t position = 0; position < 9; ++position) {
    drafter.read(memory, std::span(context).first(0));
    const Row row = drafter.propose(memory, context, position, storage);
    const Row expected = model.next(context, scratch);
    REQUIRE(row.size == 3);
    for (Token id = 0; id < 3; ++id) CHECK(row[id] == expected[id]);
    context.push_back(static_cast<Token>(position % 3));
    CHECK(drafter.runs(position) == position);
  }
}

namespace {

// 0 opens, then 1 must follow, and 1 again or 2.
const Grammar grammar{{.next = {{0, 1}}, .other = 0}, {.next = {{1, 2}}}, {.next = {{1, 2}, {2, 0}}}};
const TableModel table(3, 1, {5, 3, 2, 1, 6, 3, 2, 2, 6});

}  // namespace

TEST_CASE("a grammar drafts what it forces after the prompt, without a run, and nothing else") {
  const ModelDrafter drafter(3, grammar);
  CHECK(fresh_chain(drafter, std::vector<Token>{0}).empty());  // the prompt does not move the grammar
  ModelDrafter::Memory memory;
  drafter.read(memory, std::vector<Token>{0});
  CHECK(drafted_chain(drafter, memory, std::vector<Token>{0, 0}) == std::vector<Token>{1});
  CHECK(drafted_chain(drafter, memory, std::vector<Token>{0, 0, 1}).empty());
  CHECK(AnyDrafter(drafter).foretells_runs());
  CHECK(drafter.runs(3) == 0);
}

TEST_CASE("a model drafts its filtered rows where the grammar leaves a choice, and only these are runs") {
  const RequestLaw law{.grammar = grammar};
  const ModelDrafter drafter = ModelDrafter(table, law, grammar);
  CHECK(!AnyDrafter(drafter).foretells_runs());
  ModelDrafter::Memory memory;
  std::vector<double> storage;
  drafter.read(memory, {});
  const std::vector<Token> open{0, 1};
  const Row row = drafter.propose(memory, open, 2, storage);
  CHECK(row[0] == 0);  // forbidden; the others keep their ratio
  CHECK(row[1] == doctest::Approx(6.0 / 9));
  std::vector<Token> context{0};
  SampledRandomSource random = sampled_random_source(1, 0, 0);
  RoundScratch<double> scratch;
  Drafted done{0, 0};
  drafter.extend(memory, context, random, scratch, done);
  CHECK(context == std::vector<Token>{0, 1});
  CHECK(done.runs == 0);
  drafter.extend(memory, context, random, scratch, done);
  CHECK(done.count == 2);
  CHECK(done.runs == 1);
}
