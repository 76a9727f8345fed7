#include "serving/study/load_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "analysis/cost/cost_model.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/presets.hpp"
#include "serving/study/load_policies.hpp"

using namespace speclab;

namespace {

/// By measured times, a target step takes 10 ms and .05 per further position, and a draft run .5 ms.
LoadQuestion small_question() {
  std::vector<MeasuredPoint> target;
  std::vector<MeasuredPoint> draft;
  for (const double tokens : {1.0, 1000.0}) {
    for (const double batch : {1.0, 64.0}) {
      target.push_back({tokens, batch, 10 + 0.05 * tokens * batch});
      draft.push_back({tokens, batch, 0.5 + 0.001 * tokens * batch});
    }
  }
  LoadQuestion question;
  question.alpha = 0.8;
  question.costs = {MeasuredCost(target), MeasuredCost(draft)};
  question.cost_from = "measured";
  question.server.prompt = 50;
  question.server.output = 40;
  question.server.engine.max_sequences = 64;
  question.server.requests = 200;
  question.server.settle = 40;
  question.server.settle_after = 20;
  question.server.runs = 4;
  question.max_gamma = 5;
  return question;
}

const LoadPoint& point(const LoadPlan& plan, const std::string& policy, std::size_t rate) {
  for (const LoadPolicy& one : plan.policies) {
    if (one.name == policy) return one.points[rate];
  }
  throw std::logic_error(policy);
}

double number(const LoadPoint& point, const std::string& name) {
  const Interval* found = simulated(point, name);
  REQUIRE(found != nullptr);
  return found->estimate;
}

}  // namespace

TEST_CASE("a server that is nearly idle has the latencies of its costs") {
  LoadQuestion question = small_question();
  question.rates = {0.01};
  const LoadPlan plan = *plan_load(question, {});
  // The prompt's step, which emits a token, and 39 more steps of one position.
  const double step = 10 + 0.05;
  const double first = 10 + 0.05 * 50;
  const LoadPoint& plain = point(plan, "plain", 0);
  CHECK(number(plain, "latency mean") == doctest::Approx(first + 39 * step).epsilon(1e-3));
  CHECK(number(plain, "TTFT p95") == doctest::Approx(first).epsilon(1e-3));
  CHECK(number(plain, "TPOT p95") == doctest::Approx(step).epsilon(1e-3));
  CHECK(number(plain, "ITL p95") == doctest::Approx(step).epsilon(0.011));
  CHECK(number(plain, "drafted") == 0);
  // With speculation a round takes 10 + .05 * 4 + 3 * .501 and emits (1 - .8^4) / .2 tokens on average.
  const LoadPoint& three = point(plan, "γ = 3", 0);
  CHECK(number(three, "accepted") == doctest::Approx(0.8 + 0.64 + 0.512).epsilon(0.02));
  CHECK(number(three, "TPOT p95") < 0.6 * step);
  CHECK(three.over_plain->high < 0);
  CHECK(plan.best.front().policy != "plain");
  REQUIRE(plan.recommended.size() == 1);
  CHECK(plan.recommended[0].policy != "plain");
}

TEST_CASE("every policy of a plan is one that an engine can run") {
  // The clairvoyant looks one step ahead only and counts the time of prompts for its drafts. It is therefore
  // no bound, and no policy to compare.
  const LoadQuestion question = small_question();
  for (const LoadCandidate& one : load_candidates(question, batch_table(question, 70)))
    CHECK(one.policy.name() != "clairvoyant");
}

TEST_CASE("plans of neighbouring seeds share no run") {
  LoadQuestion question = small_question();
  question.rates = {20};
  question.server.runs = 2;
  const LoadCandidate plain = load_candidates(question, batch_table(question, 70)).front();
  std::set<double> latencies;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    double sum = 0;
    for (const std::uint64_t run : {0U, 1U}) {
      const ServingRun one =
          serve(load_server(question, plain, 70), at_rate(load_stream(question), question.server, 20),
                load_size(question, 20), run_seed(seed, run));
      const double latency = numbers_of(one, 95, {}).latency.mean;
      latencies.insert(latency);
      sum += latency;
    }
    question.seed = seed;
    CHECK(number(point(*plan_load(question, {}), "plain", 0), "latency mean") == doctest::Approx(sum / 2));
  }
  CHECK(latencies.size() == 6);
}

