#include "serving/study/serving_study.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "experiments/results/presentation.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json served_config(const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "serving", "seed": 5, "gamma": 3, "alpha": 0.8,
    "serving": {"clients": 8, "prompt": 100, "output": 11, "requests": 80, "settle": 0, "runs": 3,
                "cost": {"kind": "steps", "step": 2, "position": 0.25, "prompt_token": 0.01},
                "engine": {"max_sequences": 8}}
  })");
  config.merge_patch(parse_json(more));
  if (config["serving"].contains("acceptance")) config.erase("alpha");
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
  // One wave of 8 requests: prompts take 2 + 8 ms, then ten steps 2 + 8 / 4 each.
  const double tokens_per_second = 1000 * 8 * 11 / 50.0;
  CHECK(number(cell, "tokens/s").simulated->estimate == doctest::Approx(tokens_per_second));
  CHECK(number(cell, "tokens/s").measured == 1500);
  CHECK(number(cell, "TTFT mean").simulated->estimate == doctest::Approx(10));
  CHECK(number(cell, "TPOT mean").simulated->estimate == doctest::Approx(4));
  CHECK(number(cell, "ITL mean").simulated->estimate == doctest::Approx(4));
  CHECK(number(cell, "running").simulated->estimate == doctest::Approx(8));
  // Time before a queue delays the first token and nothing after it.
  const CellResult far =
      served_cell(served_config(R"({"gamma": 0, "serving": {"engine": {"front_ms": 7}}})"));
  CHECK(number(far, "TTFT mean").simulated->estimate == doctest::Approx(10 + 7));
  CHECK(number(far, "latency mean").simulated->estimate == doctest::Approx(50 + 7));
  CHECK(number(far, "TPOT mean").simulated->estimate == doctest::Approx(4));
  const RunResult run = run_of(served_config(R"({"serving": {"measured": {"accepted": 2}}})"));
  const std::string csv = csv_of(run.result, run.timings);
  CHECK(csv.find("number,simulated,simulated_low,simulated_high,measured,error_percent") !=
        std::string::npos);
  CHECK(tables_of(run.result, run.timings, "x").size() == 2);
}

TEST_CASE("cells with targets and percentiles of their own share a table, each number under its name") {
  const RunResult run = run_of(served_config(R"({"cases": [
    {"label": "without"}, {"label": "with", "set": {"/serving/ttft_ms": 50, "/serving/percentile": 90}}]})"));
  const Table table = tables_of(run.result, run.timings, "x").front();
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
  const auto has = [&](std::size_t row, const char* name) {
    const auto column = std::find(table.columns.begin(), table.columns.end(), name) - table.columns.begin();
    return !table.rows[row].at(static_cast<std::size_t>(column)).text.empty();
  };
  for (const char* name : {"tokens/s", "TTFT p95"}) CHECK(has(0, name));
  for (const char* name : {"tokens/s", "TTFT p90", "meet SLOs"}) CHECK(has(1, name));
  for (const char* name : {"TTFT p90", "meet SLOs"}) CHECK_FALSE(has(0, name));
  CHECK_FALSE(has(1, "TTFT p95"));
}

TEST_CASE("figures of cases that are swept have a line for each case, over what is swept") {
  const RunResult run = run_of(served_config(R"({"sweep": {"/serving/output": [5, 7, 11]}, "cases": [
    {"label": "plain", "set": {"/gamma": 0}}, {"label": "drafts", "set": {"/gamma": 3}}]})"));
  const std::vector<Figure> figures = figures_of(run.result, run.timings);
  REQUIRE(figures.size() >= 3);
  for (const Figure& figure : figures) {
    CHECK(figure.x_label == "output");
    REQUIRE(figure.series.size() == 2);
    CHECK(figure.series[0].name == "plain");
    CHECK(figure.series[1].name == "drafts");
    for (const Series& line : figure.series) CHECK(line.x == std::vector<double>{5, 7, 11});
    CHECK(figure.y_label.ends_with(", ms") == (figure.y_label != "tokens/s"));
  }
}

