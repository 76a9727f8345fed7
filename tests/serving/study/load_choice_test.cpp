// Headline, table and settings of `speclab plan load` agree.
#include "serving/study/load_choice.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/named_entry.hpp"
#include "serving/advisor/presets.hpp"
#include "serving/study/load_layouts.hpp"

using namespace speclab;

namespace {

/// A target step takes `fixed` ms and `a_token` ms for each position, a draft run a twentieth of it.
LoadQuestion question_of(double fixed, double a_token, double alpha) {
  std::vector<MeasuredPoint> target;
  std::vector<MeasuredPoint> draft;
  for (const double tokens : {1.0, 1000.0}) {
    for (const double batch : {1.0, 64.0}) {
      target.push_back({tokens, batch, fixed + a_token * tokens * batch});
      draft.push_back({tokens, batch, (fixed + a_token * tokens * batch) / 20});
    }
  }
  LoadQuestion question;
  question.alpha = alpha;
  question.costs = {MeasuredCost(target), MeasuredCost(draft)};
  question.cost_from = "measured times";
  question.server.prompt = 50;
  question.server.output = 40;
  question.server.engine.max_sequences = 32;
  question.server.requests = 60;
  question.server.settle = 20;
  question.server.settle_after = 10;
  question.server.runs = 3;
  question.max_gamma = 4;
  return question;
}

bool has_settings(const std::string& policy) {
  return policy == "plain" || policy == "table by batch" || policy.rfind("γ = ", 0) == 0;
}

/// Returns the gamma that a server's line asks for, 0 for none.
int gamma_in(const ServerSetting& setting) {
  static const std::regex forms(
      R"re("num_speculative_tokens": (\d+)|--speculative-num-steps (\d+)|max_draft_len=(\d+)|--spec-draft-n-max (\d+))re");
  std::smatch found;
  if (!std::regex_search(setting.lines.at(0), found, forms)) return 0;
  for (std::size_t group = 1; group < found.size(); ++group) {
    if (found[group].matched) return std::stoi(found[group].str());
  }
  return 0;
}

/// Returns how the settings of one advice differ from it.
std::string disagreement_of_setting(const LoadPlan& plan, const LoadAdvice& advice,
                                    const ServerSetting& setting) {
  const int gamma = gamma_in(setting);
  const std::string& line = setting.lines.at(0);
  const bool by_batch = line.find("per_batch_size") != std::string::npos ||
                        line.find("draft_len_schedule") != std::string::npos;
  const std::string name = setting.server + ": " + line;
  if (line.find(fmt::format("{}", plan.max_sequences)) == std::string::npos) return name + ": sequences";
  if (advice.policy == "plain") return gamma == 0 && !by_batch ? "" : name + ": speculates";
  if (advice.policy != "table by batch")
    return fmt::format("γ = {}", gamma) == advice.policy && !by_batch ? "" : name + ": another γ";
  const bool can = setting.server == "vLLM" || setting.server == "TensorRT-LLM";
  if (can && plan.table.size() > 1) {
    for (const BatchRange& range : plan.table) {
      const std::string row = setting.server == "vLLM"
                                  ? fmt::format("[{}, {}, {}]", range.first, range.last, range.gamma)
                                  : fmt::format("{}: {}", range.last, range.gamma);
      if (range.gamma > 0 && line.find(row) == std::string::npos) return name + ": lacks " + row;
    }
    return "";
  }
  // The best fixed gamma of these rates, by the sum of logarithms of latencies where the targets are met.
  double least = 1e300;
  std::string best;
  for (const LoadPolicy& policy : plan.policies) {
    if (!has_settings(policy.name) || policy.name == "table by batch") continue;
    double sum = 0;
    for (const LoadPoint& point : policy.points) {
      if (point.rate < advice.from || point.rate > advice.to) continue;
      sum += point.state
                 ? 1e300
                 : std::log(mean_latency(point)) +
                       (kept_share(point) < plan.percentile / 100 ? 1e6 * (1 - kept_share(point)) : 0);
    }
    if (sum >= least) continue;
    least = sum;
    best = policy.name;
  }
  return best == (gamma == 0 ? "plain" : fmt::format("γ = {}", gamma)) ? "" : name + ": best is " + best;
}

/// Returns where headline, table, settings and simulated numbers of a plan contradict one another. It uses
/// the numbers of the plan alone.
std::vector<std::string> disagreements(const LoadPlan& plan) {
  std::vector<std::string> found;
  const std::string headline = load_headline(plan);
  for (std::size_t r = 0; r < plan.best.size(); ++r) {
    const double rate = plan.best[r].rate;
    const LoadPolicy* const own = recommended_at(plan, rate);
    const bool anyone = std::ranges::any_of(
        plan.policies, [&](const LoadPolicy& one) { return has_settings(one.name) && !one.points[r].state; });
    if (anyone != (own != nullptr)) found.push_back(fmt::format("rate {}: no advice", rate));
    if (own == nullptr) continue;
    if (!has_settings(own->name) || !own->settable) found.push_back(own->name + " has no settings");
    const LoadPoint& point = own->points[r];
    if (point.state) found.push_back(fmt::format("rate {}: {} is {}", rate, own->name, *point.state));
    if (point.state) continue;
    const double wanted = plan.percentile / 100;
    for (const LoadPolicy& other : plan.policies) {
      const LoadPoint& theirs = other.points[r];
      if (!has_settings(other.name) || theirs.state) continue;
      const bool meets = kept_share(point) >= wanted;
      const bool meet = kept_share(theirs) >= wanted;
      if (meet && !meets) found.push_back(fmt::format("rate {}: {} meets the targets", rate, other.name));
      const auto* ours = simulated(point, "latency mean");
      if (meet && meets && simulated(theirs, "latency mean")->high < ours->low &&
          mean_latency(theirs) < 0.95 * mean_latency(point))
        found.push_back(fmt::format("rate {}: {} is faster", rate, other.name));
    }
  }
  for (const LoadAdvice& advice : plan.recommended) {
    const std::string said = fmt::format("At {}: {}{}.", rate_words(advice.from, advice.to),
                                         advice.policy == "plain" ? "do not speculate (" : "",
                                         advice.policy == "plain" ? "plain)" : advice.policy);
    if (headline.find(said) == std::string::npos) found.push_back("the headline lacks: " + said);
    const std::string purpose = fmt::format("{} at {}:", advice.policy, rate_words(advice.from, advice.to));
    int servers = 0;
    for (const ServerSetting& setting : plan.settings) {
      if (!setting.purpose.starts_with(purpose)) continue;
      ++servers;
      const std::string problem = disagreement_of_setting(plan, advice, setting);
      if (!problem.empty()) found.push_back(problem);
    }
    if (servers != 4) found.push_back(fmt::format("{} settings for {}", servers, purpose));
  }
  if (plan.settings.size() != 4 * plan.recommended.size()) found.emplace_back("settings of no advice");
  if (headline.find("is not saturated") != std::string::npos &&
      headline.find("overloaded") != std::string::npos)
    found.emplace_back("the server is not saturated, and it is overloaded");
  return found;
}

}  // namespace

