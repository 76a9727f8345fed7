#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/exact/chain_distributions.hpp"
#include "analysis/statistics/estimates.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/stop.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/result.hpp"
#include "experiments/verify/exact/exact_result.hpp"
#include "experiments/verify/exact/exact_task.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_classes = 8;
/// If a chain converges from two starts to probabilities that differ by more than this, it has two stationary
/// distributions.
constexpr double same_distribution = 1e-9;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

std::vector<double> uniform_on(const std::vector<std::int32_t>& members, std::int32_t contexts) {
  std::vector<double> distribution(static_cast<std::size_t>(contexts));
  for (const std::int32_t x : members)
    distribution[static_cast<std::size_t>(x)] = 1 / static_cast<double>(members.size());
  return distribution;
}

SolutionResult solution_of(const StationaryDistribution& found) {
  return {found.direct, found.iterations, found.residual, found.damped, found.converged};
}

RoundNumbers iid_values(double alpha, const ExactTask& task) {
  const int gamma = task.config->gamma;
  const CostRatios& cost = task.config->cost;
  const OptimalGamma best = optimal_gamma(alpha, cost.c);
  const int best_gamma = std::min(best.gamma.value_or(task.max_gamma), task.max_gamma);
  RoundNumbers values;
  values.alpha = alpha;
  values.alpha_overlap = alpha;
  values.alpha_examined = alpha;
  values.tokens_per_target_step = expected_tokens(alpha, gamma);
  values.tokens_variance = tokens_variance(alpha, gamma);
  values.speedup = speedup(alpha, gamma, cost.c);
  values.operations = operations(alpha, gamma, cost.c_hat);
  values.optimal_gamma = best_gamma;
  values.best_speedup = speedup(alpha, best_gamma, cost.c);
  values.first_accepted = alpha;
  values.second_accepted = alpha;
  values.relative_gain = 0;
  values.rejections = 1 - alpha;
  double reached = 1;
  for (int n = 1; n <= gamma; ++n, reached *= alpha) values.distribution.push_back(reached * (1 - alpha));
  values.distribution.push_back(reached);
  return values;
}

RoundNumbers exact_values(const RoundStatistics& found, const CostRatios& cost) {
  const double tokens = found.expected_tokens;
  RoundNumbers values;
  values.alpha_overlap = found.alpha_visited;
  if (found.rejections) values.alpha_examined = 1 - *found.rejections;
  values.tokens_per_target_step = tokens;
  values.tokens_variance = found.variance;
  values.speedup = tokens / (found.gamma * cost.c + 1);
  values.operations = (found.gamma * cost.c_hat + found.gamma + 1) / tokens;
  values.first_accepted = found.first_accepted;
  values.second_accepted = found.second_accepted;
  values.relative_gain = found.relative_gain;
  values.rejections = found.rejections;
  values.rejection_bound = found.distance;
  values.regret = found.regret();
  values.distribution = found.distribution;
  return values;
}

/// Returns the exact speedups of gamma = 0..max_gamma. Each search for a stationary distribution starts from
/// that of the previous gamma; that of the config's gamma is known. Ends before the first gamma without one.
std::vector<double> search(const ExactTask& task, const StationaryDistribution& known,
                           std::vector<double> start, int& iterations) {
  std::vector<double> speedups{1.0};
  for (int gamma = 1; gamma <= task.max_gamma; ++gamma) {
    const bool is_known = gamma == task.config->gamma;
    StationaryDistribution found = is_known ? known : stationary_rounds(task.chain, gamma, std::move(start));
    if (!is_known) iterations += found.iterations;
    if (!found.converged) break;
    const double tokens = round_statistics(task.chain, gamma, found.distribution).expected_tokens;
    speedups.push_back(tokens / (gamma * task.config->cost.c + 1));
    start = std::move(found.distribution);
  }
  return speedups;
}

