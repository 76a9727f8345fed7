#include "sim/drafters/model_drafter.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sim/drafters/point_rows.hpp"
#include "sim/models/model.hpp"
#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<ModelDrafter<Model>>);
static_assert(RowDrafter<ModelDrafter<TableModel>>);

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
  ModelDrafter<Model>::Memory memory;
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
  CHECK(drafter.vocab() == 3);
}

TEST_CASE("no more than `length` tokens a round") {
  const TableModel cycle(3, 1, {0, 1, 0, 0, 0, 1, 1, 0, 0});
  CHECK(fresh_chain(ModelDrafter(cycle, 4), std::vector<Token>{0}) == std::vector<Token>{1, 2, 0, 1});
  CHECK(fresh_chain(ModelDrafter(cycle, 1), std::vector<Token>{1}) == std::vector<Token>{2});
  CHECK(fresh_chain(ModelDrafter(cycle), std::vector<Token>{1}).size() == 1000);
}