TEST_CASE("laws of one mean differ in the tail of gaps alone, with rounds of one length") {
  const auto with = [&](const std::string& law) {
    return served_cell(served_config(fmt::format(
        R"({{"gamma": 4, "alpha": null, "serving": {{"output": 200, "requests": 200, "acceptance": {{"kind": "{}", "mean": 2}}}}}})",
        law)));
  };
  const CellResult constant = with("constant_rate");
  const CellResult least = with("least_variance");
  const CellResult all = with("all_or_none");
  for (const CellResult* cell : {&constant, &least, &all})
    CHECK(number(*cell, "accepted").simulated->estimate == doctest::Approx(2).epsilon(0.03));
  CHECK(number(least, "TPOT deviation").simulated->estimate <
        0.5 * number(constant, "TPOT deviation").simulated->estimate);
  CHECK(number(all, "TPOT deviation").simulated->estimate >
        1.15 * number(constant, "TPOT deviation").simulated->estimate);
}

TEST_CASE("requests of two kinds start rounds at other rates as gamma grows") {
  const std::string kinds =
      R"("acceptance": {"kind": "classes", "classes": [{"share": 0.5, "positions": [0.98]}, {"share": 0.5, "positions": [0.6, 0.2]}]})";
  const auto first = [&](int gamma) {
    const CellResult cell = served_cell(served_config(
        fmt::format(R"({{"gamma": {}, "alpha": null, "serving": {{"output": 256, "requests": 400, {}}}}})",
                    gamma, kinds)));
    return number(cell, "accepted").simulated->estimate;
  };
  // With one drafted token, the mean of accepted tokens is the rate of position 1, weighted by rounds: (n1
  // .98 + n2 .6) / (n1 + n2) with n = 1 / (1 + rate).
  const double easy = 1 / 1.98;
  const double hard = 1 / 1.6;
  CHECK(first(1) == doctest::Approx((easy * .98 + hard * .6) / (easy + hard)).epsilon(0.02));
  CHECK(first(7) < 4);
}

TEST_CASE("tokens of a sequence that share experts make verification cheaper, and plain decoding as it was") {
  const auto tpot = [&](int gamma, double exponent) {
    Json config = served_config(fmt::format(
        R"({{"gamma": {}, "serving": {{"cost": {{"kind": "models", "step": null, "position": null, "prompt_token": null, "target": "mixtral-8x7b", "draft": "mistral-7b", "device": "h200", "devices": 4, "routing_exponent": {},
         "idle_draft": false}}}}}})",
        gamma, exponent));
    config["serving"]["clients"] = 1;
    return number(served_cell(config), "ITL mean").simulated->estimate;
  };
  CHECK(tpot(0, 0) == doctest::Approx(tpot(0, 1)).epsilon(1e-12));
  // Four positions use the same two experts (exponent 0), or as many as four unrelated positions (exponent
  // 1).
  CHECK(tpot(3, 0) < tpot(3, 0.79));
  CHECK(tpot(3, 0.79) < 0.99 * tpot(3, 1));
}

TEST_CASE("a table by batch and context drafts what its rows say") {
  const auto drafted = [&](const std::string& rows) {
    return number(
               served_cell(served_config(
                   R"({"gamma": null, "serving": {"policy": {"kind": "table", "rows": [)" + rows + "]}}}")),
               "drafted")
        .simulated->estimate;
  };
  CHECK(drafted(R"({"batch": 8, "gamma": 2})") == 2);
  CHECK(drafted(R"({"batch": 7, "gamma": 2}, {"batch": 8, "gamma": 1})") < 2);
  CHECK(drafted(R"({"batch": 8, "context": 99, "gamma": 2})") == 0);
  CHECK(drafted(R"({"batch": 8, "context": 200, "gamma": 2})") == 2);
}

