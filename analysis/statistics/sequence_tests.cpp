#include "analysis/statistics/sequence_tests.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/multiple_tests.hpp"

namespace speclab {
namespace {

/// 64-bit mixing of a token sequence; only equality and spread matter, not secrecy.
std::uint64_t hash_tokens(std::span<const Token> tokens) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const Token token : tokens) {
    hash ^= static_cast<std::uint64_t>(token) + 0x9e3779b97f4a7c15ULL;
    hash *= 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

/// Where a sequence goes when it is too rare for a cell of its own.
std::uint64_t rare_cell(std::span<const Token> sequence) {
  const Token ends[2] = {sequence.front(), sequence.back()};
  return hash_tokens(ends) % rare_cells;
}

bool has_own_cell(double probability, std::uint64_t samples, double minimum) {
  return probability * static_cast<double>(samples) >= minimum;
}

struct Pair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t rare = 0;
};

/// Sets the joint test and its cells.
void set_joint(SequenceTests& tests, std::span<const Token> first, std::span<const Token> second,
               std::size_t length, double minimum) {
  std::unordered_map<std::uint64_t, Pair> seen;
  const auto add = [&](std::span<const Token> sample, std::uint64_t Pair::*count) {
    for (std::size_t start = 0; start < sample.size(); start += length) {
      const auto sequence = sample.subspan(start, length);
      Pair& pair = seen[hash_tokens(sequence)];
      ++(pair.*count);
      pair.rare = rare_cell(sequence);
    }
  };
  add(first, &Pair::first);
  add(second, &Pair::second);

  std::vector<std::pair<std::uint64_t, const Pair*>> ordered;
  ordered.reserve(seen.size());
  for (const auto& [hash, pair] : seen) ordered.emplace_back(hash, &pair);
  std::sort(ordered.begin(), ordered.end());
  const auto total = static_cast<double>(first.size() + second.size());
  const double smaller_share = static_cast<double>(std::min(first.size(), second.size())) / total;
  std::vector<std::uint64_t> first_counts(rare_cells);
  std::vector<std::uint64_t> second_counts(rare_cells);
  for (const auto& [hash, pair] : ordered) {
    const bool own_cell = static_cast<double>(pair->first + pair->second) * smaller_share >= minimum;
    if (own_cell) {
      first_counts.push_back(pair->first);
      second_counts.push_back(pair->second);
      ++tests.own_cells;
    } else {
      tests.rare += pair->first + pair->second;
      first_counts[pair->rare] += pair->first;
      second_counts[pair->rare] += pair->second;
    }
  }
  tests.joint = two_sample_test(first_counts, second_counts, minimum);
}

/// One token of one sequence, with the hash of the tokens before it.
struct Next {
  std::uint64_t prefix;
  Token token;
  bool second;  ///< from which sample

  bool operator<(const Next& other) const {
    return prefix != other.prefix ? prefix < other.prefix : token < other.token;
  }
};

/// Calls `group(first, last)` for each stretch of sorted entries with one prefix.
template <class Group>
void for_each_prefix(const std::vector<Next>& entries, const Group& group) {
  for (std::size_t start = 0; start < entries.size();) {
    std::size_t end = start;
    while (end < entries.size() && entries[end].prefix == entries[start].prefix) ++end;
    group(std::span<const Next>(entries).subspan(start, end - start));
    start = end;
  }
}

void append_position(std::vector<Next>& entries, std::span<const Token> sample, std::size_t length,
                     std::size_t position, bool second) {
  for (std::size_t start = 0; start < sample.size(); start += length) {
    entries.push_back({hash_tokens(sample.subspan(start, position)), sample[start + position], second});
  }
}

PositionTest add_up(const std::vector<FitTest>& tests, std::size_t all_samples) {
  PositionTest result;
  result.sum = sum_of_tests(tests);
  result.prefixes = static_cast<int>(tests.size());
  result.covered = static_cast<double>(result.sum.samples) / static_cast<double>(all_samples);
  return result;
}

PositionTest position_two_sample(std::span<const Token> first, std::span<const Token> second,
                                 std::size_t length, std::size_t position, double minimum) {
  std::vector<Next> entries;
  entries.reserve((first.size() + second.size()) / length);
  append_position(entries, first, length, position, false);
  append_position(entries, second, length, position, true);
  std::sort(entries.begin(), entries.end());
  std::vector<FitTest> tests;
  std::vector<std::uint64_t> counts[2];
  for_each_prefix(entries, [&](std::span<const Next> group) {
    if (static_cast<double>(group.size()) < 4 * minimum) return;  // two cells of two samples
    for (auto& each : counts) each.clear();
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (i == 0 || group[i].token != group[i - 1].token) {
        for (auto& each : counts) each.push_back(0);
      }
      ++counts[group[i].second ? 1 : 0].back();
    }
    const FitTest test = two_sample_test(counts[0], counts[1], minimum);
    if (test.degrees > 0) tests.push_back(test);
  });
  return add_up(tests, entries.size());
}

}  // namespace

std::vector<double> SequenceTests::p_values() const {
  std::vector<double> all{joint.pearson_p, joint.g_p};
  for (const PositionTest& position : positions) all.push_back(position.sum.pearson_p);
  return all;
}

double SequenceTests::adjusted_p() const {
  const std::vector<double> adjusted = holm_adjusted(p_values());
  return *std::min_element(adjusted.begin(), adjusted.end());
}

SequenceTests two_sample_sequence_tests(std::span<const Token> first, std::span<const Token> second,
                                        std::size_t length, double minimum) {
  assert(length > 0 && !first.empty() && first.size() % length == 0);
  assert(!second.empty() && second.size() % length == 0);
  SequenceTests tests;
  set_joint(tests, first, second, length, minimum);
  for (std::size_t position = 0; position < length; ++position) {
    tests.positions.push_back(position_two_sample(first, second, length, position, minimum));
  }
  return tests;
}

