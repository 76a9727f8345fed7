#include <doctest/doctest.h>

#include "core/distribution/divergence.hpp"
#include "tests/experiments/catalog/models/built_model.hpp"

using namespace speclab;

namespace {

const std::string skewed_rows = R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]]})";
const std::string uniform = R"({"kind": "uniform"})";

std::string mixture(const std::string& rest) {
  return R"({"kind": "mixture", "other": )" + uniform + rest + "}";
}

}  // namespace

TEST_CASE("by epsilon") {
  const Model target = built(skewed_rows);
  const Model draft = built(mixture(R"(, "epsilon": 0.5)"), &target);
  CHECK(probability(draft, 0) == doctest::Approx(0.5 * 0.5 + 0.5 / 3).epsilon(1e-12));
  CHECK(probability(built(mixture(R"(, "epsilon": 0.5, "base": )" + skewed_rows)), 0) ==
        probability(draft, 0));
}

TEST_CASE("a mixture asked for an alpha has it, in every context") {
  const Model target = built(R"({"kind": "markov", "vocab": 12, "seed": 3})");
  for (const double alpha : {0.7, 0.75, 0.999, 1.0}) {
    const Model draft = built(mixture(", \"alpha\": " + std::to_string(alpha)), &target);
    REQUIRE(draft.table() != nullptr);
    for (std::size_t context = 0; context < 12; ++context) {
      CHECK(overlap(target.table()->row(context), draft.table()->row(context)) ==
            doctest::Approx(alpha).epsilon(1e-12));
    }
  }
}

TEST_CASE("a part's sampling options, which nothing reads, are refused") {
  const Model target = built(skewed_rows);
  const std::string hot = R"({"kind": "uniform", "sampling": {"temperature": 0}})";
  for (const std::string& model :
       {R"({"kind": "mixture", "epsilon": 0.5, "other": )" + hot + "}",
        mixture(R"(, "epsilon": 0.5, "base": )" + hot), R"({"kind": "cached", "base": )" + hot + "}"}) {
    CHECK(config_error_of([&] { built(model, &target); }).find("/sampling: only the whole model") !=
          std::string::npos);
  }
}

TEST_CASE("mixtures that do not fit together") {
  const Model target = built(skewed_rows);
  const std::string unreachable = error_of(mixture(R"(, "alpha": 0.5)"), &target);
  CHECK(unreachable.starts_with("/model/alpha: alpha = 0.5 cannot be reached"));
  CHECK(unreachable.find("0.833333") != std::string::npos);
  CHECK(error_of(mixture(""), &target) == "/model: a mixture needs either \"epsilon\" or \"alpha\"");
  CHECK(error_of(mixture(R"(, "epsilon": 0.1, "alpha": 0.9)"), &target).starts_with("/model: "));
  CHECK(error_of(mixture(R"(, "epsilon": 0.1)")).starts_with("/model/base: "));
  CHECK(error_of(mixture(R"(, "base": "draft", "epsilon": 0.1)")).starts_with("/model/base: "));
  CHECK(error_of(R"({"kind": "mixture", "epsilon": 0.1, "other": {"kind": "uniform", "vocab": 4}})",
                 &target) == "/model/other: has a vocabulary of 4; its base has 3");
  CHECK(error_of(
            R"({"kind": "mixture", "alpha": 0.9, "other": {"kind": "cached", "base": {"kind": "uniform"}}})",
            &target)
            .starts_with("/model/alpha: needs stored rows"));
  CHECK(error_of(R"({"kind": "mixture", "epsilon": 0.1, "other": {"kind": "point", "token": 3}})", &target)
            .starts_with("/model/other/token: "));
}

TEST_CASE("written and read again, the base stays what it was") {
  for (const std::string& json :
       {mixture(R"(, "epsilon": 0.5)"), mixture(R"(, "alpha": 1, "base": )" + skewed_rows)}) {
    const ModelConfig config = model_config(json);
    Json again;
    write(kind_of(model_family()), config, again);
    Json twice;
    write(kind_of(model_family()), read(kind_of(model_family()), again, "/model"), twice);
    CHECK(again == twice);
    CHECK((again.at("base") == "target") == (json.find("base") == std::string::npos));
  }
}

TEST_CASE("rows as written, exactly") {
  using Rows = std::vector<std::vector<std::string>>;
  const ExactRows target{{Rational(1), Rational(0)}};
  CHECK(written(mixture(R"(, "epsilon": 0.1)"), 2, target) == Rows{{"19/20", "1/20"}});
  CHECK(written(mixture(R"(, "epsilon": 0.1)"), 2).empty());
  CHECK(written(mixture(R"(, "alpha": 0.9)"), 2, target).empty());
  CHECK(written(mixture(R"(, "epsilon": 0.5, "base": {"kind": "point"})"), 2) == Rows{{"3/4", "1/4"}});
  CHECK(written(mixture(R"(, "epsilon": 0.5, "base": {"kind": "zipf"})"), 2).empty());
}

TEST_CASE("the files of a mixture's base are among a config's input files, as those of the model mixed in") {
  const ModelConfig model = model_config(
      R"({"kind": "mixture", "base": {"kind": "table", "file": "base.csv"},
          "other": {"kind": "table", "file": "other.csv"}, "epsilon": 0.1})");
  std::vector<std::string> files;
  kind_of(model_family()).type->add_input_files(&model, files);
  CHECK(files == std::vector<std::string>{"base.csv", "other.csv"});
}