TEST_CASE("adaptive verification is simulated where its confidences are described") {
  LoadQuestion question = small_question();
  question.rates = {0.01};
  CHECK_THROWS_AS(point(*plan_load(question, {}), "adaptive", 0), std::logic_error);
  // Positions cost next to nothing, so drafts with uninformative confidences are all verified: gamma = 5.
  const auto latency = [&](double correlation) {
    question.server.policy =
        read(kind_of(step_policy_family()), Json{{"kind", "adaptive"}, {"correlation", correlation}},
             "/serving/policy");
    const LoadPlan plan = *plan_load(question, {});
    CHECK(number(point(plan, "adaptive", 0), "drafted") == 5);
    return std::pair{number(point(plan, "adaptive", 0), "latency mean"),
                     number(point(plan, "γ = 5", 0), "latency mean")};
  };
  const auto [adaptive, fixed] = latency(0);
  CHECK(adaptive == doctest::Approx(fixed).epsilon(1e-12));
  // If confidences tell everything about the previous drafts, budgets from them cut off accepted tokens of
  // this step.
  CHECK(latency(1).first > 1.05 * fixed);
}

TEST_CASE("the capacity is that of a full server, and a rate beyond it is overloaded") {
  LoadQuestion question = small_question();
  question.alpha = 0.3;
  // Costs grow with positions only, so drafting never pays.
  std::vector<MeasuredPoint> target;
  std::vector<MeasuredPoint> draft;
  for (const double tokens : {1.0, 1000.0}) {
    for (const double batch : {1.0, 64.0}) {
      target.push_back({tokens, batch, tokens * batch});
      draft.push_back({tokens, batch, 0.5 * tokens * batch});
    }
  }
  question.costs = {MeasuredCost(target), MeasuredCost(draft)};
  question.rates = {2, 8, 20};
  const LoadPlan plan = *plan_load(question, {});
  // A request takes 50 + 39 positions of a millisecond each.
  CHECK(plan.policies.front().capacity == doctest::Approx(1000.0 / 89).epsilon(0.03));
  CHECK(point(plan, "plain", 2).state == overloaded_state);
  CHECK(simulated(point(plan, "plain", 2), "latency mean") == nullptr);
  CHECK_FALSE(point(plan, "plain", 1).state);
  CHECK(number(point(plan, "plain", 0), "utilisation") == doctest::Approx(2 * 0.089).epsilon(0.15));
  CHECK(plan.best[2].policy.empty());
  REQUIRE(plan.recommended.size() == 1);
  CHECK(plan.recommended[0].policy == "plain");
  CHECK(plan.recommended[0].from == 2);
  CHECK(plan.recommended[0].to == 8);
  const std::string text = terminal(load_text(plan));
  CHECK(text.find("At 2 to 8 requests per second: do not speculate") != std::string::npos);
  CHECK(text.find("At 20 requests per second every policy is overloaded") != std::string::npos);
  CHECK(text.find("vllm serve TARGET_MODEL --max-num-seqs 64\n") != std::string::npos);
  CHECK(text.find("speculative") == std::string::npos);
}

TEST_CASE("runs that are too short say so, and no policy is the best by them") {
  // A request takes longer than the ten measured ones take to arrive, and none comes before them.
  LoadQuestion question = small_question();
  question.server.requests = 10;
  question.server.settle = 0;
  question.server.settle_after = 20;
  question.server.output = 2000;
  question.server.runs = 16;
  question.server.engine.max_sequences = 512;
  question.rates = {3};
  const LoadPlan plan = *plan_load(question, {});
  CHECK(point(plan, "plain", 0).state == too_short_state);
  CHECK(simulated(point(plan, "plain", 0), "latency mean") == nullptr);
  CHECK(plan.best.front().policy.empty());
  CHECK(plan.recommended.empty());
  CHECK(terminal(load_text(plan)).find("every policy is too short") != std::string::npos);
}

