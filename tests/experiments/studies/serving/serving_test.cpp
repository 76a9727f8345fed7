#include "experiments/studies/serving/serving_study.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Json served_config(const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "serving", "seed": 5, "gamma": 3, "alpha": 0.8,
    "serving": {"clients": 8, "prompt": 100, "output": 11, "requests": 80, "settle": 0, "runs": 3,
                "cost": {"step": 2, "position": 0.25, "prompt_token": 0.01},
                "engine": {"max_sequences": 8}}
  })");
  config.merge_patch(parse_json(more));
  return config;
}

const ServingNumber& number(const CellResult& cell, const std::string& name) {
  for (const ServingNumber& one : own<ServingResult>(cell).numbers) {
    if (one.name == name) return one;
  }
  throw std::logic_error(name);
}

CellResult served_cell(const Json& config) { return run_of(config).result.cells.at(0); }

std::string refused(const std::string& more) {
  return config_error_of([&] { run_of(served_config(more)); });
}

}  // namespace

TEST_CASE("a closed network without drafts is its own arithmetic, and what was measured stands beside it") {
  const CellResult cell = served_cell(
      served_config(R"({"gamma": 0, "serving": {"measured": {"tokens/s": 1500, "ITL mean": 4}}})"));
  // A wave of 8: the prompts in 2 + 8 ms, then ten steps of 2 + 8 / 4.
  const double tokens_per_second = 1000 * 8 * 11 / 50.0;
  CHECK(number(cell, "tokens/s").simulated.estimate == doctest::Approx(tokens_per_second));
  CHECK(number(cell, "tokens/s").measured == 1500);
  CHECK(number(cell, "TTFT mean").simulated.estimate == doctest::Approx(10));
  CHECK(number(cell, "TPOT mean").simulated.estimate == doctest::Approx(4));
  CHECK(number(cell, "ITL mean").simulated.estimate == doctest::Approx(4));
  CHECK(number(cell, "running").simulated.estimate == doctest::Approx(8));
  const RunResult run = run_of(served_config(R"({"serving": {"measured": {"accepted": 2}}})"));
  const std::string csv = serving_csv(run.result, run.timings);
  CHECK(csv.find("number,simulated,simulated_low,simulated_high,measured,error_percent") !=
        std::string::npos);
  CHECK(serving_tables(run.result, run.timings, "x").size() == 2);
}

TEST_CASE("laws of one mean differ in the tail of gaps alone, with rounds of one length") {
  // Time before a queue is no work: only a client's wait.
  const auto with = [&](const std::string& law) {
    return served_cell(served_config(fmt::format(
        R"({{"gamma": 4, "alpha": null, "serving": {{"output": 200, "requests": 200, "acceptance": {{"mean": 2, "law": "{}"}}}}}})",
        law)));
  };
  const CellResult constant = with("constant_rate");
  const CellResult least = with("least_variance");
  const CellResult all = with("all_or_none");
  for (const CellResult* cell : {&constant, &least, &all})
    CHECK(number(*cell, "accepted").simulated.estimate == doctest::Approx(2).epsilon(0.03));
  CHECK(number(least, "TPOT deviation").simulated.estimate <
        0.5 * number(constant, "TPOT deviation").simulated.estimate);
  CHECK(number(all, "TPOT deviation").simulated.estimate >
        1.15 * number(constant, "TPOT deviation").simulated.estimate);
}

TEST_CASE("requests of two kinds start rounds at other rates as gamma grows") {
  const std::string kinds =
      R"("acceptance": {"classes": [{"share": 0.5, "positions": [0.98]}, {"share": 0.5, "positions": [0.6, 0.2]}]})";
  const auto first = [&](int gamma) {
    const CellResult cell = served_cell(served_config(
        fmt::format(R"({{"gamma": {}, "alpha": null, "serving": {{"output": 256, "requests": 400, {}}}}})",
                    gamma, kinds)));
    return number(cell, "accepted").simulated.estimate;
  };
  // Of one drafted token the mean accepted ones are the rate of position 1, by rounds: (n1 .98 + n2 .6) / (n1
  // + n2) with n = 1 / (1 + rate).
  const double easy = 1 / 1.98;
  const double hard = 1 / 1.6;
  CHECK(first(1) == doctest::Approx((easy * .98 + hard * .6) / (easy + hard)).epsilon(0.02));
  CHECK(first(7) < 4);
}

TEST_CASE("no policy is better than the solved one, which goodput comes near") {
  const auto latency = [&](const std::string& policy) {
    return number(
               served_cell(served_config(fmt::format(
                   R"({{"gamma": 5, "serving": {{"clients": null, "requests_per_second": 8, "output": 32, "geometric_output": true,
          "policy": "{}", "requests": 3000, "settle": 300, "runs": 8, "cost": {{"step": 6, "position": 0.7, "draft_run": 0.4}}}}}})",
                   policy))),
               "latency mean")
        .simulated;
  };
  const Interval best = latency("optimal");
  CHECK(latency("fixed").estimate > 1.02 * best.estimate);
  CHECK(latency("goodput").estimate > 0.995 * best.estimate);
  CHECK(latency("goodput").estimate < 1.03 * best.estimate);
}

TEST_CASE("what cannot be served is refused, with its path") {
  CHECK(refused(R"({"serving": {"requests_per_second": 4}})") ==
        "/serving: give one of requests_per_second and clients");
  CHECK(refused(R"({"alpha": null})").starts_with("/alpha: missing"));
  CHECK(refused(R"({"serving": {"acceptance": {"rate": 0.5, "mean": 1}}})")
            .starts_with("/serving/acceptance: give one"));
  CHECK(refused(R"({"serving": {"acceptance": {"rate": 0.5, "spread": 0.5}}})")
            .starts_with("/serving/acceptance/spread"));
  CHECK(refused(R"({"serving": {"acceptance": {"mean": 4}}})")
            .starts_with("/serving/acceptance/mean: 4 accepted"));
  CHECK(refused(R"({"serving": {"acceptance": {"rounds": [0, 0]}}})")
            .starts_with("/serving/acceptance/rounds"));
  CHECK(refused(R"({"serving": {"acceptance": {"classes": [{"share": 0.5, "positions": [1]}]}}})")
            .starts_with("/serving/acceptance/classes: shares add up to 0.5"));
  CHECK(refused(R"({"serving": {"cost": null}})")
            .starts_with("/serving/cost: a step of one sequence takes no time"));
  CHECK(refused(R"({"serving": {"prompt": 1.5}})").starts_with("/serving/prompt"));
  CHECK(refused(R"({"serving": {"engine": {"cache_tokens": 96}}})")
            .starts_with("/serving/engine/cache_tokens: a request of 100"));
  CHECK(
      refused(R"({"serving": {"policy": "optimal"}})").starts_with("/serving/policy: \"optimal\" is solved"));
  CHECK(refused(R"({"serving": {"measured": {"TTFT p59": 4}}})")
            .starts_with("/serving/measured: unknown number \"TTFT p59\""));
  CHECK(refused(R"({"gamma": 65})").starts_with("/gamma: 65"));
}