TEST_CASE("headline, table and settings agree over rates, acceptances and targets") {
  int advised = 0;
  std::set<std::string> policies;
  LoadPlan with_speculation;
  for (const double a_token : {0.02, 0.3}) {
    for (const double alpha : {0.15, 0.5, 0.85}) {
      for (const double tpot_ms : {0.0, 9.0, 15.0}) {
        LoadQuestion question = question_of(8, a_token, alpha);
        if (tpot_ms > 0) question.server.tpot_ms = tpot_ms;
        question.rates = {2, 10, 25, 40, 55, 80};
        const LoadPlan plan = *plan_load(question, {});
        CAPTURE(a_token);
        CAPTURE(alpha);
        CAPTURE(tpot_ms);
        CAPTURE(load_headline(plan));
        CHECK(disagreements(plan) == std::vector<std::string>{});
        for (const LoadAdvice& one : plan.recommended) policies.insert(one.policy);
        advised += static_cast<int>(plan.recommended.size());
        if (plan.recommended.front().policy != "plain") with_speculation = plan;
      }
    }
  }
  CHECK(advised >= 18);
  CHECK(policies.contains("plain"));
  CHECK(policies.size() > 2);

  // Planted disagreements are found.
  REQUIRE(!with_speculation.recommended.empty());
  LoadPlan planted = with_speculation;
  planted.recommended.front().policy = "plain";
  CHECK(!disagreements(planted).empty());
  planted = with_speculation;
  std::swap(planted.settings.front().lines, planted.settings.back().lines);
  planted.settings.front().lines = {"vllm serve model --max-num-seqs 32"};
  CHECK(!disagreements(planted).empty());
  planted = with_speculation;
  for (ServerSetting& one : planted.settings) one.purpose = "γ = 1 at no rate";
  CHECK(!disagreements(planted).empty());
  planted = with_speculation;
  for (LoadPolicy& one : planted.policies) {
    if (one.name != "plain") continue;
    for (LoadPoint& point : one.points) {
      for (ServingNumber& number : point.numbers) {
        if (number.name == "latency mean" && number.simulated) number.simulated = Interval{1, 1, 1};
      }
    }
  }
  CHECK(!disagreements(planted).empty());
}