int best_of(const std::vector<double>& speedups) {
  std::size_t best = 0;
  for (std::size_t gamma = 1; gamma < speedups.size(); ++gamma) {
    // Speedups that differ by rounding are ties, as in analysis/theory/optimal_gamma.
    if (speedups[gamma] > speedups[best] * (1 + 1e-12)) best = gamma;
  }
  return static_cast<int>(best);
}

/// Simulates `config`, which differs from the task's only in its prompt, at the task's gamma and the exact
/// optimum.
RoundIntervals simulated_values(const ExactTask& task, JobList& jobs, const Config& config, int best_gamma) {
  const auto setup = jobs.setup(config);
  const Job& job = jobs.decode(setup, config.gamma);
  const Job& best = jobs.decode(setup, best_gamma);
  jobs.run({.stop = stop_asked});
  end_if_stopped();
  const auto& batches = job.outcome.batches;
  const Independence independence = independence_of_rounds(job);
  const ByMetric<Interval> metrics = simulated_metrics(batches, config.cost, task.confidence, independence);
  RoundIntervals values;
#define SPECLAB_QUANTITY_SIMULATED(name, sentence) \
  if (const auto metric = metric_named(#name)) values.name = value_of(metrics, *metric);
  SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_SIMULATED)
#undef SPECLAB_QUANTITY_SIMULATED
  values.best_speedup = value_of(
      simulated_metrics(best.outcome.batches, config.cost, task.confidence, independence), Metric::speedup);
  if (const auto& accepted = values.alpha_examined)
    values.rejections = Interval{1 - accepted->estimate, 1 - accepted->high, 1 - accepted->low};
  const auto positions = acceptance_by_position(batches, config.gamma, task.confidence, independence);
  if (!positions.empty()) values.first_accepted = positions[0].unconditional;
  if (positions.size() > 1) values.second_accepted = positions[1].conditional;
  for (std::size_t accepted = 0; accepted <= static_cast<std::size_t>(config.gamma); ++accepted)
    values.distribution.push_back(*share_of_length(batches, accepted, task.confidence, independence));
  return values;
}

/// Returns the formulas' relative errors, for numbers whose exact value is not 0.
RoundNumbers errors_of(const RoundNumbers& iid, const RoundNumbers& exact) {
  RoundNumbers errors;
  const auto error = [](const std::optional<double>& formula, const std::optional<double>& goal) {
    return formula && goal && *goal != 0 ? std::optional(100 * (*formula / *goal - 1)) : std::nullopt;
  };
#define SPECLAB_QUANTITY_ERROR(name, sentence) errors.name = error(iid.name, exact.name);
  SPECLAB_EXACT_QUANTITIES(SPECLAB_QUANTITY_ERROR)
#undef SPECLAB_QUANTITY_ERROR
  errors.relative_gain.reset();
  return errors;
}

/// Returns the closed class of the target's own chain to which a class belongs; null unless there is exactly
/// one. The two are equal unless a lossy rule emits tokens that the target would not, or leaves some out.
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

/// Returns a sentence about the tokens that the target's grammar forces. As drafts they are always accepted,
/// so that a round emits them and one other token.
std::string forced_words(const ExactTask& task, const std::vector<double>& plain) {
  double share = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (state_after(task.target_grammar, task.emitted(task.chain.contexts[i])).forced()) share += plain[i];
  }
  return fmt::format(
      "The grammar forces {:.6g} of the tokens. Drafted alone, with a gamma that no run of them exceeds, they give {:.6g} tokens per target step.",
      share, 1 / (1 - share));
}

