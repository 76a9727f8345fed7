#include "analysis/statistics/acceptance_log.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "analysis/statistics/goodness_of_fit.hpp"

namespace speclab {

namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

int examined(const LoggedRound& round) { return std::min(round.accepted + 1, round.drafted); }

/// 1 + a_1 (1 + a_2 (...)) up to a_gamma, and its derivatives with respect to each a.
struct TokensOfPositions {
  double tokens;
  std::vector<double> slopes;
};

TokensOfPositions tokens_of(const PositionCounts& counts, std::size_t gamma) {
  const auto rate = [&](std::size_t j) { return real(counts.accepted[j]) / real(counts.examined[j]); };
  std::vector<double> from(gamma + 1, 1.0);
  for (std::size_t j = gamma; j-- > 0;) from[j] = 1 + rate(j) * from[j + 1];
  TokensOfPositions out{from[0], {}};
  double reached = 1;
  for (std::size_t j = 0; j < gamma; ++j) {
    out.slopes.push_back(reached * from[j + 1]);
    reached *= rate(j);
  }
  return out;
}

/// Tests at half of the level, since there are two tests.
bool rejected(const LogTest& test) {
  constexpr double level = 0.001;
  return test.p < level / 2;
}

}  // namespace

std::uint64_t PositionCounts::total_examined() const { return sum(examined); }
std::uint64_t PositionCounts::total_accepted() const { return sum(accepted); }

PositionCounts count_positions(std::span<const LoggedRound> log) {
  PositionCounts counts;
  for (const LoggedRound& round : log) {
    ++counts.rounds;
    const auto reached = static_cast<std::size_t>(speclab::examined(round));
    if (counts.examined.size() < reached) {
      counts.examined.resize(reached);
      counts.accepted.resize(reached);
    }
    for (std::size_t i = 0; i < reached; ++i) ++counts.examined[i];
    for (std::size_t i = 0; i < static_cast<std::size_t>(round.accepted); ++i) ++counts.accepted[i];
  }
  return counts;
}

PositionCounts count_positions(std::uint64_t rounds, std::span<const std::uint64_t> accepted) {
  PositionCounts counts{rounds, {}, {}};
  std::uint64_t reached = rounds;
  for (const std::uint64_t passed : accepted) {
    assert(passed <= reached);
    counts.examined.push_back(reached);
    counts.accepted.push_back(passed);
    reached = passed;
  }
  return counts;
}

std::optional<Interval> stretch_interval(std::span<const LoggedRound> log, int stretches, double confidence) {
  const auto batches = static_cast<std::size_t>(stretches);
  if (log.size() < 2 * batches) return std::nullopt;
  std::vector<double> accepted(batches);
  std::vector<double> examined_in(batches);
  std::vector<double> drafted_in(batches);
  std::vector<double> rounds_in(batches);
  for (std::size_t i = 0; i < log.size(); ++i) {
    const std::size_t batch = i * batches / log.size();
    accepted[batch] += log[i].accepted;
    examined_in[batch] += examined(log[i]);
    drafted_in[batch] += log[i].drafted;
    rounds_in[batch] += 1;
  }
  // A round that accepts nothing examines one token; a round that accepts everything examines all of them.
  const LargestDenominators largest{*std::max_element(rounds_in.begin(), rounds_in.end()),
                                    *std::max_element(drafted_in.begin(), drafted_in.end())};
  const auto interval = bounded_ratio_interval(accepted, examined_in, {0, 1}, confidence, largest);
  if (interval && neighbours_alike(accepted, examined_in, interval->estimate))
    return unbounded(interval->estimate);
  return interval;
}

bool neighbours_alike(std::span<const double> numerators, std::span<const double> denominators,
                      double ratio) {
  constexpr double one_sided = 1.645;
  const auto error = [&](std::size_t i) { return numerators[i] - ratio * denominators[i]; };
  const auto n = static_cast<double>(numerators.size());
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    squares += error(i) * error(i);
    if (i > 0) products += error(i - 1) * error(i);
  }
  return products > squares * (one_sided / std::sqrt(n) - 1 / n);
}

LogTest position_test(const PositionCounts& counts) {
  // Accepted and rejected tokens are two samples, with positions as classes. They have the same distribution
  // if the acceptance rate is the same everywhere.
  std::vector<std::uint64_t> rejected(counts.examined.size());
  std::transform(counts.examined.begin(), counts.examined.end(), counts.accepted.begin(), rejected.begin(),
                 std::minus<>());
  const FitTest test = two_sample_test(counts.accepted, rejected);
  return {test.pearson, test.degrees, test.p()};
}