TEST_CASE("a recommendation has as few stretches of rates as brute force finds") {
  // Policies with random latencies, some overloaded, in runs that hardly vary.
  std::mt19937 random(7);
  const std::vector<std::string> names{"plain", "γ = 1", "γ = 2", "table by batch", "goodput"};
  int several = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t rates = 1 + random() % 6;
    LoadPlan plan;
    PolicyRuns runs;
    for (const std::string& name : names) {
      LoadPolicy& policy = plan.policies.emplace_back();
      policy.name = name;
      policy.settable = has_settings(name);
      runs.emplace_back();
      for (std::size_t r = 0; r < rates; ++r) {
        LoadPoint& point = policy.points.emplace_back();
        point.rate = static_cast<double>(r + 1);
        const double value = 100 + 3.0 * static_cast<double>(random() % 4);
        auto& own = runs.back().emplace_back(4);
        for (RunNumbers& run : own) run.latency.mean = value + 1e-12 * static_cast<double>(random());
        if (random() % 8 == 0) point.state = overloaded_state;
        point.numbers = {{"latency mean", Interval{value, value, value}}};
      }
    }
    plan.best = best_policies(plan, runs);
    const std::vector<LoadAdvice> advice = recommended_policies(plan, runs);
    // good[r]: the policies within 5% of the best with settings.
    std::vector<std::vector<std::string>> good(rates);
    for (std::size_t r = 0; r < rates; ++r) {
      double least = 1e9;
      for (const LoadPolicy& one : plan.policies)
        if (has_settings(one.name) && !one.points[r].state)
          least = std::min(least, mean_latency(one.points[r]));
      for (const LoadPolicy& one : plan.policies)
        if (has_settings(one.name) && !one.points[r].state && mean_latency(one.points[r]) <= 1.05 * least)
          good[r].push_back(one.name);
    }
    // fewest[r]: the smallest number of stretches that cover the rates before r.
    std::vector<int> fewest(rates + 1, 1000);
    fewest[0] = 0;
    for (std::size_t from = 0; from < rates; ++from) {
      if (good[from].empty()) fewest[from + 1] = std::min(fewest[from + 1], fewest[from]);
      for (const std::string& name : names) {
        for (std::size_t to = from; to < rates && std::ranges::find(good[to], name) != good[to].end(); ++to)
          fewest[to + 1] = std::min(fewest[to + 1], fewest[from] + 1);
      }
    }
    REQUIRE(static_cast<int>(advice.size()) == fewest[rates]);
    several += advice.size() > 1 ? 1 : 0;
    plan.recommended = advice;
    for (std::size_t r = 0; r < rates; ++r) {
      const LoadPolicy* const own = recommended_at(plan, static_cast<double>(r + 1));
      REQUIRE((own == nullptr) == good[r].empty());
      if (own != nullptr) CHECK(std::ranges::find(good[r], own->name) != good[r].end());
    }
  }
  CHECK(several > 50);
}

