#include "analysis/statistics/sequence_tests.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/multiple_tests.hpp"

namespace speclab {
namespace {

/// Returns a 64-bit hash of a token sequence; only equality and spread matter, not secrecy.
std::uint64_t hash_tokens(std::span<const Token> tokens) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const Token token : tokens) {
    hash ^= static_cast<std::uint64_t>(token) + 0x9e3779b97f4a7c15ULL;
    hash *= 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

struct SeenSequence {
  std::span<const Token> tokens;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// Sets the joint test and its cells. Sequences are sorted by their tokens, so that rare ones with a common
/// prefix form a group.
void set_joint(SequenceTests& tests, std::span<const Token> first, std::span<const Token> second,
               std::size_t length, double minimum) {
  std::unordered_map<std::uint64_t, SeenSequence> seen;
  const auto add = [&](std::span<const Token> sample, std::uint64_t SeenSequence::*count) {
    for (std::size_t start = 0; start < sample.size(); start += length) {
      const auto sequence = sample.subspan(start, length);
      SeenSequence& one = seen[hash_tokens(sequence)];
      one.tokens = sequence;
      ++(one.*count);
    }
  };
  add(first, &SeenSequence::first);
  add(second, &SeenSequence::second);

  std::vector<const SeenSequence*> ordered;
  ordered.reserve(seen.size());
  for (const auto& [hash, one] : seen) ordered.push_back(&one);
  std::ranges::sort(ordered, [](const SeenSequence* a, const SeenSequence* b) {
    return std::ranges::lexicographical_compare(a->tokens, b->tokens);
  });
  std::vector<std::uint64_t> first_counts;
  std::vector<std::uint64_t> second_counts;
  for (const SeenSequence* one : ordered) {
    first_counts.push_back(one->first);
    second_counts.push_back(one->second);
  }
  tests.joint = two_sample_test(first_counts, second_counts, minimum);
  tests.own_cells = ordered.size() - static_cast<std::size_t>(tests.joint.rare_classes);
}

/// One token of one sequence, with the hash of the tokens before it.
struct Next {
  std::uint64_t prefix;
  Token token;
  bool second;  ///< whether it is from the second sample

  bool operator<(const Next& other) const {
    return prefix != other.prefix ? prefix < other.prefix : token < other.token;
  }
};

/// Calls `group(first, last)` for each range of sorted entries with a common prefix.
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
  for (std::size_t start = 0; start < sample.size(); start += length)
    entries.push_back({hash_tokens(sample.subspan(start, position)), sample[start + position], second});
}

/// Returns whether a prefix's test counts: it has two cells, or one cell and rare tokens, or an impossible
/// token. Rare tokens alone would only use up part of the level.
bool is_tested(const FitTest& test) {
  return test.degrees > 0 || test.impossible > 0 || (test.cells > 0 && test.tails > 0);
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
    if (static_cast<double>(group.size()) < 4 * minimum) return;  // needs two cells of two samples
    for (auto& each : counts) each.clear();
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (i == 0 || group[i].token != group[i - 1].token) {
        for (auto& each : counts) each.push_back(0);
      }
      ++counts[group[i].second ? 1 : 0].back();
    }
    const FitTest test = two_sample_test(counts[0], counts[1], minimum);
    if (is_tested(test)) tests.push_back(test);
  });
  return add_up(tests, entries.size());
}

}  // namespace

std::vector<double> SequenceTests::p_values() const {
  std::vector<double> all{joint.cells_p()};
  if (joint.tails > 0) all.push_back(joint.tail_p);
  for (const PositionTest& position : positions) all.push_back(position.sum.p());
  return all;
}

double SequenceTests::adjusted_p() const { return std::ranges::min(holm_adjusted(p_values())); }

SequenceTests two_sample_sequence_tests(std::span<const Token> first, std::span<const Token> second,
                                        std::size_t length, double minimum) {
  assert(length > 0 && !first.empty() && first.size() % length == 0);
  assert(!second.empty() && second.size() % length == 0);
  SequenceTests tests;
  set_joint(tests, first, second, length, minimum);
  for (std::size_t position = 0; position < length; ++position)
    tests.positions.push_back(position_two_sample(first, second, length, position, minimum));
  return tests;
}

ExactSequenceTests::ExactSequenceTests(const SequenceDistribution<double>& distribution, std::int32_t vocab,
                                       std::size_t length, double minimum)
    : length_(length), minimum_(minimum), next_(length) {
  assert(length > 0);
  for (const auto& [sequence, probability] : distribution) {
    if (!(probability > 0)) continue;
    assert(sequence.size() <= length);
    class_of_[hash_tokens(sequence)] = static_cast<std::uint32_t>(probabilities_.size());
    probabilities_.push_back(probability);
    for (std::size_t position = 0; position < sequence.size(); ++position) {
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
      return;  // an impossible prefix, which an earlier position has reported
    counts.assign(distribution->second.size(), 0);
    for (const Next& each : group) ++counts[static_cast<std::size_t>(each.token)];
    const FitTest test = fit_test(counts, distribution->second, minimum_);
    if (is_tested(test)) tests.push_back(test);
  });
  return add_up(tests, entries.size());
}

SequenceTests ExactSequenceTests::test(std::span<const Token> sample) const {
  assert(!sample.empty() && sample.size() % length_ == 0);
  std::vector<std::uint64_t> counts(probabilities_.size());
  for (std::size_t start = 0; start < sample.size(); start += length_) {
    const auto found = class_of_.find(hash_tokens(sample.subspan(start, length_)));
    ++(found == class_of_.end() ? counts.back() : counts[found->second]);
  }
  SequenceTests tests;
  tests.joint = fit_test(counts, probabilities_, minimum_);
  for (std::size_t position = 0; position < length_; ++position)
    tests.positions.push_back(position_test(sample, position));
  return tests;
}

double joint_level(double level, std::size_t length, bool rare) {
  return level / (static_cast<double>(length) + (rare ? 3 : 2));
}

DetectableDifference detectable_jointly(const SequenceDistribution<double>& distribution, std::int32_t vocab,
                                        std::size_t length, std::uint64_t samples, double level, double power,
                                        double minimum) {
  std::vector<double> probabilities;
  bool rare = false;
  for (const auto& [sequence, probability] : distribution) {
    if (!(probability > 0)) continue;
    probabilities.push_back(probability);
    rare = rare || probability * static_cast<double>(samples) < minimum;
  }
  if (static_cast<double>(probabilities.size()) < std::pow(vocab, length)) probabilities.push_back(0);
  return detectable_difference(probabilities, samples, joint_level(level, length, rare), power, minimum);
}

double max_joint_degrees(const SequenceTests& two_samples, std::uint64_t samples_each, double sequences,
                         double minimum) {
  constexpr double sure = 0.999;
  const double rare_share =
      binomial_interval(two_samples.joint.rare_samples, two_samples.joint.samples, sure)->high;
  // A cell expects `minimum` samples in either sample.
  const double more = rare_share * static_cast<double>(samples_each) / minimum;
  const double own = std::min(static_cast<double>(two_samples.own_cells) + more, sequences);
  return own + max_rare_groups - 1;
}

}  // namespace speclab