TEST_CASE("adaptive verification takes confidences by a law or as they are recorded") {
  const auto verified = [&](const std::string& more) {
    const CellResult cell = served_cell(served_config(
        R"({"serving": {"clients": 1, "output": 400, "cost": {"position": 1.3}, "policy": {"kind": "adaptive", "waits": true)" +
        more + "}}}"));
    CHECK(number(cell, "drafted").simulated->estimate == 3);
    return std::pair{number(cell, "verified").simulated->estimate,
                     number(cell, "accepted").simulated->estimate};
  };
  // Tokens per ms if 1, 2 or 3 drafts are verified: 1.8 / (2 + 2.6), 2.44 / (2 + 3.9), 2.95 / (2 + 5.2). With
  // uninformative confidences two are best.
  const auto [two, some] = verified(R"(, "correlation": 0)");
  CHECK(two == 2);
  CHECK(some == doctest::Approx(0.8 + 0.64).epsilon(0.02));
  const auto [all, as_many] = verified(R"(, "correlation": 1)");
  CHECK(all == as_many);
  CHECK(as_many == doctest::Approx(0.8 + 0.64 + 0.512).epsilon(0.02));
  // Rounds are drawn from two: in one the draft is sure of three tokens, in the other it is sure that none is
  // accepted.
  const TempFile rounds(
      "{\"accepted\": 3, \"confidences\": [1, 1, 1], \"weight\": 3}\n"
      "{\"accepted\": 0, \"confidences\": [0, 1, 1], \"weight\": 1}\n");
  const auto [three, sure] = verified(
      fmt::format(R"(}}, "acceptance": {{"kind": "recorded", "file": "{}")", rounds.path().string()));
  CHECK(three == sure);
  CHECK(sure == doctest::Approx(3 * 0.75).epsilon(0.02));
}

TEST_CASE("a recorded trace is played as it was recorded, or at a rate") {
  // All steps take 4 ms: one for a prompt of 100 tokens, then ten with one token each. Requests that arrive
  // 100 ms apart meet an idle server. If they arrive 20 ms apart, the second joins the first after half of
  // its steps.
  const TempFile trace("0,100,11\n0.1,100,11\n0.2,100,1\n");
  const auto played = [&](const std::string& more) {
    Json config = served_config(fmt::format(
        R"({{"gamma": 0, "serving": {{"clients": null, "trace": "{}", "requests": 3, "cost": {{"step": 4, "position": 0, "prompt_token": 0}}}}}})",
        trace.path().string()));
    config.merge_patch(parse_json(more));
    return served_cell(config);
  };
  const CellResult idle = played("{}");
  CHECK(number(idle, "latency mean").simulated->estimate == doctest::Approx((44 + 44 + 4) / 3.0));
  CHECK(number(idle, "TTFT p95").simulated->estimate == doctest::Approx(4));
  CHECK(number(idle, "latency mean").simulated->half_width() < 1e-9);
  // The trace has ten requests per second. At fifty, the second arrives at 20 ms, when a step ends, and the
  // third at 40 ms.
  const CellResult fast = played(R"({"serving": {"requests_per_second": 50}})");
  CHECK(number(fast, "latency mean").simulated->estimate == doctest::Approx((44 + 44 + 4) / 3.0));
  CHECK(number(fast, "running").simulated->estimate > 1.3);
  for (const char* bad :
       {R"({"serving": {"clients": 2}})", R"({"serving": {"bursts": 2}})",
        R"({"serving": {"length_variation": 1}})", R"({"serving": {"trace": "nowhere.csv"}})"}) {
    CAPTURE(bad);
    CHECK(config_error_of([&] { played(bad); }).starts_with("/serving/trace: "));
  }
}

