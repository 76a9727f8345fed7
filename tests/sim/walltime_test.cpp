#include "sim/walltime.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/bounds.hpp"

// Durations depend on the machine and what else it does, so nothing here holds one against another.

using namespace speclab;

TEST_CASE("work reads every weight, each run") {
  BusyWork work(1003);
  work.run();
  CHECK(work.sum() == 1003 * 0.25);
  work.run();
  CHECK(work.sum() == 1003 * 0.5);
}

TEST_CASE("the timed decode is a decode: tokens per round follow Eq. 1 and repeat exactly") {
  const TableModel table(8, 0, zipf_row(8, 1, false));
  const Model target(table);
  const Model draft(mixed_to_alpha(table, TableModel(8, 0, zipf_row(8, 1, true)), 0.8));
  constexpr std::int32_t gamma = 3;
  const auto measure = [&](std::uint64_t seed) {
    return measure_walltime(target, draft, TokenRule{}, gamma, {}, test_seed(seed), 5000, 16, 4, 4);
  };
  const Walltime once = measure(5);
  CHECK(once.tokens_per_round == measure(5).tokens_per_round);
  CHECK(once.tokens_per_round != measure(6).tokens_per_round);
  for (const double seconds : {once.plain_seconds_per_token, once.speculative_seconds_per_token,
                               once.target_run_seconds, once.draft_run_seconds}) {
    CHECK(seconds > 0);
    CHECK(std::isfinite(seconds));
  }
  CHECK(once.speedup() == doctest::Approx(once.plain_seconds_per_token / once.speculative_seconds_per_token));
  CHECK(once.c() == doctest::Approx(once.draft_run_seconds / once.target_run_seconds));
  // Null: Eq. 1 at alpha = .8. Tokens a round are 1..4, so their deviation is at most 1.5; 20000 tokens are
  // at least 5000 rounds. Power: an alpha of .7 is .42 tokens away, against a bound of .15.
  const auto eq1 = [](double alpha) { return (1 - std::pow(alpha, gamma + 1)) / (1 - alpha); };
  CHECK(mean_agrees(once.tokens_per_round, eq1(0.8), 1.5, 5000));
  CHECK_FALSE(mean_agrees(once.tokens_per_round, eq1(0.7), 1.5, 5000));
}
