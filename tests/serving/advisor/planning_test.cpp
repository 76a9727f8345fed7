#include "serving/advisor/planning.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/plan_text.hpp"
#include "serving/advisor/presets.hpp"
#include "serving/server/acceptance_law.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Drafter given(double alpha, double c) {
  return {{.costs = {ConstantCost{1}, ConstantCost{c}}, .cost_from = "given"},
          {{alpha, alpha, alpha}, "given"}};
}

Machine h100s(int devices) {
  Machine machine;
  machine.device = device_named("h100-sxm", "");
  machine.devices = devices;
  return machine;
}

Drafter served(double alpha, int devices) {
  const Machine machine = h100s(devices);
  return {{.draft = "small",
           .costs = {RooflineCost{machine, model_named("llama-3.1-70b", "")},
                     RooflineCost{machine, model_named("llama-3.2-1b", "")}},
           .cost_from = "roofline"},
          {{alpha, alpha, alpha}, "given"}};
}

}  // namespace

TEST_CASE("a plan of alpha and c is Theorem 3.8's, with its bounds") {
  for (const double alpha : {0.3, 0.75, 0.9}) {
    const DrafterPlan plan = make_plan(given(alpha, 0.02), {});
    const OptimalGamma best = optimal_gamma(alpha, 0.02);
    CHECK(plan.best.gamma == *best.gamma);
    CHECK(plan.best.speedup.estimate == doctest::Approx(*best.speedup));
    CHECK(plan.bounds.guaranteed_speedup.value() == doctest::Approx((1 + alpha) / 1.02));
    const double oracle = 1 / (1 - alpha + 0.02 * alpha);
    CHECK(plan.bounds.upper_bound_drafting_paid == doctest::Approx(oracle));
    CHECK(plan.bounds.adaptive_gain == doctest::Approx(oracle / *best.speedup - 1));
    CHECK_FALSE(plan.batches);
    CHECK_FALSE(plan.device);
    CHECK(terminal(plan_text(plan)).find("expected speedup") != std::string::npos);
  }
}

TEST_CASE("the bound with drafting paid is the closed form's when verifying is free") {
  // Measured times that never change are constant costs in another form.
  const MeasuredPoint point[] = {{1, 1, 1}, {1, 512, 1}};
  Drafter drafter = given(0.75, 0.02);
  drafter.costs.target = MeasuredCost(point);
  PlanSettings settings;
  settings.max_gamma = 200;
  const DrafterPlan plan = make_plan(drafter, settings);
  CHECK(plan.bounds.upper_bound_drafting_paid == doctest::Approx(1 / (0.25 + 0.015)));
  CHECK(plan.best.gamma == *optimal_gamma(0.75, 0.02).gamma);
  CHECK(plan.batches);
}

TEST_CASE("without a finite optimum the plan stops within 1% of the limit, or at the largest considered") {
  const DrafterPlan free = make_plan(given(0.8, 0), {});
  const int gamma = free.best.gamma;
  CHECK(speedup(0.8, gamma, 0) >= 0.99 * 5);
  CHECK(speedup(0.8, gamma - 1, 0) < 0.99 * 5);
  CHECK(make_plan(given(1, 0), {}).best.gamma == 64);
  const DrafterPlan beyond = make_plan(given(0.999, 0.0001), {});
  CHECK(beyond.best.gamma == 64);
  const int unbounded = *optimal_gamma(0.999, 0.0001).gamma;
  CHECK(beyond.best.reason.find(std::to_string(unbounded)) != std::string::npos);
  CHECK(make_plan(given(0.5, 10), {}).bounds.upper_bound_drafting_paid == 1);
  const DrafterPlan none = make_plan(given(0.1, 0.2), {});
  CHECK(none.best.gamma == 0);
  CHECK(none.best.speedup.estimate == 1);
  CHECK(drafter_settings(given(0.1, 0.2), none).empty());
}

TEST_CASE("an interval of alpha becomes one of the speedup") {
  Drafter drafter = given(0.75, 0.02);
  drafter.acceptance.alpha = {0.75, 0.7, 0.8};
  const BestGamma best = make_plan(drafter, {}).best;
  const int gamma = best.gamma;
  CHECK(best.speedup.low == doctest::Approx(speedup(0.7, gamma, 0.02)));
  CHECK(best.speedup.high == doctest::Approx(speedup(0.8, gamma, 0.02)));
}

