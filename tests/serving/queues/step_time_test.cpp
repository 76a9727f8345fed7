// Compares times of steps with sums by hand.
#include "serving/queues/step_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "serving/queues/run_numbers.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

TEST_CASE("a draft of sparse caches reads at most its budget, and of a large one all of them") {
  constexpr double draft_run = 0.3;
  constexpr double token = 0.01;
  constexpr std::uint32_t prompt = 100;
  const auto window = [&](std::uint32_t budget) {
    ServerOptions options;
    options.engine.draft_budget = budget;
    options.engine.time =
        step_time(LinearStep{.step = 2, .draft_run = draft_run, .draft_context_token = token});
    options.policy = FixedGamma{3};
    options.acceptance = iid_law(1);
    return serve(options, {ClosedLoop{2}, FixedLength{prompt}, FixedLength{41}}, {2, 0, 0}, 1).window_ms;
  };
  // The prompts, then ten rounds of four tokens, each over two caches that grow by four.
  const auto by_hand = [&](double budget) {
    double ms = 2;
    for (int round = 0; round < 10; ++round)
      ms += 2 + 3 * (draft_run + token * 2 * std::min<double>(prompt + 4 * round, budget));
    return ms;
  };
  for (const std::uint32_t budget : {1U, 64U, 110U, 136U})
    CHECK(window(budget) == doctest::Approx(by_hand(budget)));
  CHECK(window(136) == window(0));
  CHECK(window(1000000) == window(0));
  CHECK(window(135) < window(0));
}

TEST_CASE("a step is the sum of its terms") {
  const LinearStep costs{3, 0.1, 0.05, 0.01, 0.001, 0.6, 0.7, 0, 0.4, 0.02, 0.003};
  StepWork work{.decoding = 5, .verified = 20, .prefilling = 1, .prefilled = 50, .context = 900};
  work.draft_context = 400;
  work.drafts = 3;
  const double target = 3 + 0.1 * 5 + 0.05 * 20 + 0.01 * 50 + 0.001 * 900 + 0.6 + 0.7;
  const double draft = 3 * (0.4 + 0.02 * 5 + 0.003 * 400);
  CHECK(step_time(costs)(work) == doctest::Approx(target + draft));
  work.prefilling = work.prefilled = 0;
  CHECK(step_time(costs)(work) == doctest::Approx(target + draft - 0.01 * 50 - 0.6));
}

TEST_CASE(
    "a step of two models is the target's run, the draft's runs, and the prompts that the draft reads") {
  const auto grid = [](double a, double b) {
    std::vector<MeasuredPoint> points;
    for (const double tokens : {1.0, 1000.0}) {
      for (const double batch : {1.0, 64.0}) points.push_back({tokens, batch, a + b * tokens * batch});
    }
    return MeasuredCost(points);
  };
  const CostPair costs{grid(10, 0.05), grid(0.5, 0.002)};
  const StepExtras extras{1.5, true};
  StepWork work{.decoding = 4, .verified = 16, .context = 900};
  work.drafts = 3;
  const double drafted = 3 * (0.5 + 0.002 * 4);
  CHECK(step_time(costs, extras)(work) == doctest::Approx(1.5 + 10 + 0.05 * 16 + drafted));
  work.prefilling = 2;
  work.prefilled = 60;
  const double reads = 0.5 + 0.002 * 60;
  CHECK(step_time(costs, extras)(work) == doctest::Approx(1.5 + 10 + 0.05 * 76 + drafted + reads));
  work.drafts = 0;
  CHECK(step_time(costs, extras)(work) == doctest::Approx(1.5 + 10 + 0.05 * 76 + 0.5 + 0.002 * 4 + reads));
}

TEST_CASE("in a mixed step the draft pays for the caches of those that decode, and prompts for their own") {
  // Only caches take time, so each part can be computed by hand: four sequences of 1,000 tokens decode, and a
  // fifth reads the last 100 tokens of a prompt of 5,000.
  Machine machine;
  machine.device = {.name = "one", .flops_16bit = 1e18, .bandwidth = 1e11};
  Transformer model{.layers = 2, .hidden = 256, .heads = 8, .kv_heads = 8, .head_size = 32};
  model.vocab = 1000;
  const CostPair costs{ConstantCost{0}, RooflineCost{machine, model}};
  StepWork work{.decoding = 4, .verified = 16, .prefilling = 1, .prefilled = 100, .context = 8900};
  work.decoding_context = work.draft_context = 4000;
  work.drafts = 3;
  const auto run = [&](double tokens, double sequences, double context) {
    return 1000 * run_time(machine, model, {tokens, sequences, context}).total();
  };
  CHECK(step_time(costs, {})(work) == doctest::Approx(3 * run(1, 4, 1000) + run(100, 1, 4900)));
  // Planted: caches shared out among all five sequences, and no cache before the prompt.
  CHECK(std::abs(3 * run(1, 4, 8900 / 5.0) + run(100, 1, 0) - step_time(costs, {})(work)) >
        .01 * step_time(costs, {})(work));
}