TEST_CASE("an overloaded server says so, with the throughput of the full one and no waiting times") {
  // A step takes 2 ms and .25 ms per position. In a full server of eight, a request takes 1 ms for its
  // prompt, 2.5 ms for ten tokens, and an eighth of the 2 ms of each of eleven steps. 160 requests per second
  // are served.
  constexpr double full = 1000 * 11 / (1 + 2.5 + 22 / 8.0);
  const auto at = [&](double rate, int after) {
    return served_cell(served_config(fmt::format(
        R"({{"gamma": 0, "serving": {{"clients": null, "requests_per_second": {}, "requests": 300, "settle": 40,
            "settle_after": {}, "runs": 4, "ttft_ms": 50, "measured": {{"TTFT mean": 10, "tokens/s": 1000}}}}}})",
        rate, after)));
  };
  const CellResult slow = at(50, 40);
  CHECK_FALSE(own<ServingResult>(slow).state);
  CHECK(number(slow, "tokens/s").simulated->estimate == doctest::Approx(50 * 11).epsilon(0.1));
  for (const double rate : {170.0, 1000.0, 1e6}) {
    CAPTURE(rate);
    const CellResult crowded = at(rate, 40);
    CHECK(own<ServingResult>(crowded).state == overloaded_state);
    for (const char* name : {"latency mean", "latency p95", "TTFT mean", "targets kept"})
      CHECK_FALSE(number(crowded, name).simulated);
    CHECK(number(crowded, "TPOT mean").simulated);
    CHECK(number(crowded, "running").simulated->estimate == doctest::Approx(8).epsilon(0.01));
    CHECK(number(crowded, "tokens/s").simulated->estimate == doctest::Approx(full).epsilon(0.05));
  }
  // A benchmark ends when all its requests are served: its times are those of this many requests, and its
  // state says that they wait.
  const CellResult benchmark = at(1000, 0);
  CHECK(own<ServingResult>(benchmark).state == overloaded_state);
  CHECK(number(benchmark, "latency mean").simulated->estimate >
        number(slow, "latency mean").simulated->estimate);
  CHECK(number(benchmark, "tokens/s").simulated->estimate == doctest::Approx(full).epsilon(0.15));
}

TEST_CASE("runs that are too short say so, and nothing is printed as not a number") {
  // A million requests per second arrive at a server with places for all of them: no step ends while they
  // arrive.
  const RunResult flooded = run_of(served_config(
      R"({"serving": {"clients": null, "requests_per_second": 1e6, "requests": 100, "settle": 10,
          "engine": {"max_sequences": 60000}, "measured": {"tokens/s": 7, "TTFT mean": 0}}})"));
  const CellResult& cell = flooded.result.cells.at(0);
  CHECK(own<ServingResult>(cell).state == too_short_state);
  CHECK_FALSE(number(cell, "tokens/s").simulated);
  const auto tables = tables_of(flooded.result, flooded.timings, "x");
  REQUIRE(tables.size() == 2);
  for (const Table& table : tables) {
    const std::string text = terminal(table);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("inf") == std::string::npos);
    CHECK(text.find(too_short_state) != std::string::npos);
  }
  CHECK(csv_of(flooded.result, flooded.timings).find("nan") == std::string::npos);
  // 256 clients send requests at once; five requests before the measured ones do not fill the server.
  const char* few = R"({"serving": {"clients": 256, "requests": 60, "settle": 5}})";
  CHECK(refused(few).starts_with("/serving/settle: 5 requests before the measured ones; 256 clients need"));
  const CellResult burst = served_cell(served_config(
      R"({"serving": {"clients": 256, "requests": 60, "settle": 0, "measured": {"tokens/s": 0}}})"));
  CHECK(number(burst, "tokens/s").simulated->bounded());
}