TEST_CASE("a log whose acceptance decays is planned by its positions, a geometric one by the formula") {
  // The counts are exact expectations: 10,000 rounds of 6 tokens, in which each position keeps its share of
  // rounds.
  const auto totals = [](const std::vector<double>& random) {
    std::string text = "position,drafted,accepted\n";
    double reached = 10000;
    for (std::size_t i = 0; i < random.size(); ++i) {
      reached = std::round(reached * random[i]);
      text += std::to_string(i + 1) + ",10000," + std::to_string(std::lround(reached)) + "\n";
    }
    return text;
  };
  const auto plan_of = [&](const std::vector<double>& random) {
    Drafter drafter = given(0, 0.02);
    drafter.acceptance = logged_acceptance(read_acceptance(TempFile(totals(random)).path()), 0.95);
    return make_plan(drafter, {});
  };
  const DrafterPlan decaying = plan_of({0.9, 0.8, 0.6, 0.4, 0.2, 0.1});
  CHECK(decaying.best.by == AcceptanceModel::positions);
  CHECK(decaying.log->iid_rejected);
  // By hand: 1 + .9 + .72 + .432 + .1728 tokens at gamma 4; the fifth adds at most .03456.
  CHECK(decaying.best.gamma == 4);
  CHECK(decaying.best.speedup.estimate == doctest::Approx(3.2248 / 1.08));
  CHECK(decaying.log->other_choice.gamma > 4);
  // Drafts longer than those of the log may exceed the bound, and the table says so.
  CHECK(decaying.bounds.longest_draft == 6);
  CHECK(terminal(plan_text(decaying)).find("drafts of at most 6 tokens") != std::string::npos);
  const DrafterPlan geometric = plan_of(std::vector<double>(10, 0.7));
  CHECK(geometric.best.by == AcceptanceModel::iid);
  CHECK_FALSE(geometric.log->iid_rejected);
  CHECK(geometric.best.gamma == *optimal_gamma(0.7, 0.02).gamma);
  CHECK_FALSE(geometric.bounds.longest_draft);
}

TEST_CASE("rounds that depend on one another are planned along the text, but of heads by positions") {
  const AcceptanceDraws draws(TextLaw{{0.97, 0.35}, {0.08, 0.15}}, 3);
  RequestAcceptance own = draws.begin(0);
  std::string text = "drafted,accepted\n";
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const std::uint32_t accepted = draws.accepted(own, 0, i, 7);
    draws.advance(own, 0, accepted + 1);
    text += "7," + std::to_string(accepted) + "\n";
  }
  Drafter drafter = given(0, 0.1);
  drafter.acceptance = logged_acceptance(read_acceptance(TempFile(text).path()), 0.95);
  const auto three = [](const DrafterPlan& plan) {
    return std::find_if(plan.gammas.begin(), plan.gammas.end(),
                        [](const GammaRow& row) { return row.gamma == 3; })
        ->tokens_per_target_step;
  };
  const DrafterPlan plan = make_plan(drafter, {});
  CHECK(plan.best.by == AcceptanceModel::replay);
  // The interval of alpha does not take these rounds as independent.
  CHECK(plan.alpha.value.low == plan.log->alpha_by_stretches->low);
  CHECK(plan.alpha.value.high > drafter.acceptance.alpha.high);
  const double wanted = 1 + mean_accepted(TextLaw{{0.97, 0.35}, {0.08, 0.15}}, 3);
  CHECK(three(plan) == doctest::Approx(wanted).epsilon(0.02));
  CHECK(terminal(plan_text(plan)).find("along the logged text") != std::string::npos);
  // By the positions of the same log it is more than 5% lower.
  drafter.method = DraftMethod::eagle3;
  const DrafterPlan by_positions = make_plan(drafter, {});
  CHECK(by_positions.best.by == AcceptanceModel::positions);
  CHECK(three(by_positions) < 0.95 * wanted);
  // A policy that knows each round drafts only what will be accepted, so its bound is above every gamma's
  // speedup.
  CHECK(plan.bounds.upper_bound_drafting_paid > plan.best.speedup.estimate);
}

TEST_CASE("a plan on a device: costs, batches, memory") {
  PlanSettings settings;
  settings.at = {1, 1024};
  const Drafter drafter = served(0.75, 4);
  const DrafterPlan plan = make_plan(drafter, settings);
  CHECK(plan.costs.c == doctest::Approx(draft_cost(drafter.costs, settings.at)));
  const DeviceFindings& device = plan.device.value();
  CHECK_FALSE(device.compute_bound);
  CHECK(device.memory.largest_batch.value() > 100);
  const double gain = device.speculative_tokens_per_second / device.plain_tokens_per_second;
  CHECK(gain == doctest::Approx(plan.best.speedup.estimate));
  CHECK(plan.batches->back().last == device.memory.largest_batch);
  CHECK(plan.batches->front().gamma == plan.best.gamma);
  // 141 GB of weights do not fit into one device with 80 GB, and the text says so.
  const DrafterPlan small = make_plan(served(0.75, 1), settings);
  CHECK(small.device->memory.largest_batch == -1);
  CHECK(small.fits == false);
  CHECK(drafter_settings(served(0.75, 1), small).empty());
  CHECK_FALSE(drafter_settings(served(0.75, 4), plan).empty());
  CHECK_FALSE(small.batches);
  const std::string lead = terminal(plan_text(small));
  CHECK(lead.starts_with("DOES NOT FIT: 143.6 GB of weights are more than 72 GB"));
  CHECK(lead.find("2 devices would hold a batch of 1.") != std::string::npos);
  CHECK(plan.fits == true);
  CHECK_FALSE(plan.fits_reason);
  // A draft that hardly helps stops paying at some batch.
  const std::string text = terminal(plan_text(make_plan(served(0.4, 4), settings)));
  CHECK(text.find("Switch speculation off beyond batch") != std::string::npos);
}

