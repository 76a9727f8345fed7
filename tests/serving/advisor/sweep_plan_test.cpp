#include "serving/advisor/sweep_plan.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Tokens a second and accepted / drafted by K = 0..6 on one card at two power caps, as published in
/// sudoingX/qwen38-mtp (sweeps/rtx-5090.md, pull request 47), with the step times that follow, in ms.
struct Published {
  const char* cap;
  std::vector<double> rate;
  std::vector<double> acceptance;
  std::vector<double> step_ms;
};
const std::vector<Published> published{{"600 W",
                                        {74.8, 115.7, 144.4, 156.0, 162.1, 159.7, 153.2},
                                        {0, .889, .790, .725, .647, .591, .537},
                                        {13.4, 16.3, 17.9, 20.4, 22.1, 24.8, 27.6}},
                                       {"400 W",
                                        {71.2, 108.4, 129.3, 133.8, 132.8, 127.5, 123.3},
                                        {0, .883, .800, .719, .643, .585, .532},
                                        {14.0, 17.4, 20.1, 23.6, 26.9, 30.8, 34.0}}};

SweepPlan sweep_of(const std::string& text, SweepQuestion question = {}) {
  const TempFile file(text);
  question.file = file.path().string();
  return plan_sweep(question);
}

std::string sweep_refusal(const std::string& text, SweepQuestion question = {}) {
  const TempFile file(text);
  question.file = file.path().string();
  try {
    plan_sweep(question);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a published sweep gives its published step times, and the power cap moves the best K") {
  std::string table = "| cap | n-max | tok/s | acceptance |\n|---|:-:|---|---|\n";
  for (const Published& one : published) {
    for (std::size_t k = 0; k < one.rate.size(); ++k) {
      table += k == 0 ? fmt::format("| {} | off | {} | — |\n", one.cap, one.rate[k])
                      : fmt::format("| {} | **n{}** | **{} tok/s** | {:.1f}% |\n", one.cap, k, one.rate[k],
                                    100 * one.acceptance[k]);
    }
  }
  const SweepPlan plan = sweep_of(table, {.file = "", .by = "cap", .alphas = {1}});
  REQUIRE(plan.sweeps.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(plan.sweeps[i].points.size() == 7);
    CHECK(plan.sweeps[i].name == published[i].cap);
    for (std::size_t k = 0; k < 7; ++k)
      CHECK(std::abs(plan.sweeps[i].points[k].step_ms - published[i].step_ms[k]) < 0.05 + 1e-9);
  }
  CHECK(plan.sweeps[0].best_k == 4);
  CHECK(plan.sweeps[1].best_k == 3);
  // The line by the closed form for K = 1..6: slope = sum (K - 3.5) t / 17.5.
  for (std::size_t i = 0; i < 2; ++i) {
    double slope = 0;
    double mean = 0;
    for (std::size_t k = 1; k <= 6; ++k) {
      slope += (static_cast<double>(k) - 3.5) * plan.sweeps[i].points[k].step_ms / 17.5;
      mean += plan.sweeps[i].points[k].step_ms / 6;
    }
    const SweepFit& fit = plan.sweeps[i].fit.value();
    CHECK(fit.per_token_ms.estimate == doctest::Approx(slope));
    CHECK(fit.base_ms.estimate == doctest::Approx(mean - 3.5 * slope));
    CHECK(fit.per_token_ms.low < slope);
    CHECK(fit.per_token_ms.judges());
  }
  // The step times move the best K, and acceptance does not.
  for (const SweepOther& other : plan.others) {
    CAPTURE(other.acceptance);
    if (other.acceptance == "α = 1") {
      CHECK(other.best_k == 6);
    } else {
      CHECK(other.best_k == (other.costs == "600 W" ? 4 : 3));
    }
  }
  CHECK(plan.others.size() == 4);
}

TEST_CASE("an exact line is found, and a K within its scatter of the best is named") {
  // 10 ms + 3 ms a token, one token in two accepted at each position.
  std::string exact = "K,tok/s,accept length\n0,100,\n";
  for (int k = 1; k <= 5; ++k) {
    const double tokens = 2 - std::pow(0.5, k);
    exact += fmt::format("{},{},{}\n", k, 1000 * tokens / (10 + 3 * k), tokens);
  }
  const SweepPlan plan = sweep_of(exact);
  const SweepFit& fit = plan.sweeps[0].fit.value();
  CHECK(fit.base_ms.estimate == doctest::Approx(10));
  CHECK(fit.per_token_ms.estimate == doctest::Approx(3));
  CHECK(fit.scatter_percent < 1e-6);
  CHECK(plan.sweeps[0].best_k == 1);
  CHECK(plan.sweeps[0].low_k == 1);
  CHECK(plan.sweeps[0].high_k == 1);
  CHECK(plan.sweeps[0].points[0].step_ms == doctest::Approx(10));
  // Step times of 10.2, 11.8, 14.2 and 15.8 ms: the scatter is .2 sqrt(4.8 / 2) ms or so, 2 or 3% of a step.
  const SweepPlan rough =
      sweep_of("K,tok/s,length\n1,147.06,1.5\n2,148.31,1.75\n3,132.04,1.875\n4,122.63,1.9375\n");
  CHECK(rough.sweeps[0].low_k == 1);
  CHECK(rough.sweeps[0].high_k.value() >= 2);
  // Rates of several sequences together; runs of one K are averaged.
  const SweepPlan wide =
      sweep_of("K,tps,accept\n0,400,-\n1,600,0.5\n1,600,0.5\n2,660,0.4\n", {.file = "", .batch = 8});
  CHECK(wide.sweeps[0].points.size() == 3);
  CHECK(wide.sweeps[0].points[0].step_ms == doctest::Approx(20));
  CHECK(wide.sweeps[0].points[1].step_ms == doctest::Approx(20));
  CHECK_FALSE(wide.sweeps[0].low_k);
  CHECK(wide.warnings.size() == 1);
}

TEST_CASE("commas, tabs, blanks and bars separate cells") {
  const auto speeds = [](const std::string& text) {
    const SweepPlan plan = sweep_of(text);
    CHECK(plan.sweeps[0].points.size() == 3);
    return plan.sweeps[0].points[2].step_ms;
  };
  for (const char* text : {"K,tok/s,accept\n0,50,-\n1,80,0.8\n2,90,0.6\n",
                           "K\ttok/s\taccept\n0\t50\t-\n1\t80\t0.8\n2\t90\t0.6\n",
                           "K  tok/s   accept\n0  50     -\n1  80     0.8\n2  90     0.6\n",
                           "|K|tok/s|accept|\n|-|-|-|\n|0|50|-|\n|1|80|0.8|\n|2|90|60%|\n"})
    CHECK(speeds(text) == doctest::Approx(1000 * 2.2 / 90));
}

TEST_CASE("names and cells are read as people write them") {
  const SweepPlan plan = sweep_of(
      "| spec-draft-n-max | average tk\\s | wall_s_total | aggregate_accept_rate |\n|---|---|---|---|\n"
      "| n/a - no mtp | 22.92 | 77.69 | n/a |\n| 1 | 27.58 | 68.34 | 0.8835 |\n| k=2 (default) | 29.39 | 66.00 | 0.815 |\n");
  REQUIRE(plan.sweeps[0].points.size() == 3);
  CHECK(plan.sweeps[0].points[0].step_ms == doctest::Approx(1000 / 22.92));
  CHECK(plan.sweeps[0].points[2].step_ms == doctest::Approx(1000 * 2.63 / 29.39));
  const SweepPlan percent =
      sweep_of("depth,decode,Acceptance rate (%)\nnone,50,\n1,70 tok/s,83.5\n2,80 tok/s,75 %\n");
  CHECK(percent.sweeps[0].points[1].tokens_per_step == doctest::Approx(1.835));
  CHECK(percent.sweeps[0].points[2].tokens_per_step == doctest::Approx(2.5));
}

TEST_CASE("thousands with a point are read, and other numbers with commas or multiples are refused") {
  for (const char* text : {"|K|tok/s|accept|\n|-|-|-|\n|0|1,050.5|-|\n|1|1,980.25|0.8|\n|2|2,475|0.6|\n",
                           "|K|tok/s|accept|\n|-|-|-|\n|0|950|-|\n|1|1.98k|0.8|\n|2|2475|0.6|\n",
                           "|K|tok/s|accept|\n|-|-|-|\n|0|950|-|\n|1|1 980|0.8|\n|2|2475|0.6|\n",
                           "|K|tok/s|accept|\n|-|-|-|\n|0|950|-|\n|1|45 to 53|0.8|\n|2|2475|0.6|\n"}) {
    CAPTURE(text);
    CHECK(sweep_refusal(text).find("expected one number above 0") != std::string::npos);
  }
  for (const char* text :
       {"|K|tok/s|accept|\n|-|-|-|\n|0|1,050.5|-|\n|1|1,980.25 tok/s (1.9x)|0.8|\n|2|2475 ± 3|0.6|\n",
        "K,tok/s,accept\n0,\"1,050.5\",\n1,\"1,980.25\",80 %\n2,2475,60%\n"}) {
    CAPTURE(text);
    const Sweep sweep = sweep_of(text).sweeps[0];
    CHECK(sweep.best_k == 2);
    CHECK(sweep.points[0].step_ms == doctest::Approx(1000 / 1050.5));
    CHECK(sweep.points[1].tokens_per_second == doctest::Approx(1980.25));
  }
}

TEST_CASE("the time per output token stands for the rate, and no other time does") {
  const std::string rows = "|0|20|-|80|\n|1|12.5|0.8|90|\n|2|10|0.6|95|\n";
  const SweepPlan plan = sweep_of("|K|Mean TPOT (ms)|accept|E2E (ms)|\n|-|-|-|-|\n" + rows);
  CHECK(plan.sweeps[0].best_k == 2);
  CHECK(plan.sweeps[0].points[2].tokens_per_second == doctest::Approx(100));
  CHECK(plan.sweeps[0].points[1].step_ms == doctest::Approx(1.8 * 12.5));
  // The rate of four sequences is four times that of one, whose step has the same time.
  const std::string odd = "|K|`t` (ms)|accept|E2E (ms)|\n|-|-|-|-|\n" + rows;
  const SweepPlan four = sweep_of(odd, {.file = "", .fields = {{"tpot", "`t` (ms)"}}, .batch = 4});
  CHECK(four.sweeps[0].points[2].tokens_per_second == doctest::Approx(400));
  CHECK(four.sweeps[0].points[1].step_ms == doctest::Approx(1.8 * 12.5));
  CHECK(sweep_refusal(odd, {.file = "", .fields = {{"rate", "t (ms)"}}}).find("write tpot=t (ms)") !=
        std::string::npos);
  CHECK(sweep_refusal(odd, {.file = "", .fields = {{"rate", "E2E (ms)"}}}).find("the name of a time") !=
        std::string::npos);
  // A table with both is read by its rate.
  const SweepPlan both = sweep_of("K,tok/s,TPOT (ms),accept\n0,50,1,-\n1,80,2,0.8\n");
  CHECK(both.sweeps[0].points[1].tokens_per_second == 80);
}

TEST_CASE("step times that cannot be are said, and columns may be named with their marks") {
  const auto warnings = [](const std::string& text) {
    std::string all;
    for (const std::string& one : sweep_of(text).warnings) all += one + "\n";
    return all;
  };
  // A step at K = 1 would take 31.4 ms, at K = 2 26.0 ms, and one without drafts 43.6 ms.
  const std::string impossible = warnings("K,tok/s,accept\n0,22.92,\n1,60,0.8835\n2,101,0.815\n");
  CHECK(impossible.find("a step at K = 1 would take 31.39 ms, less than the 43.63 ms without drafts") !=
        std::string::npos);
  CHECK(impossible.find("the line falls by 5.352 ms for each drafted token, which cannot be") !=
        std::string::npos);
  CHECK(warnings("K,tok/s,accept\n0,22.92,\n1,27.58,0.8835\n2,29.39,0.815\n3,27,0.7\n").empty());
  const std::string marked = "| `my_k` | **speed** | accept |\n|-|-|-|\n|0|50|-|\n|1|80|0.8|\n|2|70|0.6|\n";
  for (const char* name : {"`my_k`", "my_k"}) {
    const SweepPlan plan = sweep_of(marked, {.file = "", .fields = {{"k", name}, {"rate", "speed"}}});
    CHECK(plan.sweeps[0].best_k == 1);
    CHECK(terminal(sweep_text(plan)).find("ms, through two values of K: its error is not known") !=
          std::string::npos);
  }
}

TEST_CASE("SGLang's table of modes is read by the names of its columns") {
  const SweepPlan plan = sweep_of(
      "| Mode | Throughput | Avg latency | Avg accept len |\n|---|---:|---:|---:|\n| baseline | 460.7 tok/s | 4.4 s | nan |\n"
      "| static1 | 620.6 tok/s | 3.3 s | 2.00 |\n| static3 | 954.8 tok/s | 2.1 s | 3.88 |\n"
      "| static7 | 999.0 tok/s | 1.9 s | 6.25 |\n",
      {.file = "", .fields = {{"k", "Mode"}}});
  CHECK(plan.sweeps[0].points[2].k == 3);
  CHECK(plan.sweeps[0].points[3].step_ms == doctest::Approx(1000 * 6.25 / 999.0));
}

TEST_CASE("tables that do not say enough are refused by line and column") {
  const auto says = [](const std::string& found, const char* said) {
    CAPTURE(found);
    CHECK(found.find(said) != std::string::npos);
  };
  const std::string head = "K,tok/s,acceptance\n0,50,\n";
  says(sweep_refusal("n,speed\n1,2\n2,3\n"), ":1: \"n,speed\" lacks a column of tokens a second");
  says(sweep_refusal("K,tok/s\n1,2\n2,3\n"), "lacks a column of acceptance or accepted length");
  says(sweep_refusal("K,n,tok/s,acceptance\n1,1,2,.5\n2,2,3,.5\n"),
       "both columns of k; name one: --fields k=...");
  says(sweep_refusal(head + "1,60,0.68-0.94\n"), ":3: acceptance is \"0.68-0.94\"; expected one number");
  says(sweep_refusal(head + "1,60,1.2\n"),
       ":3: acceptance 1.2 gives 2.2 tokens a step, but K = 1 gives 1 to 2");
  says(sweep_refusal(head + "1,60,\n"), ":3: acceptance is \"\"");
  says(sweep_refusal(head + "fast,60,0.5\n"), ":3: K is \"fast\"; expected drafted tokens");
  says(sweep_refusal(head + "1.5,60,0.5\n"), ":3: K is \"1.5\"");
  says(sweep_refusal(head + "2 of 3,60,0.5\n"), ":3: K is \"2 of 3\"");
  says(sweep_refusal(head + "ngram,60,0.5\n"), ":3: K is \"ngram\"");
  says(sweep_refusal(head + "1,89.2 / 87.2,0.5\n"), ":3: tok/s is \"89.2 / 87.2\"");
  says(sweep_refusal(head + "1,0,0.5\n"), ":3: tok/s is \"0\"");
  says(sweep_refusal(head + "1,60\n"), ":3: 2 cells; the header has 3");
  says(sweep_refusal("K,tok/s,length\n1,50,3\n2,60,2\n"), ":2: length 3 gives 3 tokens a step");
  says(sweep_refusal(head + "1,60,.5\n", {.file = "", .by = "power"}), "--by power: ");
  says(sweep_refusal(head + "1,60,.5\n", {.file = "", .fields = {{"speed", "K"}}}),
       "--fields: unknown \"speed\"");
  says(sweep_refusal(head + "1,60,.5\n", {.file = "", .fields = {{"rate", "x"}}}), "no column \"x\"");
  says(sweep_refusal("cap,K,tok/s,acceptance\n600,1,60,.5\n400,1,50,.5\n"),
       ":3: K = 1 comes again; name the column that separates sweeps, --by with one of cap");
  says(sweep_refusal("K,tok/s,acceptance\n"), "1 lines; expected a header");
}