ExactSequenceTests::ExactSequenceTests(const SequenceDistribution<double>& distribution, std::int32_t vocab,
                                       std::size_t length, std::uint64_t samples, double minimum)
    : length_(length), samples_(samples), minimum_(minimum), probabilities_(rare_cells), next_(length) {
  assert(length > 0);
  for (const auto& [sequence, probability] : distribution) {
    if (!(probability > 0)) continue;
    assert(sequence.size() == length);
    std::uint32_t& cell = cell_of_[hash_tokens(sequence)];
    if (has_own_cell(probability, samples, minimum)) {
      cell = static_cast<std::uint32_t>(probabilities_.size());
      probabilities_.push_back(probability);
    } else {
      cell = static_cast<std::uint32_t>(rare_cell(sequence));
      probabilities_[cell] += probability;
    }
    for (std::size_t position = 0; position < length; ++position) {
      auto& next = next_[position][hash_tokens(std::span<const Token>(sequence).first(position))];
      next.resize(static_cast<std::size_t>(vocab));
      next[static_cast<std::size_t>(sequence[position])] += probability;
    }
  }
  probabilities_.push_back(0);
}

PositionTest ExactSequenceTests::position_test(std::span<const Token> sample, std::size_t position) const {
  std::vector<Next> entries;
  entries.reserve(sample.size() / length_);
  append_position(entries, sample, length_, position, false);
  std::sort(entries.begin(), entries.end());
  std::vector<FitTest> tests;
  std::vector<std::uint64_t> counts;
  for_each_prefix(entries, [&](std::span<const Next> group) {
    const auto distribution = next_[position].find(group.front().prefix);
    if (distribution == next_[position].end())
      return;  // an impossible prefix: an earlier position has seen it
    counts.assign(distribution->second.size(), 0);
    for (const Next& each : group) ++counts[static_cast<std::size_t>(each.token)];
    const FitTest test = fit_test(counts, distribution->second, minimum_);
    if (test.degrees > 0 || test.impossible > 0) tests.push_back(test);
  });
  return add_up(tests, entries.size());
}

SequenceTests ExactSequenceTests::test(std::span<const Token> sample) const {
  assert(!sample.empty() && sample.size() % length_ == 0);
  std::vector<std::uint64_t> counts(probabilities_.size());
  for (std::size_t start = 0; start < sample.size(); start += length_) {
    const auto cell = cell_of_.find(hash_tokens(sample.subspan(start, length_)));
    ++(cell == cell_of_.end() ? counts.back() : counts[cell->second]);
  }
  SequenceTests tests;
  tests.joint = fit_test(counts, probabilities_, minimum_);
  for (std::size_t position = 0; position < length_; ++position) {
    tests.positions.push_back(position_test(sample, position));
  }
  return tests;
}

std::vector<double> ExactSequenceTests::cell_probabilities(
    const SequenceDistribution<double>& distribution) const {
  std::vector<double> probabilities(probabilities_.size());
  for (const auto& [sequence, probability] : distribution) {
    const auto cell = cell_of_.find(hash_tokens(sequence));
    (cell == cell_of_.end() ? probabilities.back() : probabilities[cell->second]) += probability;
  }
  return probabilities;
}

PlannedTest ExactSequenceTests::plan(const SequenceDistribution<double>& alternative) const {
  return planned_fit_test(probabilities_, cell_probabilities(alternative), samples_, minimum_);
}

int joint_degrees(const SequenceDistribution<double>& distribution, std::uint64_t samples, double minimum) {
  std::vector<double> cells(rare_cells);
  for (const auto& [sequence, probability] : distribution) {
    if (!(probability > 0)) continue;
    if (has_own_cell(probability, samples, minimum)) {
      cells.push_back(probability);
    } else {
      cells[rare_cell(sequence)] += probability;
    }
  }
  return planned_fit_test(cells, cells, samples, minimum).degrees;
}

double max_joint_degrees(const SequenceTests& two_samples, std::uint64_t samples_each, double sequences,
                         double minimum) {
  constexpr double sure = 0.999;
  const double rare_share = binomial_interval(two_samples.rare, two_samples.joint.samples, sure)->high;
  // A cell expects `minimum` in either sample.
  const double more = rare_share * static_cast<double>(samples_each) / minimum;
  const double own = std::min(static_cast<double>(two_samples.own_cells) + more, sequences);
  return own + static_cast<double>(rare_cells) - 1;
}

PlannedTest plan_two_sample(const SequenceDistribution<double>& first,
                            const SequenceDistribution<double>& second, std::uint64_t samples_each,
                            double minimum) {
  std::map<std::vector<Token>, std::pair<double, double>> both;
  for (const auto& [sequence, probability] : first) both[sequence].first = probability;
  for (const auto& [sequence, probability] : second) both[sequence].second = probability;
  std::vector<double> first_probabilities(rare_cells);
  std::vector<double> second_probabilities(rare_cells);
  for (const auto& [sequence, probabilities] : both) {
    if ((probabilities.first + probabilities.second) / 2 * static_cast<double>(samples_each) >= minimum) {
      first_probabilities.push_back(probabilities.first);
      second_probabilities.push_back(probabilities.second);
    } else {
      const std::uint64_t cell = rare_cell(sequence);
      first_probabilities[cell] += probabilities.first;
      second_probabilities[cell] += probabilities.second;
    }
  }
  return planned_two_sample_test(first_probabilities, second_probabilities, samples_each, minimum);
}

}  // namespace speclab