TEST_CASE("what an interval covers and which gamma pays at which batch stand beside the numbers") {
  Drafter drafter = served(0.75, 4);
  drafter.acceptance.alpha = {0.75, 0.74, 0.76};
  PlanSettings settings;
  settings.at = {1, 1024};
  const DrafterPlan plan = make_plan(drafter, settings);
  REQUIRE(plan.best.speedup_at_other_costs);
  CHECK(plan.best.speedup_at_other_costs->low < plan.best.speedup.low);
  CHECK(plan.best.speedup_at_other_costs->high > plan.best.speedup.high);
  // The best gamma, kept fixed, pays at fewer batches than the best gamma of each batch; text and headline
  // say so.
  REQUIRE(plan.batch_limit.value() < plan.batches->back().last);
  REQUIRE(plan.batches->back().gamma > 0);
  const std::string by_batch = fmt::format(
      "With the best γ of each batch speculation pays at every batch up to {}", plan.batches->back().last);
  const std::string fixed = fmt::format("With γ = {} at every batch it pays up to batch {} only.",
                                        plan.best.gamma, *plan.batch_limit);
  for (const std::string& text : {terminal(plan_text(plan)), plan_headline(plan)}) {
    CAPTURE(text);
    CHECK(text.find(by_batch) != std::string::npos);
    CHECK(text.find(fixed) != std::string::npos);
    CHECK((text.find("covers acceptance only") != std::string::npos ||
           text.find("by acceptance alone") != std::string::npos));
  }
  CHECK_FALSE(make_plan(given(0.75, 0.02), {}).best.speedup_at_other_costs);
}

TEST_CASE("a batch above the largest that fits is no plan, with what would fit") {
  PlanSettings settings;
  settings.at = {500, 1024};
  const DrafterPlan plan = make_plan(served(0.75, 4), settings);
  CHECK(plan.fits == false);
  CHECK(drafter_settings(served(0.75, 4), plan).empty());
  CHECK(plan.fits_reason->find("above the largest, 391 sequences") != std::string::npos);
  CHECK(plan.fits_reason->find("8 devices would hold a batch of 500.") != std::string::npos);
  // Batches that fit are still planned for.
  CHECK(plan.batches->back().last == 391);
  CHECK(make_plan(served(0.75, 5), settings).fits == true);
  CHECK_FALSE(make_plan(given(0.75, 0.02), settings).fits);
  // The largest batch that fits still has a plan.
  settings.at.batch = 391;
  CHECK(make_plan(served(0.75, 4), settings).fits == true);
  settings.at.batch = 392;
  CHECK(make_plan(served(0.75, 4), settings).fits == false);
}

TEST_CASE("unknown names are answered with the nearest") {
  CHECK_THROWS_WITH_AS(
      device_named("h100-sxn", "/device"),
      "unknown device \"h100-sxn\" (or give a .json file with its numbers); did you mean \"h100-sxm\"?",
      ConfigError);
  CHECK_THROWS_WITH_AS(
      model_named("lama-3.1-70b", "/target"),
      "unknown model \"lama-3.1-70b\" (or give the path of a config.json); did you mean \"llama-3.1-70b\"?",
      ConfigError);
  CHECK(preset_lists()[0].json().size() == device_presets().size());
  CHECK(preset_lists()[1].text().find("config.json of Qwen/Qwen2.5-7B") != std::string::npos);
}

TEST_CASE("no gamma beyond the longest draft of a log is planned, and a better one is named to be tried") {
  Drafter drafter = given(0, 0.05);
  const std::string log = "position,drafted,accepted\n1,1000,1000\n2,1000,1000\n3,1000,1000\n";
  drafter.acceptance = logged_acceptance(acceptance_in(log, "log"), 0.95);
  const DrafterPlan plan = make_plan(drafter, {});
  CHECK(plan.best.gamma == 3);
  CHECK(plan.best.speedup.high == doctest::Approx(4 / 1.15));
  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0].find("gamma = 64 gives 15.48") != std::string::npos);
  CHECK(plan.warnings[0].find("Log about 400 rounds of 64 drafted tokens") != std::string::npos);
  const std::string settings = settings_text(drafter_settings(drafter, plan));
  CHECK(settings.find("\"num_speculative_tokens\": 3") != std::string::npos);
  // Costs by which the best gamma lies within the log need no warning.
  drafter.costs.draft = ConstantCost{2};
  CHECK(make_plan(drafter, {}).warnings.empty());
}