/// Fills in what the target's own chain gives. Returns the distribution at which the search for that of
/// rounds starts: the target's own, if the class contains all its contexts.
std::vector<double> analyse_plain(const ExactTask& task, const ClosedClass& members,
                                  const std::vector<ClosedClass>& plain_classes, ClassResult& out) {
  const ContextChain& chain = task.chain;
  std::vector<double> anywhere = uniform_on(members, chain.size());
  const ClosedClass* own = plain_class(members, plain_classes);
  if (own == nullptr) {
    out.remarks.emplace_back(
        "This class's contexts belong to several closed classes of the target's chain of contexts, or to none: alpha under the target's distribution, and with it the i.i.d. column, is not one number.");
    return anywhere;
  }
  StationaryDistribution target = stationary_plain(chain, uniform_on(*own, chain.size()));
  // Iteration cannot notice this itself: if parts of a chain hardly ever meet, each converges separately.
  if (!target.direct && target.converged) {
    const StationaryDistribution other = stationary_plain(chain, uniform_on({own->front()}, chain.size()));
    target.converged = largest_difference(other.distribution, target.distribution) < same_distribution;
  }
  out.plain_solution = solution_of(target);
  if (target.converged) {
    out.iid = iid_values(std::clamp(mean_acceptance(chain, target.distribution), 0.0, 1.0), task);
    if (!task.target_grammar.empty()) out.remarks.push_back(forced_words(task, target.distribution));
  } else {
    out.remarks.emplace_back(
        "The target's chain of contexts converges too slowly: alpha under the target's distribution, and with it the i.i.d. column, is unknown.");
  }
  const bool whole = std::includes(members.begin(), members.end(), own->begin(), own->end());
  return whole ? target.distribution : anywhere;
}

/// Analyses one closed class of the chain. `only`: it is the only one.
ClassResult analyse_class(ExactTask& task, const ClosedClass& members,
                          const std::vector<ClosedClass>& plain_classes, bool only) {
  const ContextChain& chain = task.chain;
  const int gamma = task.config->gamma;
  ClassResult out;
  out.contexts = members.size();
  std::vector<double> anywhere = analyse_plain(task, members, plain_classes, out);
  StationaryDistribution rounds = stationary_rounds(chain, gamma, anywhere);
  const RoundStatistics found = round_statistics(chain, gamma, rounds.distribution);

  // Rounds can have closed classes where single tokens have none, for example on a cycle whose length is a
  // multiple of gamma + 1.
  const std::int32_t first = chain.starts.front();
  const std::int32_t recurrent =
      std::binary_search(members.begin(), members.end(), first) ? first : members.front();
  const StationaryDistribution other = stationary_rounds(chain, gamma, uniform_on({recurrent}, chain.size()));
  const RoundStatistics elsewhere = round_statistics(chain, gamma, other.distribution);
  const bool one_distribution =
      largest_difference(elsewhere.distribution, found.distribution) <= same_distribution;
  // Iteration cannot distinguish such classes from parts of the chain that hardly ever meet.
  if (!rounds.direct && !(one_distribution && other.converged)) rounds.converged = false;
  out.round_solution = solution_of(rounds);
  if (!rounds.converged) {
    const TokenBounds bounds = expected_tokens_bounds(chain, gamma, members);
    out.remarks.push_back(fmt::format(
        "The chain of rounds of gamma = {} converges too slowly, or not at all: there are no exact values. The long-run tokens per target step lie between {:.9g} and {:.9g}.",
        gamma, bounds.least, bounds.most));
    return out;
  }
  out.exact = exact_values(found, task.config->cost);
  if (out.iid) out.exact.alpha = out.iid->alpha;
  out.tokens_per_target_step_from_start = elsewhere.expected_tokens;
  if (!one_distribution) {
    out.remarks.push_back(fmt::format(
        "The long run of rounds of gamma = {} depends on where they start: E[N] is {:.9g} from the target's stationary distribution and {:.9g} from the first recurrent context after the prompt. Exact values are for the former.",
        gamma, found.expected_tokens, elsewhere.expected_tokens));
  }

  out.speedup_by_gamma = search(task, rounds, std::move(anywhere), out.search_iterations);
  const int best = best_of(out.speedup_by_gamma);
  out.exact.optimal_gamma = best;
  out.exact.best_speedup = out.speedup_by_gamma[static_cast<std::size_t>(best)];
  if (out.iid && static_cast<std::size_t>(*out.iid->optimal_gamma) < out.speedup_by_gamma.size()) {
    out.exact.speedup_at_iid_optimum =
        out.speedup_by_gamma[static_cast<std::size_t>(*out.iid->optimal_gamma)];
  }
  const std::size_t searched = out.speedup_by_gamma.size() - 1;
  if (searched < static_cast<std::size_t>(task.max_gamma)) {
    out.remarks.push_back(fmt::format(
        "The search for the best gamma ended at {}: the chain of rounds of {} converges too slowly.",
        searched, searched + 1));
  } else if (best == task.max_gamma) {
    out.remarks.push_back(
        fmt::format("The best gamma is the largest that was searched, /search/max_gamma = {}.", best));
  }
  if (out.iid) {
    const OptimalGamma closed = optimal_gamma(*out.iid->alpha, task.config->cost.c);
    if (closed.gamma.value_or(task.max_gamma + 1) > task.max_gamma) {
      out.remarks.push_back(fmt::format(
          "The i.i.d. formula {}; the table has its speedup at /search/max_gamma.",
          closed.gamma ? fmt::format("is best at gamma = {}", *closed.gamma) : "gains with every gamma"));
    }
  }

  // The config's prompts would mix several classes, so each is simulated from one of its own contexts.
  Config config = *task.config;
  std::vector<double> start;
  if (only) {
    start = task.start_distribution();
  } else {
    out.start = chain.contexts[static_cast<std::size_t>(recurrent)];
    config.simulation.prompt = out.start;
    config.simulation.prompt_tokens = 0;
    start = uniform_on({recurrent}, chain.size());
  }
  out.exact.tokens_per_target_step_of_simulation =
      expected_tokens_over(chain, gamma, std::move(start), task.setup->simulation.length);
  if (out.iid) out.iid_error_percent = errors_of(*out.iid, out.exact);
  if (task.simulate && !only && task.has_grammar()) {
    out.remarks.emplace_back(
        "It is not simulated, since no prompt puts a grammar into the state of this class.");
  } else if (task.simulate) {
    JobList fresh;
    out.simulated = simulated_values(task, only ? task.jobs : fresh, config, best);
  }
  return out;
}

}  // namespace