LogTest neighbour_test(std::span<const LoggedRound> log) {
  std::vector<std::uint64_t> after_rejected(2);
  std::vector<std::uint64_t> after_accepted(2);
  for (std::size_t i = 0; i + 1 < log.size(); i += 2) {
    if (log[i].drafted == 0 || log[i + 1].drafted == 0) continue;
    const std::size_t next = log[i + 1].accepted > 0 ? 1 : 0;
    ++(log[i].accepted > 0 ? after_accepted : after_rejected)[next];
  }
  if (sum(after_rejected) == 0 || sum(after_accepted) == 0) return {};
  const FitTest test = two_sample_test(after_rejected, after_accepted);
  return {test.pearson, test.degrees, test.p()};
}

PositionalTokens positional_tokens(const PositionCounts& counts, double confidence) {
  std::vector<Interval> rates;  // a_i
  for (std::size_t i = 0; i < counts.examined.size() && counts.examined[i] > 0; ++i)
    rates.push_back(*binomial_interval(counts.accepted[i], counts.examined[i], confidence));
  PositionalTokens out{{1.0}, {1.0}, {1.0}};
  for (std::size_t gamma = 1; gamma <= rates.size(); ++gamma) {
    const auto [tokens, slopes] = tokens_of(counts, gamma);
    double below = 0;
    double above = 0;
    for (std::size_t j = 0; j < gamma; ++j) {
      below += std::pow(slopes[j] * (rates[j].estimate - rates[j].low), 2);
      above += std::pow(slopes[j] * (rates[j].high - rates[j].estimate), 2);
    }
    out.tokens.push_back(tokens);
    out.low.push_back(std::max(tokens - std::sqrt(below), 1.0));
    out.high.push_back(std::min(tokens + std::sqrt(above), static_cast<double>(gamma) + 1));
  }
  return out;
}

PositionalTokens positional_tokens(std::span<const LoggedRound> log, double confidence) {
  constexpr std::size_t stretches = 10;
  const PositionCounts counts = count_positions(log);
  PositionalTokens out = positional_tokens(counts, confidence);
  if (log.size() < 2 * stretches) return out;
  std::vector<PositionCounts> parts;
  std::vector<double> rounds;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t first = i * log.size() / stretches;
    parts.push_back(count_positions(log.subspan(first, (i + 1) * log.size() / stretches - first)));
    rounds.push_back(real(parts.back().rounds));
  }
  for (std::size_t gamma = 1; gamma < out.tokens.size(); ++gamma) {
    const auto [tokens, slopes] = tokens_of(counts, gamma);
    // To first order each span contributes to the error by its accepted tokens at each position.
    std::vector<double> sums;
    for (const PositionCounts& part : parts) {
      double& sum = sums.emplace_back(tokens * real(part.rounds));
      for (std::size_t j = 0; j < std::min(gamma, part.examined.size()); ++j) {
        const double examined = real(counts.examined[j]);
        const double expected = real(counts.accepted[j]) / examined * real(part.examined[j]);
        sum += slopes[j] * (real(part.accepted[j]) - expected) * real(counts.rounds) / examined;
      }
    }
    const Interval bounds = neighbours_alike(sums, rounds, tokens)
                                ? unbounded(tokens)
                                : *ratio_interval(sums, rounds, confidence);
    out.low[gamma] = std::max(1.0, std::min(out.low[gamma], bounds.low));
    out.high[gamma] = std::min(real(gamma) + 1, std::max(out.high[gamma], bounds.high));
  }
  return out;
}

bool LogFit::positions_rejected() const { return rejected(positions_alike); }

bool LogFit::rounds_rejected() const { return rounds_independent && rejected(*rounds_independent); }

LogFit log_fit(std::span<const LoggedRound> rounds, const PositionCounts& counts, double confidence) {
  constexpr int stretches = 20;
  LogFit fit;
  fit.alpha_by_stretches = stretch_interval(rounds, stretches, confidence);
  fit.positions_alike = position_test(counts);
  if (!rounds.empty()) fit.rounds_independent = neighbour_test(rounds);
  double reached = 1;
  for (std::size_t i = 0; i < counts.examined.size() && counts.examined[i] > 0; ++i) {
    const Interval conditional = *binomial_interval(counts.accepted[i], counts.examined[i], confidence);
    reached *= conditional.estimate;
    fit.positions.push_back({i + 1, counts.examined[i], counts.accepted[i], conditional, reached});
  }
  return fit;
}

double rounds_to_examine(double alpha, int position, double times) {
  return times / std::pow(alpha, position - 1);
}

}  // namespace speclab
