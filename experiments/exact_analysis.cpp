#include "experiments/exact_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/exact/chain_distributions.hpp"
#include "analysis/statistics/estimates.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/interval_json.hpp"
#include "experiments/simulation.hpp"
#include "experiments/version.hpp"

namespace speclab {

namespace {

constexpr std::size_t most_classes = 8;
/// Rounds settle differently from two starts when some P(N = n) differ by more than this.
constexpr double same_distribution = 1e-9;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Everything that the analysis of each class shares.
struct Task {
  Json config;
  JobList jobs;
  bool simulate = false;
  std::shared_ptr<const Setup> setup;
  ContextChain chain;
  int gamma = 0;
  int max_gamma = 0;
  CostRatios cost;
  double confidence = 0;
};

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

int memory_of(const Model& model, const char* path) {
  if (const auto memory = model.memory()) return *memory;
  throw ConfigError(
      path,
      "reads contexts of any length (copy drafter); exact needs models that read a fixed number of "
      "tokens: tables, n-grams and mixtures of them");
}

ContextChain chain_of(const Setup& setup) {
  const int memory =
      std::max(memory_of(setup.target, "/models/target"), memory_of(setup.draft, "/models/draft"));
  return std::visit(
      [&](const auto& rule) -> ContextChain {
        if constexpr (PositionRule<std::decay_t<decltype(rule)>>) {
          try {
            return build_context_chain(setup.target, setup.draft, rule, memory, setup.plan.prompts);
          } catch (const ChainError& error) {
            throw ConfigError("/models", error.what());
          }
        } else {
          throw ConfigError("/verifier/kind",
                            "exact needs a verifier of one draft that decides position by position, such as "
                            "token or lenience; this one looks at several positions or drafts at once");
        }
      },
      setup.rule);
}

std::vector<double> uniform_on(const std::vector<std::int32_t>& members, std::int32_t contexts) {
  std::vector<double> distribution(static_cast<std::size_t>(contexts));
  for (const std::int32_t x : members)
    distribution[static_cast<std::size_t>(x)] = 1 / static_cast<double>(members.size());
  return distribution;
}

/// Where the plan's trials start.
std::vector<double> start_distribution(const ContextChain& chain, const SimulationSize& plan) {
  std::vector<double> distribution(chain.contexts.size());
  for (std::uint32_t trial = 0; trial < plan.trials; ++trial) {
    distribution[static_cast<std::size_t>(chain.starts[trial % chain.starts.size()])] += 1.0 / plan.trials;
  }
  return distribution;
}

Json solution_json(const StationaryDistribution& found) {
  return {{"iterations", found.iterations},
          {"residual", found.residual},
          {"damped", found.damped},
          {"converged", found.converged}};
}

Json iid_json(double alpha, const Task& task) {
  const OptimalGamma best = optimal_gamma(alpha, task.cost.c);
  const int best_gamma = std::min(best.gamma.value_or(task.max_gamma), task.max_gamma);
  Json distribution = Json::array();
  double reached = 1;
  for (int n = 1; n <= task.gamma; ++n, reached *= alpha) distribution.push_back(reached * (1 - alpha));
  distribution.push_back(reached);
  return {{"alpha", alpha},
          {"alpha_overlap", alpha},
          {"alpha_examined", alpha},
          {"tokens_per_round", expected_tokens(alpha, task.gamma)},
          {"tokens_variance", tokens_variance(alpha, task.gamma)},
          {"speed", speedup(alpha, task.gamma, task.cost.c)},
          {"operations", operations(alpha, task.gamma, task.cost.c_hat)},
          {"optimal_gamma", best_gamma},
          {"best_speed", speedup(alpha, best_gamma, task.cost.c)},
          {"first_accepted", alpha},
          {"second_accepted", alpha},
          {"correlation", 0.0},
          {"rejections", 1 - alpha},
          {"law", distribution}};
}

Json exact_json(const RoundStatistics& found, const CostRatios& cost) {
  const double tokens = found.expected_tokens;
  return {{"alpha_overlap", found.alpha_visited},
          {"alpha_examined", found.rejections ? Json(1 - *found.rejections) : Json()},
          {"tokens_per_round", tokens},
          {"tokens_variance", found.variance},
          {"speed", tokens / (found.gamma * cost.c + 1)},
          {"operations", (found.gamma * cost.c_hat + found.gamma + 1) / tokens},
          {"first_accepted", found.first_accepted},
          {"second_accepted", or_null(found.second_accepted)},
          {"correlation", or_null(found.correlation)},
          {"rejections", or_null(found.rejections)},
          {"rejection_bound", or_null(found.distance)},
          {"regret", or_null(found.regret())},
          {"law", found.distribution}};
}

/// Exact speeds of gamma = 0..max_gamma, each distribution found from the one before; that of the config's
/// gamma is known.
Json search_json(const Task& task, const StationaryDistribution& known, std::vector<double> start,
                 int& iterations) {
  Json speeds = Json::array({1.0});
  for (int gamma = 1; gamma <= task.max_gamma; ++gamma) {
    StationaryDistribution found =
        gamma == task.gamma ? known : stationary_rounds(task.chain, gamma, std::move(start));
    if (gamma != task.gamma) iterations += found.iterations;
    const double tokens = round_statistics(task.chain, gamma, found.distribution).expected_tokens;
    speeds.push_back(tokens / (gamma * task.cost.c + 1));
    start = std::move(found.distribution);
  }
  return speeds;
}

std::size_t best_of(const Json& speeds) {
  std::size_t best = 0;
  for (std::size_t gamma = 1; gamma < speeds.size(); ++gamma) {
    // Speeds that differ by rounding count as ties, as in analysis/theory/optimal_gamma.
    if (speeds[gamma].get<double>() > speeds[best].get<double>() * (1 + 1e-12)) best = gamma;
  }
  return best;
}

/// The simulation of `config`, the task's but for its prompt, at the task's gamma and at the exact optimum.
Json simulated_json(const Task& task, JobList& jobs, const Json& config, int best_gamma) {
  const auto setup = jobs.setup(config);
  const Job& job = jobs.add(setup, task.gamma, false);
  const Job& best = jobs.add(setup, best_gamma, false);
  jobs.run({});
  Json out = Json::object();
  const auto& batches = job.outcome.batches;
  for (const Estimate& estimate : estimates(batches, task.cost, task.confidence)) {
    if (estimate.interval) out[estimate.name] = interval_json(*estimate.interval);
  }
  if (out.contains("alpha_examined")) {
    const Json& kept = out["alpha_examined"];
    out["rejections"] =
        Json::array({1 - kept[0].get<double>(), 1 - kept[2].get<double>(), 1 - kept[1].get<double>()});
  }
  for (const Estimate& estimate : estimates(best.outcome.batches, task.cost, task.confidence)) {
    if (estimate.name == "speed" && estimate.interval) out["best_speed"] = interval_json(*estimate.interval);
  }
  const auto positions = acceptance_by_position(batches, task.gamma, task.confidence);
  if (!positions.empty() && positions[0].unconditional) {
    out["first_accepted"] = interval_json(*positions[0].unconditional);
  }
  if (positions.size() > 1 && positions[1].conditional) {
    out["second_accepted"] = interval_json(*positions[1].conditional);
  }
  std::vector<double> rounds;
  for (const Tally& batch : batches) rounds.push_back(static_cast<double>(batch.rounds));
  Json& distribution = out["law"] = Json::array();
  for (std::size_t accepted = 0; accepted <= static_cast<std::size_t>(task.gamma); ++accepted) {
    std::vector<double> times;
    for (const Tally& batch : batches) {
      const auto& lengths = batch.accepted_lengths;
      times.push_back(accepted < lengths.size() ? static_cast<double>(lengths[accepted]) : 0);
    }
    const auto interval = ratio_interval(times, rounds, task.confidence);
    distribution.push_back(interval ? interval_json(*interval) : Json());
  }
  return out;
}

Json errors_json(const Json& iid, const Json& exact) {
  Json out = Json::object();
  for (const auto& [name, value] : iid.items()) {
    if (name == "optimal_gamma" || !value.is_number() || !exact.contains(name) || exact.at(name).is_null())
      continue;
    const double goal = exact.at(name).get<double>();
    if (goal != 0 && name != "correlation") out[name] = 100 * (value.get<double>() / goal - 1);
  }
  return out;
}

/// The closed class of plain decoding that a class of the chain belongs to. The two are the same, unless a
/// lossy rule emits tokens that the target would not, or leaves some out. Null when there is no one such
/// class.
const ClosedClass* plain_class(const ClosedClass& members, const std::vector<ClosedClass>& plain_classes) {
  if (plain_classes.size() == 1) return &plain_classes.front();
  const ClosedClass* own = nullptr;
  for (const ClosedClass& plain : plain_classes) {
    if (!std::binary_search(members.begin(), members.end(), plain.front())) continue;
    if (own != nullptr) return nullptr;
    own = &plain;
  }
  return own;
}

/// One closed class of the chain.
Json class_json(Task& task, const ClosedClass& members, const std::vector<ClosedClass>& plain_classes,
                bool only, Json& timings) {
  const ContextChain& chain = task.chain;
  Stopwatch watch;
  Json out{{"contexts", members.size()}};
  Json remarks = Json::array();
  const auto inside = [&](std::int32_t x) { return std::binary_search(members.begin(), members.end(), x); };
  Json iid;
  std::optional<StationaryDistribution> target_distribution;
  std::vector<double> anywhere = uniform_on(members, chain.size());
  if (const ClosedClass* own = plain_class(members, plain_classes)) {
    target_distribution = stationary_plain(chain, uniform_on(*own, chain.size()));
    iid = iid_json(std::clamp(mean_acceptance(chain, target_distribution->distribution), 0.0, 1.0), task);
    if (std::includes(members.begin(), members.end(), own->begin(), own->end()))
      anywhere = target_distribution->distribution;
  } else {
    remarks.push_back(
        "The contexts where this class decodes belong to several closed classes of plain decoding, or to "
        "none: "
        "alpha under the target's law, and with it the i.i.d. column, is not one number.");
  }
  const StationaryDistribution rounds = stationary_rounds(chain, task.gamma, anywhere);
  const RoundStatistics found = round_statistics(chain, task.gamma, rounds.distribution);
  Json exact{{"alpha", iid.is_null() ? Json() : iid.at("alpha")}};
  exact.update(exact_json(found, task.cost));

  // Rounds can have closed classes where single tokens have none: on a cycle whose length gamma + 1 divides,
  // say.
  const std::int32_t recurrent = inside(chain.starts.front()) ? chain.starts.front() : members.front();
  const StationaryDistribution other =
      stationary_rounds(chain, task.gamma, uniform_on({recurrent}, chain.size()));
  const RoundStatistics elsewhere = round_statistics(chain, task.gamma, other.distribution);
  exact["tokens_per_round_from_first_context"] = elsewhere.expected_tokens;
  if (largest_difference(elsewhere.distribution, found.distribution) > same_distribution) {
    remarks.push_back(fmt::format(
        "Rounds of gamma = {} do not forget where they started: E[N] is {:.9g} from the target's stationary "
        "law and {:.9g} from the first recurrent context after the prompt. Exact values are the former's.",
        task.gamma, found.expected_tokens, elsewhere.expected_tokens));
  }
  timings["rounds_seconds"].push_back(watch.lap());

  int search_iterations = 0;
  const Json speeds = search_json(task, rounds, std::move(anywhere), search_iterations);
  const std::size_t best = best_of(speeds);
  exact["optimal_gamma"] = best;
  exact["best_speed"] = speeds[best];
  if (!iid.is_null()) exact["speed_at_iid_optimum"] = speeds[iid.at("optimal_gamma").get<std::size_t>()];
  exact["speed_by_gamma"] = speeds;
  if (static_cast<int>(best) == task.max_gamma) {
    remarks.push_back(
        fmt::format("The best gamma is the largest that was searched, /search/max_gamma = {}.", best));
  }
  timings["search_seconds"].push_back(watch.lap());

  // Several classes: the plan's prompts would mix them, so that each is simulated from a context of its own.
  Json config = task.config;
  std::vector<double> start;
  if (only) {
    start = start_distribution(chain, task.setup->plan);
  } else {
    const std::vector<Token>& prompt = chain.contexts[static_cast<std::size_t>(recurrent)];
    config["plan"]["prompt"] = prompt;
    config["plan"]["prompt_tokens"] = 0;
    out["start"] = prompt;
    start = uniform_on({recurrent}, chain.size());
  }
  exact["tokens_per_round_of_plan"] =
      or_null(expected_tokens_over(chain, task.gamma, std::move(start), task.setup->plan.length));
  if (!iid.is_null()) out["iid"] = iid;
  out["exact"] = exact;
  if (found.correlation) {
    const double tokens = expected_tokens_lag1(found.first_accepted, *found.correlation, task.gamma);
    out["lag1"] = {{"tokens_per_round", tokens},
                   {"error_percent", 100 * (tokens / found.expected_tokens - 1)}};
  }
  if (!iid.is_null()) out["iid_error_percent"] = errors_json(iid, exact);
  if (task.simulate) {
    JobList fresh;
    out["simulated"] = simulated_json(task, only ? task.jobs : fresh, config, static_cast<int>(best));
  }
  timings["simulation_seconds"].push_back(watch.lap());

  out["solution"] = {{"plain", target_distribution ? solution_json(*target_distribution) : Json()},
                     {"rounds", solution_json(rounds)},
                     {"search_iterations", search_iterations}};
  if (!rounds.converged) {
    remarks.push_back("Power iteration did not converge: read the residual before the exact column.");
  }
  out["remarks"] = remarks;
  return out;
}

}  // namespace

Findings analyse_exactly(const Json& input, bool simulate) {
  Stopwatch watch;
  Task task;
  task.config = resolve(input);
  refuse_many_cells(task.config, "exact analyses");
  task.config["search"] = section(task.config, "search");
  task.simulate = simulate;
  task.setup = task.jobs.setup(task.config);
  task.chain = chain_of(*task.setup);
  task.gamma = task.config.at("gamma").get<int>();
  task.max_gamma = task.config.at("search").at("max_gamma").get<int>();
  task.cost = {task.config.at("cost").at("c").get<double>(),
               task.config.at("cost").at("c_hat").get<double>()};
  // Shown: alpha twice, tokens, variance, speed, operations, best speed, two positions, rejections, P(N = n).
  const int intervals = 10 + task.gamma + 1;
  task.confidence = task.config.at("confidence").get<double>();
  if (task.config.at("simultaneous").get<bool>())
    task.confidence = family_confidence(task.confidence, intervals);

  const ContextChain& chain = task.chain;
  const Transitions* const all[] = {&chain.accepted, &chain.corrected, &chain.bonus};
  const Transitions* const plain[] = {&chain.plain()};
  const std::vector<ClosedClass> classes = closed_classes(all);
  const std::vector<ClosedClass> plain_classes = closed_classes(plain);
  std::size_t recurrent = 0;
  for (const ClosedClass& members : classes) recurrent += members.size();

  Findings findings;
  findings.timings["chain_seconds"] = watch.lap();
  Json& result = findings.result;
  result["speclab"] = version_string();
  result["title"] = task.config.at("title");
  result["config"] = task.config;
  result["interval_confidence"] = task.confidence;
  result["chain"] = {{"memory", std::max(*task.setup->target.memory(), *task.setup->draft.memory())},
                     {"contexts", chain.size()},
                     {"transitions", chain.transitions},
                     {"transient_contexts", chain.contexts.size() - recurrent},
                     {"closed_classes", classes.size()},
                     {"dense", chain.bonus.dense}};
  Json& described = result["classes"] = Json::array();
  for (std::size_t i = 0; i < std::min(classes.size(), most_classes); ++i) {
    described.push_back(class_json(task, classes[i], plain_classes, classes.size() == 1, findings.timings));
  }
  return findings;
}

}  // namespace speclab