ExactResult analyse_exactly(const Config& config, bool simulate) {
  ExactTask task(config, simulate);
  const ContextChain& chain = task.chain;
  const Transitions* const plain[] = {&chain.plain()};
  const std::vector<ClosedClass> classes =
      round_classes(chain, task.config->gamma, task.start_distribution());
  const std::vector<ClosedClass> plain_classes = closed_classes(plain);
  std::size_t recurrent = 0;
  for (const ClosedClass& members : classes) recurrent += members.size();
  const std::size_t shown = std::min(classes.size(), max_classes);
  // Intervals per class: alpha twice, tokens, variance, speedup, operations, best speedup, two positions,
  // rejections, P(N = n).
  const int intervals = static_cast<int>(shown) * (10 + task.config->gamma + 1);
  task.confidence = task.config->simultaneous ? family_confidence(task.config->confidence, intervals)
                                              : task.config->confidence;

  ExactResult result;
  result.version = version_string();
  result.title = task.config->title;
  result.config = task.config;
  result.interval_confidence = task.confidence;
  result.chain = {.memory = task.memory,
                  .contexts = chain.contexts.size(),
                  .transitions = chain.transitions,
                  .transient_contexts = chain.contexts.size() - recurrent,
                  .closed_classes = classes.size(),
                  .dense = chain.bonus.dense};
  for (std::size_t i = 0; i < shown; ++i)
    result.classes.push_back(analyse_class(task, classes[i], plain_classes, classes.size() == 1));
  return result;
}

}  // namespace speclab