TEST_CASE("what a step says of caches: those that are read, and those of sequences that decode") {
  // Each request has a prompt of 100 tokens, read in chunks of 64, and then decodes one token at a time. Two
  // requests; the second begins to decode later.
  std::vector<StepWork> steps;
  ServerOptions options;
  options.engine.step_tokens = 64;
  options.engine.time = [&](const StepWork& work) {
    steps.push_back(work);
    return 1.0;
  };
  options.policy = FixedGamma{1};
  options.acceptance = iid_law(0);
  serve(options, {ClosedLoop{2}, FixedLength{100}, FixedLength{4}}, {2, 0, 0}, 1);
  REQUIRE(steps.size() >= 4);
  // Step 0 reads 64 tokens of the first prompt; step 1 its last 36 and 28 of the second; in step 2 the first
  // request decodes while the second continues from 28.
  CHECK(steps[0].context == 0);
  CHECK(steps[1].prefilling == 2);
  CHECK(steps[1].context == 64);
  CHECK(steps[1].decoding_context == 0);
  CHECK(steps[1].draft_context == 0);
  CHECK(steps[2].decoding == 1);
  CHECK(steps[2].decoding_context == 100);
  CHECK(steps[2].draft_context == 100);
  CHECK(steps[2].context == 128);
}

TEST_CASE("a drafter of one run drafts once a step, and reads prompts as far as it has a cache") {
  const std::vector<MeasuredPoint> by_tokens{{1, 1, 2}, {9, 1, 4}};
  const CostPair costs{ConstantCost{10}, MeasuredCost(by_tokens), DraftRuns::a_round};
  StepWork work{.decoding = 1, .verified = 6, .context = 100};
  work.drafts = 5;
  CHECK(step_time(costs, {})(work) == doctest::Approx(10 + 3));
  work.drafts = 0;
  CHECK(step_time(costs, {})(work) == doctest::Approx(10));

  Machine machine;
  machine.device = {.name = "one", .flops_16bit = 1e12, .bandwidth = 1e11};
  Transformer heads{.layers = 1, .hidden = 1024, .vocab = 32000};
  heads.head = HeadKind::medusa;
  heads.draft_vocab = 32000;
  Transformer block{.layers = 2, .hidden = 1024, .heads = 8, .kv_heads = 8, .head_size = 128};
  block.feed_forward = 4096;
  block.head = HeadKind::dflash;
  block.fused = 3 * 1024;
  block.vocab = block.draft_vocab = 32000;
  StepWork prompts{.decoding = 2, .verified = 2, .prefilling = 1, .prefilled = 500, .context = 100};
  const auto of_draft = [&](const Transformer& head) {
    const CostPair pair{ConstantCost{10}, RooflineCost{machine, head}};
    return step_time(pair, {0, true})(prompts) - 10;
  };
  CHECK(of_draft(heads) == 0);
  const double prompt = 1000 * reading_time(machine, block, {500, 1, 0}).total();
  const double tokens = 1000 * reading_time(machine, block, {1, 2, 0}).total();
  CHECK(of_draft(block) == doctest::Approx(prompt + tokens));
  CHECK(prompt < 0.2 * 1000 * run_time(machine, block, {500, 1, 0}).total());
}

TEST_CASE("a curve of tokens is a line between its points, and goes on as it ends") {
  LinearStep costs{.step = 1, .by_tokens = {{4, 10}, {8, 12}, {16, 20}}};
  const auto ms = [&](double verified, double prefilled) {
    return step_time(costs)({.decoding = 1, .verified = verified, .prefilled = prefilled});
  };
  CHECK(ms(1, 0) == doctest::Approx(11));
  CHECK(ms(4, 0) == doctest::Approx(11));
  CHECK(ms(4, 2) == doctest::Approx(12));
  CHECK(ms(8, 0) == doctest::Approx(13));
  CHECK(ms(10, 2) == doctest::Approx(17));
  CHECK(ms(30, 2) == doctest::Approx(1 + 20 + 16));
  costs.by_tokens.resize(1);
  CHECK(ms(30, 2) == doctest::Approx(11));
}

}  // namespace
