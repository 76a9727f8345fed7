#include "experiments/verify/prove/row_proofs.hpp"
#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/recording_file.hpp"
#include "experiments/run/setup.hpp"
#include "tests/experiments/rule_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

constexpr double no_limit = 1e7;

TopRow top_row(std::vector<std::int64_t> ids, const std::vector<double>& probabilities) {
  TopRow row{std::move(ids), {}, 0};
  for (const double one : probabilities) row.logp.push_back(std::log(one));
  return row;
}

/// Returns two rows, each with a token that the other lacks.
TopRows two_rows() { return {"rows:1", top_row({7, 40, 3}, {0.5, 0.2, 0.1}), top_row({40, 9}, {0.6, 0.3})}; }

/// Returns a recording of a chain over five tokens, with the three largest probabilities of each row.
std::string recorded_rows(const TempFile& file) {
  const Config config = read_config(Json{{"title", "t"},
                                         {"models",
                                          {{"target", {{"kind", "dirichlet"}, {"vocab", 5}}},
                                           {"draft", {{"kind", "dirichlet"}, {"vocab", 5}, {"seed", 4}}}}},
                                         {"simulation", {{"trials", 4}, {"length", 6}}}});
  const Setup setup = build_setup(config);
  write_top_rows(setup, record_pair(setup, 6), file.path(), 3);
  return file.path().string();
}

}  // namespace

TEST_CASE("row proofs: one step on rows that were cut, exactly") {
  const ProofTask task = row_task(two_rows(), rule_named("token"));
  REQUIRE(task.target.front().size() == 4);
  Rational total(0);
  for (const Rational& one : task.target.front()) total += one;
  CHECK(total == 1);
  // Tokens 7, 40, 3, 9: p = (5, 2, 1, 0) / 8, q = (0, 2, 0, 1) / 3, so that 40 is accepted with probability
  // 1/4.
  const RowProofs token =
      prove_rows({two_rows(), two_rows()}, rule_named("token"), Arithmetic::rational, no_limit);
  CHECK(token.contexts == 2);
  CHECK(token.lossless == 2);
  CHECK(token.candidates == 4);
  CHECK(token.largest_tv == 0);
  CHECK(token.mean_acceptance == doctest::Approx(0.25));
  CHECK(*token.mean_bound == doctest::Approx(0.25));
  CHECK_FALSE(token.counterexample.has_value());
  const RowProofs lenient = prove_rows({two_rows()}, rule_from(Json{{"kind", "lenient"}, {"lenience", 0.5}}),
                                       Arithmetic::rational, no_limit);
  CHECK(lenient.lossless == 0);
  CHECK(lenient.mean_acceptance == doctest::Approx(0.5));
  // What it accepts more than token verification is the total variation that it pays.
  CHECK(lenient.largest_tv == doctest::Approx(0.25));
  CHECK(lenient.mean_tv == doctest::Approx(0.25));
  REQUIRE(lenient.counterexample.has_value());
  CHECK(lenient.counterexample->starts_with("rows:1: "));
}

TEST_CASE("row proofs: largest probabilities are written, read again, and are those of the rows") {
  const TempFile file("");
  const std::string name = recorded_rows(file);
  const std::vector<TopRows> rows = read_top_rows(name);
  CHECK(rows.size() == 24);
  for (const TopRows& context : rows) {
    for (const TopRow* row : {&context.target, &context.draft}) {
      REQUIRE(row->ids.size() == 3);
      double kept = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        kept += std::exp(row->logp[i]);
        if (i > 0) CHECK(row->logp[i] <= row->logp[i - 1]);
      }
      CHECK(kept + row->tail == doctest::Approx(1).epsilon(1e-5));
    }
  }
  // The file can be read as any other recording.
  const Recording recording = read_recording(name).recording;
  CHECK(recording.size() == 24);
  CHECK(recording.entropy.size() == 24);
  const RowProofs proofs = prove_rows(rows, rule_named("block"), Arithmetic::rational, no_limit);
  CHECK(proofs.lossless == 24);
}

TEST_CASE("row proofs: files without rows, and rows that are too many to follow, are errors") {
  const TempFile columns("{\"sequence\": 0, \"position\": 0, \"token\": 1, \"logp\": -1, \"logq\": -1}\n");
  CHECK_THROWS_WITH_AS(read_top_rows(columns.path().string()), doctest::Contains(":1: /target: missing"),
                       UsageError);
  const TempFile twice(R"({"target": {"ids": [1, 1], "logp": [-1, -1], "tail": 0}, "draft": {}})");
  CHECK_THROWS_WITH_AS(read_top_rows(twice.path().string()),
                       doctest::Contains("an id that has not come before"), UsageError);
  const TempFile positive(R"({"target": {"ids": [1], "logp": [1], "tail": 0}, "draft": {}})");
  CHECK_THROWS_WITH_AS(read_top_rows(positive.path().string()), doctest::Contains("natural logarithm"),
                       UsageError);
  for (const char* row : {R"("logp": [-0.1, -0.1], "tail": 0)", R"("logp": [-0.7, -0.7], "tail": -0.01)",
                          R"("logp": [-1, -1], "tail": 0.9)"}) {
    const TempFile sum(fmt::format(R"({{"target": {{"ids": [1, 2], {}}}, "draft": {{}}}})", row));
    CHECK_THROWS_WITH_AS(read_top_rows(sum.path().string()), doctest::Contains("that sum to 1 with the tail"),
                         UsageError);
  }
  const TempFile csv("sequence,token\n0,1\n");
  CHECK_THROWS_WITH_AS(read_top_rows(csv.path().string()), doctest::Contains("speclab record --top-k"),
                       UsageError);
  CHECK_THROWS_WITH_AS(prove_rows({two_rows()}, rule_named("token"), Arithmetic::rational, 2),
                       doctest::Contains("smaller --top-k"), UsageError);
}
