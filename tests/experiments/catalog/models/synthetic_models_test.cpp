// Tests model kinds whose rows are computed from a few numbers: zipf, dirichlet, uniform, point, markov.
#include <doctest/doctest.h>

#include "sim/models/synthetic.hpp"
#include "tests/experiments/catalog/models/built_model.hpp"

using namespace speclab;

namespace {

void check_row(const Model& model, std::size_t context, const std::vector<double>& expected) {
  REQUIRE(model.table() != nullptr);
  REQUIRE(static_cast<std::size_t>(model.vocab()) == expected.size());
  for (std::size_t id = 0; id < expected.size(); ++id) {
    CHECK(model.table()->row(context)[static_cast<Token>(id)] ==
          doctest::Approx(expected[id]).epsilon(1e-15));
  }
}

}  // namespace

TEST_CASE("parameters and their defaults are those of the rows") {
  check_row(built(R"({"kind": "zipf", "vocab": 5})"), 0, zipf_row(5, 1, false));
  check_row(built(R"({"kind": "zipf", "vocab": 5, "exponent": 2, "reversed": true})"), 0,
            zipf_row(5, 2, true));
  check_row(built(R"({"kind": "dirichlet", "vocab": 4})"), 0, dirichlet_rows(4, 1, 1, 1));
  check_row(built(R"({"kind": "dirichlet", "vocab": 4, "concentration": 0.2, "seed": 7})"), 0,
            dirichlet_rows(4, 1, 0.2, 7));
  check_row(built(R"({"kind": "uniform", "vocab": 4})"), 0, {0.25, 0.25, 0.25, 0.25});
  check_row(built(R"({"kind": "point", "vocab": 3})"), 0, {1, 0, 0});
  check_row(built(R"({"kind": "point", "vocab": 3, "token": 2})"), 0, {0, 0, 1});
  const Model chain = built(R"({"kind": "markov", "vocab": 3})");
  CHECK(chain.table()->order() == 1);
  const std::vector<double> rows = dirichlet_rows(3, 3, 0.3, 1);
  check_row(chain, 2, {rows[6], rows[7], rows[8]});
}

TEST_CASE("a draft without a vocabulary takes the target's; a target states its own") {
  const Model target = built(R"({"kind": "zipf", "vocab": 50})");
  for (const char* kind : {"zipf", "dirichlet", "uniform", "point"}) {
    const std::string json = R"({"kind": ")" + std::string(kind) + "\"}";
    CHECK(built(json, &target).vocab() == 50);
    CHECK(error_of(json) == "/model/vocab: missing; a target states its vocabulary size");
  }
  CHECK(error_of(R"({"kind": "markov"})").starts_with("/model/vocab: missing"));
  CHECK(error_of(R"({"kind": "point", "token": 50})", &target) ==
        "/model/token: 50 is outside the vocabulary of 50 tokens");
}

TEST_CASE("rows as written, exactly") {
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(written(R"({"kind": "uniform"})", 3) == Rows{{"1/3", "1/3", "1/3"}});
  CHECK(written(R"({"kind": "point", "token": 1})", 3) == Rows{{"0", "1", "0"}});
  CHECK(written(R"({"kind": "zipf"})", 3).empty());
}
