// Rooms (views) 2 and 3: closed forms, rounds of independent acceptances, and rounds whose acceptances come
// in runs.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/exact/chain_distributions.hpp"
#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/intervals.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/round/iid_lengths.hpp"
#include "core/rules/token.hpp"
#include "explorer/engine/record.hpp"

namespace speclab::explorer {

inline void optional_number(Record& out, std::string_view name, const std::optional<double>& value) {
  if (value) out.number(name, *value);
}

/// Writes the results of `speclab predict` under the names of its --json. Without `gamma` it takes the best
/// one.
inline void predict(double alpha, double c, double c_hat, std::optional<int> gamma, Record& out) {
  const OptimalGamma best = optimal_gamma(alpha, c);
  if (!gamma) gamma = best.gamma;
  if (gamma) {
    out.number("gamma", *gamma);
    out.number("tokens_per_target_step", expected_tokens(alpha, *gamma));
    out.number("tokens_variance", tokens_variance(alpha, *gamma));
    out.number("speedup", speedup(alpha, *gamma, c));
    out.number("operations", operations(alpha, *gamma, c_hat));
  }
  if (best.gamma) {
    out.number("optimal_gamma", *best.gamma);
    optional_number(out, "best_speedup", best.speedup);
    out.number("operations_at_optimum", operations(alpha, *best.gamma, c_hat));
  } else {
    optional_number(out, "speedup_limit", best.speedup);
  }
  optional_number(out, "guaranteed_speedup", guaranteed_speedup(alpha, c));
  optional_number(out, "upper_bound_drafting_free", speedup_bound_drafting_free(alpha));
  optional_number(out, "upper_bound_drafting_paid", speedup_bound_drafting_paid(alpha, c));
  out.text("reason", best.reason);
}

/// Writes tokens, speedup and operations for gamma = 0..most.
inline void curves(double alpha, double c, double c_hat, int most, Record& out) {
  std::vector<double> tokens;
  std::vector<double> speedups;
  std::vector<double> work;
  for (int gamma = 0; gamma <= most; ++gamma) {
    tokens.push_back(expected_tokens(alpha, gamma));
    speedups.push_back(speedup(alpha, gamma, c));
    work.push_back(operations(alpha, gamma, c_hat));
  }
  out.list("tokens", tokens);
  out.list("speedup", speedups);
  out.list("operations", work);
}

/// Writes the best gamma and its speedup at alpha = 0.01, 0.02, ... 0.99 (Leviathan et al. 2023, Figure 3).
inline void best_by_alpha(double c, Record& out) {
  constexpr int steps = 100;
  std::vector<double> alphas;
  std::vector<double> gammas;
  std::vector<double> speedups;
  for (int step = 1; step < steps; ++step) {
    const double alpha = static_cast<double>(step) / steps;
    const OptimalGamma best = optimal_gamma(alpha, c);
    if (!best.gamma) continue;
    alphas.push_back(alpha);
    gammas.push_back(*best.gamma);
    speedups.push_back(*best.speedup);
  }
  out.list("alpha", alphas);
  out.list("gamma", gammas);
  out.list("speedup", speedups);
}

/// Writes the numbers with which the i.i.d. simulation must agree: P(N = n) for n = 1..gamma + 1.
inline void iid_distribution(double alpha, int gamma, Record& out) {
  std::vector<double> probabilities;
  for (int n = 1; n <= gamma + 1; ++n) {
    // P(N >= n) is the amount that the n-th token adds to the expectation.
    const double at_least = n == 1 ? 1 : expected_tokens(alpha, n - 1) - expected_tokens(alpha, n - 2);
    const double more = n > gamma ? 0 : expected_tokens(alpha, n) - expected_tokens(alpha, n - 1);
    probabilities.push_back(at_least - more);
  }
  out.list("iid", probabilities);
}

/// Counts of rounds by their number of accepted tokens; the next call adds to them.
struct LengthCounts {
  std::uint64_t rounds = 0;
  std::vector<std::uint64_t> lengths;              ///< lengths[k] rounds accepted k tokens
  std::vector<double> trial_rounds, trial_tokens;  ///< by trial

