#include "analysis/theory/schedule_theory.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "analysis/theory/theorems.hpp"

namespace speclab {

namespace {

/// Returns P(n tokens), at index n, for a round over `drafted` tokens.
std::vector<double> tokens_distribution(double alpha, std::size_t drafted) {
  std::vector<double> distribution(drafted + 2);
  double reached = 1;
  for (std::size_t n = 1; n <= drafted; ++n) {
    distribution[n] = reached * (1 - alpha);
    reached *= alpha;
  }
  distribution[drafted + 1] = reached;
  return distribution;
}

/// Returns the expected number of rounds that start with 0, 1, ... goal - 1 tokens emitted.
std::vector<double> visits(const std::vector<double>& distribution, std::size_t goal) {
  std::vector<double> expected(goal);
  for (std::size_t at = 0; at < goal; ++at) {
    if (at == 0) expected[at] = 1;
    for (std::size_t n = 1; n < distribution.size() && n <= at; ++n)
      expected[at] += expected[at - n] * distribution[n];
  }
  return expected;
}

double sum(const std::vector<double>& terms) {
  double total = 0;
  for (const double term : terms) total += term;
  return total;
}

/// The distribution of the number of tokens that a level drafts, by number, and the expected time of drafting
/// them.
struct LevelDrafting {
  std::vector<double> distribution;
  double time;
};

LevelDrafting drafting(std::span<const LevelInputs> levels) {
  const LevelInputs& here = levels.front();
  const auto gamma = static_cast<std::size_t>(here.gamma);
  LevelDrafting out{std::vector<double>(gamma + 1), here.gamma * here.c};
  if (levels.size() == 1) {
    out.distribution[gamma] = 1;
    return out;
  }
  const LevelDrafting below = drafting(levels.subspan(1));
  std::vector<double> round(below.distribution.size() + 1);
  for (std::size_t drafted = 0; drafted < below.distribution.size(); ++drafted) {
    const std::vector<double> given = tokens_distribution(levels[1].alpha, drafted);
    for (std::size_t n = 1; n < given.size(); ++n) round[n] += below.distribution[drafted] * given[n];
  }
  const std::vector<double> starts = visits(round, gamma);
  out.time = sum(starts) * (below.time + here.c);
  if (gamma == 0) {
    out.distribution[0] = 1;
    return out;
  }
  out.distribution.resize(gamma + round.size());
  for (std::size_t at = 0; at < gamma; ++at) {
    for (std::size_t n = gamma - at; n < round.size(); ++n) out.distribution[at + n] += starts[at] * round[n];
  }
  return out;
}

double effective_cost(std::span<const LevelInputs> levels) {
  if (levels.size() == 1) return levels.front().c;
  const LevelInputs& below = levels[1];
  return (levels.front().c + below.gamma * effective_cost(levels.subspan(1))) /
         expected_tokens(below.alpha, below.gamma);
}

double pearl([[maybe_unused]] double alpha, double steps_times_rejection, int gamma, double c) {
  assert(alpha >= 0 && alpha <= 1 && gamma >= 1 && c >= 0);
  return 1 / (steps_times_rejection * std::max(1.0, gamma * c));
}

double batched(double tokens, int gamma, double c, int sequences, const RunCost& cost) {
  const double plain = cost(sequences);
  return tokens * plain / (gamma * c * plain + cost(sequences * (gamma + 1.0)));
}

/// Returns P(n of `sequences`) for n = 0..sequences.
std::vector<double> binomial_distribution(int sequences, double probability) {
  const auto size = static_cast<std::size_t>(sequences);
  std::vector<double> distribution(size + 1);
  for (std::size_t n = 0; n <= size; ++n) {
    const auto hits = static_cast<double>(n);
    const auto misses = static_cast<double>(size - n);
    double logarithm = std::lgamma(sequences + 1.0) - std::lgamma(hits + 1) - std::lgamma(misses + 1);
    if (n > 0) logarithm += hits * std::log(probability);
    if (n < size) logarithm += misses * std::log1p(-probability);
    distribution[n] = std::exp(logarithm);
  }
  return distribution;
}

}  // namespace

double heads_speedup(double alpha, int gamma, double c) { return expected_tokens(alpha, gamma) / (1 + c); }

double speedup_bound_capped(double alpha, int most, double c) {
  const double tokens = expected_tokens(alpha, most);
  return tokens / (1 + std::min(c, 1.0) * (tokens - 1));
}

double hierarchical_speedup(std::span<const LevelInputs> levels) {
  assert(!levels.empty());
  const LevelDrafting drafts = drafting(levels);
  double tokens = 0;
  for (std::size_t drafted = 0; drafted < drafts.distribution.size(); ++drafted)
    tokens += drafts.distribution[drafted] * expected_tokens(levels.front().alpha, static_cast<int>(drafted));
  return tokens / (drafts.time + 1);
}

double hierarchical_speedup_usual(std::span<const LevelInputs> levels) {
  assert(!levels.empty());
  return speedup(levels.front().alpha, levels.front().gamma, effective_cost(levels));
}

std::optional<double> dsi_speedup(double alpha, double c, int lookahead) {
  assert(alpha >= 0 && alpha <= 1 && c > 0 && c <= 1 && lookahead >= 1);
  if (alpha == 1) return std::nullopt;
  // A round's expected number of tokens is the inverse of (1 - alpha) / (1 - alpha^n).
  return 1 / (1 - alpha + c * lookahead * alpha / expected_tokens(alpha, lookahead - 1));
}

std::optional<double> dsi_speedup(double alpha, double c, int lookahead, int servers) {
  assert(alpha >= 0 && alpha <= 1 && c > 0 && c <= 1 && lookahead >= 1 && servers >= 1);
  constexpr double negligible = 1e-18;
  constexpr std::size_t max_runs = 100'000'000;
  if (alpha == 1) return std::nullopt;
  const auto places = static_cast<std::size_t>(servers);
  std::vector<double> starts(places);  // starts of the last runs, by run modulo servers
  double start = 0;
  double drafts = 0;
  double time = 1;
  for (std::size_t run = 1; run < max_runs; ++run) {
    const double beyond = std::pow(alpha, drafts + 1);
    if (beyond < negligible) return 1 / ((1 - alpha) * time);
    const double wanted = (drafts + lookahead) * c;
    const double free = run < places ? 0 : starts[run % places] + 1;
    // If both coincide up to rounding, the draft counts as available (sim/schedules/dsi.hpp).
    const bool waits = free > wanted + 1e-9;
    const double next = waits ? free : wanted;
    drafts = waits ? std::floor((free + 1e-9) / c) : drafts + lookahead;
    time += (next - start) * beyond;
    start = next;
    starts[run % places] = start;
  }
  return std::nullopt;
}

int dsi_servers(double c, int lookahead) {
  assert(c > 0 && lookahead >= 1);
  const double servers = std::ceil(1 / (lookahead * c) - 1e-9);
  constexpr int most = std::numeric_limits<int>::max();
  return servers < most ? static_cast<int>(servers) : most;
}

double pearl_speedup(double alpha, int gamma, double c) {
  return pearl(alpha, (1 - alpha) * (1 + alpha) + std::pow(alpha, gamma) / expected_tokens(alpha, gamma - 1),
               gamma, c);
}

double pearl_speedup_next_row(double alpha, int gamma, double c) {
  return pearl(alpha, 1 - alpha + alpha / expected_tokens(alpha, gamma - 1), gamma, c);
}

double asynchronous_speedup(double alpha, int gamma, double c, double hit, bool plain_after_miss) {
  const double tokens = expected_tokens(alpha, gamma);
  const double drafting = gamma * c;
  return (hit * tokens + (1 - hit) * (plain_after_miss ? 1 : tokens)) /
         (hit * std::max(1.0, drafting) + (1 - hit) * (plain_after_miss ? 1 : 1 + drafting));
}

double speculative_function_speedup(double beta, double f, double g, double q) {
  return (f + g) / (std::max(f, q + g) + (1 - beta) * g);
}

double speculative_function_speedup_interrupting(double beta, double f, double g, double q) {
  return (f + g) / (beta * std::max(f, q + g) + (1 - beta) * (std::max(f, q) + g));
}

double expected_rounds(double alpha, int gamma, int goal) {
  assert(gamma >= 0 && goal >= 1);
  return sum(
      visits(tokens_distribution(alpha, static_cast<std::size_t>(gamma)), static_cast<std::size_t>(goal)));
}

double batched_speedup_usual(double alpha, int gamma, double c, int sequences, const RunCost& cost) {
  return batched(expected_tokens(alpha, gamma), gamma, c, sequences, cost);
}

double batched_speedup_replaced(double alpha, int gamma, double c, int sequences, int goal,
                                const RunCost& cost) {
  return batched(goal / expected_rounds(alpha, gamma, goal), gamma, c, sequences, cost);
}

double batched_speedup_waves(double alpha, int gamma, double c, int sequences, int goal,
                             const RunCost& cost) {
  constexpr double negligible = 1e-18;
  const std::vector<double> distribution = tokens_distribution(alpha, static_cast<std::size_t>(gamma));
  std::vector<double> emitted(
      static_cast<std::size_t>(goal));  // P(this number emitted so far, and not finished)
  emitted[0] = 1;
  double time = 0;
  for (double active = 1; active > negligible; active = sum(emitted)) {
    const std::vector<double> count = binomial_distribution(sequences, std::min(active, 1.0));
    for (int n = 1; n <= sequences; ++n)
      time += count[static_cast<std::size_t>(n)] * (gamma * c * cost(n) + cost(n * (gamma + 1.0)));
    for (std::size_t to = emitted.size(); to-- > 0;) {
      double probability = 0;
      for (std::size_t n = 1; n < distribution.size() && n <= to; ++n)
        probability += emitted[to - n] * distribution[n];
      emitted[to] = probability;
    }
  }
  return goal * cost(sequences) / time;
}

}  // namespace speclab
