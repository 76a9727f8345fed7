// Tests time measurements of neural models, on models with random weights.
#include "experiments/studies/walltime/clocked_models.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/models/tiny_llama.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

const bool without_clocked = !has_libllama();

struct Pair {
  TempFile target{TinyLlama(31).gguf()};
  TempFile draft{TinyLlama(31).gguf()};

  Json config() const {
    return {{"title", "t"},
            {"experiment", "walltime"},
            {"models",
             {{"target", {{"kind", "gguf"}, {"file", target.path().string()}}},
              {"draft", {{"kind", "gguf"}, {"file", draft.path().string()}}}}},
            {"simulation", {{"trials", 8}, {"prompt", "the"}}},
            {"walltime", {{"gammas", {1, 3}}, {"tokens", 24}, {"repeats", 7}, {"clock", "processor"}}}};
  }
};

}  // namespace

TEST_CASE("walltime of neural models: three predictions and the clock for every gamma" *
          doctest::skip(without_clocked)) {
  const Pair files;
  const RunResult run = run_of(files.config());
  const std::vector<ClockedGamma>& rows = run.timings.own.as<WalltimeTimings>().clocked;
  REQUIRE(rows.size() == 2);
  for (const ClockedGamma& row : rows) {
    // Draft and target are one model: every token is accepted.
    CHECK(row.alpha == doctest::Approx(1));
    CHECK(row.expected_tokens == doctest::Approx(row.gamma + 1));
    CHECK(row.tokens_per_target_step == doctest::Approx(row.gamma + 1));
    CHECK(row.printed_speedup == doctest::Approx(speedup(row.alpha, row.gamma, row.c)));
    CHECK(row.corrected_speedup ==
          doctest::Approx((row.gamma + 1) / (row.gamma * row.c + row.verify_cost)).epsilon(1e-6));
    CHECK(row.played_speedup == doctest::Approx(row.predicted_speedup));
    CHECK(row.predicted_low <= row.predicted_speedup);
    CHECK(row.predicted_speedup <= row.predicted_high);
    CHECK(row.speedup_low <= row.speedup);
    CHECK(row.speedup <= row.speedup_high);
    CHECK(row.verify_run_milliseconds > row.target_run_milliseconds);
  }
  CHECK(clocked_table(rows, "t").rows.size() == 2);
  REQUIRE(clocked_figures(rows, "t").size() == 1);
  CHECK(clocked_figures(rows, "t").front().series.size() == 4);
  CHECK(clocked_csv(rows).find("verify_cost") != std::string::npos);
}

TEST_CASE("walltime of neural models: too few tokens are said before the run" *
          doctest::skip(without_clocked)) {
  const Pair files;
  Json config = files.config();
  config["walltime"]["tokens"] = 12;
  CHECK_THROWS_WITH_AS(run_of(config), doctest::Contains("too few"), ConfigError);
}

TEST_CASE("walltime of neural models: the clock keeps no rows and runs what is new") {
  const Json json{{"kind", "gguf"}, {"file", "x.gguf"}, {"kept_rows", 8}};
  const ModelConfig own = read(kind_of(model_family()), json, "/model");
  const ModelConfig clocked = for_the_clock(own);
  CHECK(gguf_parameters(clocked)->kept_rows == 0);
  CHECK(gguf_parameters(clocked)->batch == 0);
  CHECK(gguf_parameters(own)->kept_rows == 8);
  Json fixed = json;
  fixed["batch"] = 6;
  CHECK(gguf_parameters(for_the_clock(read(kind_of(model_family()), fixed, "/model")))->batch == 6);
}

TEST_CASE("walltime of neural models: batches of texts that are decoded together" *
          doctest::skip(without_clocked)) {
  const Pair files;
  Json config = files.config();
  config["walltime"]["batches"] = {1, 3};
  const RunResult run = run_of(config);
  const std::vector<ClockedGamma>& rows = run.timings.own.as<WalltimeTimings>().clocked;
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].batch == (i < 2 ? 1 : 3));
    CHECK(rows[i].gamma == (i % 2 == 0 ? 1 : 3));
    CHECK(rows[i].expected_tokens == doctest::Approx(rows[i].gamma + 1));
    // Draft and target are one model: every text of a batch accepts all tokens, too.
    CHECK(rows[i].tokens_per_target_step == doctest::Approx(rows[i].gamma + 1));
    CHECK(rows[i].played_speedup == doctest::Approx(rows[i].predicted_speedup));
  }
  // Three texts cost more than one. Speedups are over plain decoding of as many texts.
  CHECK(rows[2].target_run_milliseconds > rows[0].target_run_milliseconds);
  CHECK(rows[2].plain_tokens_per_second > rows[0].plain_tokens_per_second);
  CHECK(clocked_figures(rows, "t").size() == 2);
  CHECK(clocked_table(rows, "t").columns.size() == clocked_table({rows[0], rows[1]}, "t").columns.size() + 1);
}

TEST_CASE("walltime of neural models: a fixed batch and batches of texts do not go together" *
          doctest::skip(without_clocked)) {
  const Pair files;
  Json config = files.config();
  config["walltime"]["batches"] = {2};
  config["models"]["draft"]["batch"] = 4;
  CHECK_THROWS_WITH_AS(run_of(config), doctest::Contains("leave it out for 2 texts at once"), ConfigError);
}