TEST_CASE("gamma is refused for cells that do not read it") {
  const auto refusal = [](const std::string& more) {
    return refused(R"({"serving": {"policy": {"kind": "sglang"}})" + more + "}");
  };
  const std::string expected = "/gamma: the policy \"sglang\" chooses the drafted tokens; leave it out";
  CHECK(refusal("") == expected);
  CHECK(refusal(R"(, "gamma": 5)") == expected);  // the default, but given
  CHECK(refusal(R"(, "gamma": null)").empty());
  CHECK(refusal(R"(, "gamma": null, "sweep": {"/gamma": [1, 2]})").starts_with(expected));
  CHECK(refusal(R"(, "sweep": {"/serving/clients": [4, 8]})").starts_with(expected));
  // A mean of accepted tokens is that of one gamma, and the cells of other policies read it.
  const char* mean =
      R"({"serving": {"policy": {"kind": "sglang"}, "acceptance": {"kind": "all_or_none", "mean": 1}}})";
  CHECK(refused(mean) == "");
  CHECK(refused(R"({"cases": [{"set": {"/serving/policy": {"kind": "sglang"}}}, {"set": {}}]})").empty());
}

TEST_CASE("what cannot be served is refused, with its path") {
  CHECK(refused(R"({"serving": {"requests_per_second": 4}})") ==
        "/serving: give one of requests_per_second, clients and trace");
  CHECK(refused(R"({"alpha": null})").starts_with("/alpha: missing"));
  CHECK(refused(R"({"serving": {"acceptance": {"kind": "rate", "rate": 0.5, "mean": 1}}})")
            .starts_with("/serving/acceptance/mean: unknown key"));
  CHECK(refused(R"({"serving": {"acceptance": {"rate": 0.5}}})")
            .starts_with("/serving/acceptance/kind: missing"));
  CHECK(refused(R"({"serving": {"acceptance": {"kind": "rate", "rate": 0.5, "spread": 0.5}}})")
            .starts_with("/serving/acceptance/spread"));
  Json twice = served_config(R"({"serving": {"acceptance": {"kind": "rate", "rate": 0.5}}})");
  CHECK(served_cell(twice).own);
  twice["alpha"] = 0.5;
  CHECK(config_error_of([&] { run_of(twice); }) ==
        "/serving/acceptance/rate: is given beside \"alpha\"; leave one of them out");
  twice["serving"]["acceptance"] = {{"kind", "positions"}, {"rates", {0.5}}};
  CHECK(config_error_of([&] { run_of(twice); }) ==
        "/alpha: acceptances of kind \"positions\" do not read it; leave it out");
  twice.erase("alpha");
  twice["gamma"] = 2;
  CHECK(config_error_of([&] {
          run_of(twice);
        }).starts_with("/serving/acceptance/rates: 1 positions, and up to 2 tokens are drafted"));
  CHECK(refused(R"({"serving": {"acceptance": {"kind": "constant_rate", "mean": 4}}})")
            .starts_with("/serving/acceptance/mean: 4 accepted"));
  CHECK(
      refused(
          R"({"serving": {"acceptance": {"kind": "classes", "classes": [{"share": 0.5, "positions": [1]}]}}})")
          .starts_with("/serving/acceptance/classes: shares add up to 0.5"));
  CHECK(refused(R"({"serving": {"cost": null}})").starts_with("/serving/cost: missing"));
  CHECK(refused(R"({"serving": {"cost": {"step": null, "position": null}}})")
            .starts_with("/serving/cost: a step of one sequence takes no time"));
  CHECK(
      refused(
          R"({"serving": {"cost": {"by_tokens": [{"tokens": 1, "ms": 12}, {"tokens": 64, "ms": 12.1}, {"tokens": 128, "ms": 12}]}}})")
          .starts_with("/serving/cost/by_tokens/2/ms: 12 is below 12.1"));
  CHECK(refused(R"({"serving": {"prompt": 1.5}})").starts_with("/serving/prompt"));
  // No whole block would mean a cache without limit.
  CHECK(refused(R"({"serving": {"engine": {"cache_tokens": 15}}})")
            .starts_with("/serving/engine/cache_tokens: 15 tokens are less than a block"));
  CHECK(refused(R"({"serving": {"engine": {"cache_tokens": 96}}})")
            .starts_with("/serving/engine/cache_tokens: a request of 100"));
  CHECK(refused(R"({"serving": {"measured": {"TTFT p59": 4}}})")
            .starts_with("/serving/measured: unknown number \"TTFT p59\""));
  CHECK(refused(R"({"serving": {"policy": {"kind": "adaptive"}}})")
            .starts_with("/serving/policy/correlation: missing"));
  CHECK(refused(R"({"serving": {"policy": {"kind": "adaptive", "correlation": 1.5}}})")
            .starts_with("/serving/policy/correlation: 1.5"));
  const auto recorded = [&](const std::string& lines, const std::string& more = "") {
    const TempFile file(lines);
    return refused(fmt::format(
        R"({{"serving": {{"policy": {{"kind": "adaptive"{}}}, "acceptance": {{"kind": "recorded", "file": "{}"}}}}}})",
        more, file.path().string()));
  };
  const std::string round = R"({"accepted": 1, "confidences": [0.9, 0.5, 0.2]})";
  CHECK(recorded(round, R"(, "correlation": 0.5)")
            .starts_with("/serving/policy/correlation: confidences are recorded with the rounds"));
  CHECK(recorded(round + "\n" + R"({"accepted": 1, "confidences": [0.9, 0.5]})")
            .find("a round of 2 drafted tokens; the policy drafts up to 3") != std::string::npos);
  CHECK(recorded(round + "\n" + R"({"accepted": 4, "confidences": [0.9, 0.5, 0.2]})")
            .find(":2: /accepted: 4; expected a whole number up to the 3 drafted tokens") !=
        std::string::npos);
  CHECK(recorded(R"({"accepted": 1, "confidences": [0.9, 1.5, 0.2]})")
            .find("/confidences/1: 1.5; expected a probability") != std::string::npos);
  CHECK(recorded(R"({"accepted": 1})").find("/confidences: missing") != std::string::npos);
  CHECK(recorded("accepted").find("speclab_test_") < recorded("accepted").find(": is not JSON"));
  CHECK(recorded(R"({"accepted": 0, "confidences": [0, 0, 0], "weight": 0})").find("all of weight 0") !=
        std::string::npos);
  CHECK(
      refused(R"({"serving": {"policy": {"kind": "table"}}})").starts_with("/serving/policy/rows: missing"));
  CHECK(
      refused(R"({"serving": {"cost": {"by_tokens": [{"tokens": 4, "ms": 1}, {"tokens": 4, "ms": 2}]}}})") ==
      "/serving/cost/by_tokens/1/tokens: 4 is not above 4, the one before");
  const auto models = [](const std::string& more) {
    return refused(
        R"({"serving": {"cost": {"kind": "models", "step": null, "position": null, "prompt_token": null, "device": "h100-sxm", )" +
        more + "}}}");
  };
  CHECK(models(R"("target": "llama-3.1-9b", "draft": "llama-3.2-1b")")
            .starts_with("/serving/cost/target: unknown model \"llama-3.1-9b\""));
  CHECK(models(R"("target": "llama-3.1-8b")").starts_with("/serving/cost/draft: missing"));
  CHECK(models(R"("target": "llama-3.1-8b", "draft": "llama-3.2-1b", "dtype": "fp9")")
            .starts_with("/serving/cost/dtype: unknown \"fp9\""));
  CHECK(models(R"("target": "llama-3.1-8b", "draft": "llama-3.2-1b", "routing_exponent": 1)")
            .starts_with("/serving/cost/routing_exponent: llama-3.1-8b has no experts"));
  CHECK(models(R"("target": "llama.json", "draft": "llama-3.2-1b")")
            .starts_with("/serving/cost/target: llama.json: a config names a preset"));
  CHECK(refused(R"({"gamma": 65})").starts_with("/gamma: 65"));
}