TEST_CASE("the limit that binds is named, and the next choice has the capacity that it then has") {
  // A step takes as long for any number of tokens, so twice the sequences serve twice the requests.
  LoadQuestion question = question_of(10, 1e-9, 0.5);
  question.rates = {5};
  const LoadPlan sequences = *plan_load(question, {});
  REQUIRE(sequences.limit);
  CHECK(sequences.limit->binds == "sequences");
  CHECK(sequences.limit->running == doctest::Approx(32).epsilon(0.02));
  CHECK(sequences.limit->next_capacity == doctest::Approx(2 * sequences.limit->capacity).epsilon(0.03));
  // With room for ten requests of 90 tokens the cache binds.
  question.server.engine.cache_tokens = 10 * 96;
  const LoadPlan cache = *plan_load(question, {});
  CHECK(cache.limit->binds == "cache");
  CHECK(cache.limit->next_capacity == doctest::Approx(2 * cache.limit->capacity).epsilon(0.15));
  CHECK(cache.limit->running < 16);
  // If all time goes with tokens, more of anything serves no more.
  LoadQuestion slow = question_of(1e-6, 1, 0.5);
  slow.rates = {2};
  const LoadPlan speed = *plan_load(slow, {});
  CHECK(speed.limit->binds == "speed");
  // A target that is missed long before the server is full binds.
  LoadQuestion late = question_of(8, 0.3, 0.5);
  late.server.tpot_ms = 9;
  late.rates = {2, 5, 20};
  const LoadPlan targets = *plan_load(late, {});
  CHECK(targets.limit->binds == "targets");
  CHECK(load_headline(targets).find("misses the SLOs") != std::string::npos);
}

TEST_CASE("of all layouts of the devices the one that serves most is planned, and settings start it") {
  LoadQuestion question = question_of(1, 1, 0.7);
  Machine machine;
  machine.device = *find_named(device_presets(), "h100-sxm");
  machine.devices = 4;
  question.costs = {RooflineCost{machine, *find_named(model_presets(), "llama-3.1-8b")},
                    RooflineCost{machine, *find_named(model_presets(), "llama-3.2-1b")}};
  question.target = "org/target";
  question.server.engine.max_sequences = 16;
  question.server.requests = 100;
  question.any_layout = true;
  question.rates = {10, 40, 160};
  const LoadPlan plan = *plan_layouts(question, {});
  REQUIRE(plan.layouts.size() == 3);
  int chosen = 0;
  for (const LoadLayout& layout : plan.layouts) {
    CHECK(layout.replicas * layout.devices == 4);
    // The layout's plan alone has the same capacity.
    LoadQuestion alone = question;
    alone.any_layout = false;
    std::get<RooflineCost>(alone.costs.target).machine.devices = layout.devices;
    std::get<RooflineCost>(alone.costs.draft).machine.devices = layout.devices;
    alone.server.engine.replicas = static_cast<std::uint32_t>(layout.replicas);
    const LoadPlan one = *plan_load(alone, {});
    CHECK(layout.capacity == std::ranges::max(one.policies, {}, &LoadPolicy::capacity).capacity);
    int served = 0;
    for (const double rate : question.rates) served += recommended_at(one, rate) != nullptr ? 1 : 0;
    CHECK(layout.served == served);
    if (!layout.chosen) continue;
    ++chosen;
    for (std::size_t r = 0; r < question.rates.size(); ++r) {
      const LoadPoint& ours = plan.policies.front().points[r];
      if (!ours.state) CHECK(mean_latency(ours) == mean_latency(one.policies.front().points[r]));
    }
    for (const LoadLayout& other : plan.layouts) CHECK(other.served <= layout.served);
    REQUIRE(!plan.settings.empty());
    const std::string wanted = fmt::format("--tensor-parallel-size {}", layout.devices);
    CHECK((plan.settings[0].lines[0].find(wanted) != std::string::npos) == (layout.devices > 1));
    CHECK(plan.settings[0].lines[0].starts_with("vllm serve org/target "));
    CHECK((plan.settings[0].purpose.find(fmt::format("Start {} of these", layout.replicas)) !=
           std::string::npos) == (layout.replicas > 1));
  }
  CHECK(chosen == 1);
  // 32 heads cannot be split among three devices.
  std::get<RooflineCost>(question.costs.target).machine.devices = 3;
  const LoadPlan three = *plan_layouts(question, {});
  CHECK(three.layouts.empty());
  CHECK(three.settings[0].purpose.find("Start 3 of these") != std::string::npos);
}