TEST_CASE("bursts of one mean rate make waits longer, and targets are counted") {
  LoadQuestion question = small_question();
  question.rates = {45};
  const LoadPlan even = *plan_load(question, {});
  question.server.bursts = 8;
  question.server.burst_seconds = 2;
  question.server.ttft_ms = 60;
  const LoadPlan bursts = *plan_load(question, {});
  CHECK(number(point(bursts, "plain", 0), "TTFT p95") > 1.3 * number(point(even, "plain", 0), "TTFT p95"));
  CHECK(simulated(point(even, "plain", 0), "targets kept") == nullptr);
  CHECK(number(point(bursts, "plain", 0), "targets kept") < 1);
  CHECK(number(point(bursts, "plain", 0), "targets kept") > 0.3);
  // Few runs differ much, but no share is above 1 and no time below 0.
  question.server.runs = 2;
  const LoadPlan few = *plan_load(question, {});
  int cut = 0;
  for (const LoadPolicy& policy : few.policies) {
    for (const ServingNumber& one : policy.points.front().numbers) {
      if (!one.simulated) continue;
      CHECK(one.simulated->low >= 0);
      CHECK(one.simulated->low <= one.simulated->estimate);
      cut += one.simulated->low == 0 && one.simulated->high > one.simulated->estimate ? 1 : 0;
      if (one.name == "targets kept") CHECK(one.simulated->high <= 1);
    }
  }
  CHECK(cut > 0);
  CHECK(load_figures(few).size() == 1);
}

TEST_CASE("the highest rate that keeps targets does so below it and not above") {
  LoadQuestion question = small_question();
  question.server.tpot_ms = 11.2;
  question.rates = {10, 40, 70};
  const LoadPlan plan = *plan_load(question, {});
  for (const std::string name : {"plain", "γ = 1"}) {
    CAPTURE(name);
    const auto policy = std::find_if(plan.policies.begin(), plan.policies.end(),
                                     [&](const LoadPolicy& one) { return one.name == name; });
    REQUIRE(policy->highest);
    CHECK(policy->highest->high < policy->capacity);
    // Repeats the runs at a rate near it. For a single rate no highest rate is searched.
    const auto kept_at = [&](double rate) {
      LoadQuestion near = question;
      near.rates = {rate};
      const LoadPlan there = *plan_load(near, {});
      CHECK_FALSE(there.policies.front().highest);
      return number(point(there, name, 0), "targets kept");
    };
    CHECK(kept_at(0.93 * policy->highest->low) > 0.95);
    CHECK(kept_at(1.07 * policy->highest->high) < 0.95);
  }
  CHECK(terminal(load_text(plan)).find("The highest rate at which 95% of requests meet the SLOs") !=
        std::string::npos);
  question.server.tpot_ms = 1;  // less than the time of a step
  const LoadPlan none = *plan_load(question, {});
  CHECK_FALSE(none.policies.front().highest);
}

TEST_CASE("the table by batch has the best gamma for the mean context") {
  LoadQuestion question = small_question();
  const auto named = [](const auto& presets, const std::string& name) {
    return *std::find_if(presets.begin(), presets.end(), [&](const auto& one) { return one.name == name; });
  };
  Machine machine;
  machine.device = named(device_presets(), "h100-sxm");
  question.costs = {RooflineCost{machine, named(model_presets(), "llama-3.1-8b")},
                    RooflineCost{machine, named(model_presets(), "llama-3.2-1b")}};
  question.alpha = 0.6;
  question.server.prompt = 500;
  question.server.output = 254;
  question.max_gamma = 8;
  question.server.engine.max_sequences = 256;
  question.rates = {0.1};
  question.server.requests = 10;
  question.server.settle = 2;
  question.server.settle_after = 1;
  question.server.runs = 2;
  const std::vector<BatchRange> table = plan_load(question, {})->table;
  const auto wanted =
      gamma_by_batch(iid_tokens(0.6, question.max_gamma), question.costs, 500 + 254 / 2.0, 256);
  REQUIRE(table.size() == wanted.size());
  const auto row = [](const BatchRange& one) { return std::tuple(one.first, one.last, one.gamma); };
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(row(table[i]) == row(wanted[i]));
}