  /// Counts a round of the last trial, or of a new one after `length` rounds.
  void add(std::int32_t accepted, std::uint32_t length) {
    if (rounds++ % length == 0) {
      trial_rounds.push_back(0);
      trial_tokens.push_back(0);
    }
    ++lengths[static_cast<std::size_t>(accepted)];
    ++trial_rounds.back();
    trial_tokens.back() += accepted + 1;
  }
};

/// Writes rounds, lengths, shares (counted P(N = n), n = 1, 2, ...), and tokens_per_target_step with the 95%
/// interval of `speclab run`, from its trials, unless they are alike.
inline void describe_lengths(const LengthCounts& counts, Record& out) {
  out.number("rounds", static_cast<double>(counts.rounds));
  out.list("lengths", counts.lengths);
  std::vector<double> shares;
  double emitted = 0;
  for (std::size_t k = 0; k < counts.lengths.size(); ++k) {
    shares.push_back(static_cast<double>(counts.lengths[k]) / static_cast<double>(counts.rounds));
    emitted += static_cast<double>((k + 1) * counts.lengths[k]);
  }
  out.list("shares", shares);
  out.number("tokens_per_target_step", emitted / static_cast<double>(counts.rounds));
  const auto found = bounded_ratio_interval(counts.trial_tokens, counts.trial_rounds,
                                            {1, static_cast<double>(counts.lengths.size())}, 0.95);
  if (found && counts.trial_rounds.size() > 1)
    out.list("interval", std::vector<double>{found->low, found->high});
}

/// Runs `count` more rounds, counted over trials of `length` rounds each, as the experiment "iid" does.
inline void iid_rounds(double alpha, std::int32_t gamma, std::uint64_t seed, std::uint32_t length,
                       std::uint64_t count, LengthCounts& state, Record& out) {
  const std::vector<std::uint64_t> thresholds = iid_thresholds(alpha, gamma);
  state.lengths.resize(static_cast<std::size_t>(gamma) + 1);
  const auto add = [&](std::uint64_t word) {
    state.add(iid_accepted(word, thresholds.data(), gamma), length);
  };
  for (const std::uint64_t end = state.rounds + count; state.rounds < end;) {
    const auto round = static_cast<std::uint32_t>(state.rounds % length);
    const PhiloxWords words = iid_words(seed, static_cast<std::uint32_t>(state.rounds / length), round / 2);
    const bool both = round % 2 == 0 && round + 1 < length && state.rounds + 1 < end;
    add(round % 2 == 0 ? words.first : words.second);
    if (both) add(words.second);
  }
  describe_lengths(state, out);
}

/// A text of easy and hard stretches (runs of consecutive tokens): each token stays in its stretch with
/// probability `stay`. A drafted token is accepted with probability `easy` after an easy token and `hard`
/// after a hard one. The models have tokens 0 (easy), 1 (hard) and 2, which only the draft proposes.
struct Stretches {
  double easy;
  double hard;
  double stay;
};

struct StretchModels {
  ExactTable<double> target;
  ExactTable<double> draft;
};

/// Returns the models, whose rows are normalised as the program's tables are.
inline StretchModels models_of(const Stretches& stretches) {
  const auto row = [&](bool is_easy, double accepted) {
    const double to_easy = is_easy ? stretches.stay : 1 - stretches.stay;
    std::vector<double> probabilities{accepted * to_easy, accepted * (1 - to_easy), 1 - accepted};
    normalise(probabilities);
    return probabilities;
  };
  const std::vector<double> easy = row(true, 1);
  return {
      ExactTable<double>({easy, row(false, 1), easy}),
      ExactTable<double>({row(true, stretches.easy), row(false, stretches.hard), row(true, stretches.easy)})};
}

/// Writes the three rows of both models, in sequence, and the results of `speclab exact` for them.
inline void exact_stretches(const Stretches& stretches, std::int32_t gamma, Record& out) {
  const StretchModels models = models_of(stretches);
  std::vector<double> scratch;
  const auto rows = [&](const ExactTable<double>& table) {
    std::vector<double> all;
    for (Token token = 0; token < table.vocab(); ++token) {
      const Row row = table.next(std::span<const Token>(&token, 1), scratch);
      all.insert(all.end(), row.probabilities, row.probabilities + row.size);
    }
    return all;
  };
  out.list("target_rows", rows(models.target));
  out.list("draft_rows", rows(models.draft));
  const std::vector<std::vector<Token>> prompts{{0}};
  const ContextChain chain =
      build_context_chain(ModelRef<double>(models.target), ModelRef<double>(models.draft),
                          EnumerableRule(TokenRule{}), 1, prompts);
  std::vector<double> start(chain.contexts.size(), 1.0 / static_cast<double>(chain.contexts.size()));
  const StationaryDistribution plain = stationary_plain(chain, start);
  const double alpha = std::clamp(mean_acceptance(chain, plain.distribution), 0.0, 1.0);
  const RoundStatistics found =
      round_statistics(chain, gamma, stationary_rounds(chain, gamma, plain.distribution).distribution);
  out.number("alpha", alpha);
  out.number("tokens_per_target_step", found.expected_tokens);
  out.number("tokens_variance", found.variance);
  out.number("iid_tokens_per_target_step", expected_tokens(alpha, gamma));
  out.list("distribution", found.distribution);
  out.number("first_accepted", found.first_accepted);
  optional_number(out, "second_accepted", found.second_accepted);
}

/// The state of trials; the next call continues them.
struct StretchRounds {
  std::vector<Token> context{0};
  LengthCounts counts;
};

/// Runs `count` more rounds, in trials of `length` rounds that start after an easy token.
inline void play_stretches(const Stretches& stretches, std::int32_t gamma, std::uint64_t seed,
                           std::uint32_t length, std::uint32_t count, StretchRounds& state, Record& out) {
  const StretchModels models = models_of(stretches);
  LengthCounts& counts = state.counts;
  counts.lengths.resize(static_cast<std::size_t>(gamma) + 1);
  RoundScratch<double> scratch;
  for (const std::uint64_t end = counts.rounds + count; counts.rounds < end;) {
    const auto round = static_cast<std::uint32_t>(counts.rounds % length);
    if (round == 0) state.context = {0};
    SampledRandomSource random =
        sampled_random_source(seed, static_cast<std::uint32_t>(counts.rounds / length), round);
    const Round done = speculative_round(models.target, models.draft, TokenRule{}, gamma, state.context,
                                         random, scratch, NoWatch{});
    counts.add(done.accepted, length);
    // The models read only the last token.
    state.context.erase(state.context.begin(), state.context.end() - 1);
  }
  describe_lengths(counts, out);
}

}  // namespace speclab::explorer
