// Computes exact distributions of rounds and sequences for small vocabularies, by following every branch of
// the program that the simulator samples. With Real = Rational a comparison of distributions is a proof for
// that instance; with double it holds up to rounding. Costs grow as vocab^gamma per context.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "core/round/paths_round.hpp"
#include "core/round/round.hpp"
#include "core/round/tree_round.hpp"
#include "core/rules/by_position.hpp"
#include "core/stop.hpp"

namespace speclab {

/// A LanguageModel<Real> whose rows are stored. With vocab^n rows it has order n: the row depends on the last
/// n tokens, and its index is those tokens read as a number in base vocab, most recent last. One row is
/// context-free. Contexts shorter than n count as preceded by token 0. Other numbers of rows, and rows of
/// unequal size, are asserted against.
template <class Real>
class ExactTable {
 public:
  explicit ExactTable(std::vector<std::vector<Real>> rows) : rows_(std::move(rows)) {
    assert(!rows_.empty() && !rows_.front().empty());
    const std::size_t width = rows_.front().size();
    std::size_t wanted = 1;
    for (; width > 1 && wanted < rows_.size(); wanted *= width) ++order_;
    assert(wanted == rows_.size());
    for ([[maybe_unused]] const auto& row : rows_) assert(row.size() == width);
  }

  std::int32_t vocab() const { return static_cast<std::int32_t>(rows_.front().size()); }
  std::size_t order() const { return order_; }

  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>&) const {
    std::size_t index = 0;
    for (const Token token : context.last(std::min(order_, context.size())))
      index = index * rows_.front().size() + static_cast<std::size_t>(token);
    return {rows_[index].data(), vocab()};
  }

 private:
  std::vector<std::vector<Real>> rows_;
  std::size_t order_ = 0;
};

/// Token sequences with their probabilities; sequences that cannot occur are absent.
template <class Real>
using SequenceDistribution = std::map<std::vector<Token>, Real>;

/// Returns the probability of a sequence; 0 if it is absent.
template <class Real>
Real probability_of(const SequenceDistribution<Real>& distribution, const std::vector<Token>& tokens) {
  const auto found = distribution.find(tokens);
  return found == distribution.end() ? Real(0) : found->second;
}

template <class Real>
struct RoundDistribution {
  SequenceDistribution<Real> emitted;  ///< tokens that it appends: an accepted prefix and one more
  std::vector<Real> accepted;          ///< accepted[k] = P(exactly k drafted tokens accepted), k = 0..gamma
  Real expected_tokens{0};             ///< mean number of tokens emitted
  Real rejected{0};                    ///< P(the rule rejected something)
  std::uint64_t branches = 0;          ///< leaves of the program
};

/// Returns the distribution of one round from `context`. A round that ends in an invalid row emits only its
/// accepted prefix.
template <class Real, class Target, class Draft, class Rule>
RoundDistribution<Real> round_distribution(const Target& target, const Draft& draft, const Rule& rule,
                                           std::int32_t gamma, std::span<const Token> context) {
  struct Leaf {
    std::vector<Token> emitted;
    std::int32_t accepted;
    bool rejected;
  };
  RoundScratch<Real> scratch;
  std::vector<Token> tokens;
  const auto program = [&](EnumeratedRandomSource<Real>& random) {
    tokens.assign(context.begin(), context.end());
    const Round round = speculative_round(target, draft, rule, gamma, tokens, random, scratch, NoWatch{});
    return Leaf{{tokens.begin() + std::ssize(context), tokens.end()},
                round.accepted,
                round.examined > round.accepted};
  };

  RoundDistribution<Real> distribution;
  distribution.accepted.assign(static_cast<std::size_t>(gamma) + 1, Real(0));
  enumerate<Real>(program, [&](const Leaf& leaf, const Real& probability) {
    distribution.emitted[leaf.emitted] += probability;
    distribution.accepted[static_cast<std::size_t>(leaf.accepted)] += probability;
    distribution.expected_tokens += probability * Real(leaf.emitted.size());
    if (leaf.rejected) distribution.rejected += probability;
    ++distribution.branches;
  });
  return distribution;
}

/// Extends the empty sequence until every sequence has `length` tokens (longer ones are cut) or cannot grow.
/// `extend(context)` returns the distribution of the next tokens; it depends only on the context, so equal
/// prefixes are merged before they are extended.
template <class Real, class Extend>
SequenceDistribution<Real> grow_distribution(std::span<const Token> context, std::size_t length,
                                             const Extend& extend) {
  std::vector<SequenceDistribution<Real>> by_length(length + 1);
  by_length[0][{}] = Real(1);
  SequenceDistribution<Real> stuck;
  for (std::size_t size = 0; size < length; ++size) {
    for (const auto& [prefix, probability] : by_length[size]) {
      end_if_stopped();
      std::vector<Token> seen(context.begin(), context.end());
      seen.insert(seen.end(), prefix.begin(), prefix.end());
      for (const auto& [tokens, weight] : extend(std::span<const Token>(seen))) {
        std::vector<Token> longer = prefix;
        const std::size_t missing = std::min(tokens.size(), length - size);
        longer.insert(longer.end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(missing));
        SequenceDistribution<Real>& home = missing == 0 ? stuck : by_length[size + missing];
        home[longer] += probability * weight;
      }
    }
  }
  stuck.merge(by_length[length]);
  return stuck;
}

/// Returns the distribution of the first `length` tokens that repeated rounds append to `context`. A sequence
/// that stops at an invalid row is listed as it is.
template <class Real, class Target, class Draft, class Rule>
SequenceDistribution<Real> sequence_distribution(const Target& target, const Draft& draft, const Rule& rule,
                                                 std::int32_t gamma, std::span<const Token> context,
                                                 std::size_t length) {
  return grow_distribution<Real>(context, length, [&](std::span<const Token> seen) {
    return round_distribution<Real>(target, draft, rule, gamma, seen).emitted;
  });
}

/// Returns the distribution of the first `length` tokens without speculation, which a lossless rule must
/// reproduce. `rule` defines their weights (plain_weights of core/round/verify.hpp).
template <class Real, class Target, class Rule = BonusFromTarget>
SequenceDistribution<Real> plain_distribution(const Target& target, std::span<const Token> context,
                                              std::size_t length, const Rule& rule = {}) {
  std::vector<Real> scratch;
  return grow_distribution<Real>(context, length, [&](std::span<const Token> seen) {
    const BasicRow<Real> given = target.next(seen, scratch);
    const auto row = plain_weights(rule, given);
    const Real total = total_probability(row);
    SequenceDistribution<Real> distribution;
    if (!(total > Real(0))) {
      distribution[{}] = Real(1);
      return distribution;
    }
    for (Token id = 0; id < row.size; ++id) {
      if (row[id] > Real(0)) distribution[{id}] = row[id] / total;
    }
    return distribution;
  });
}

/// Returns a - b, sequence by sequence.
template <class Real>
SequenceDistribution<Real> distribution_difference(const SequenceDistribution<Real>& a,
                                                   const SequenceDistribution<Real>& b) {
  SequenceDistribution<Real> difference = a;
  for (const auto& [tokens, probability] : b) difference[tokens] -= probability;
  return difference;
}

/// Returns half the L1 norm of a difference of distributions: the total variation between them.
template <class Real>
Real total_variation_of(const SequenceDistribution<Real>& difference) {
  Real distance(0);
  for (const auto& [tokens, gap] : difference) distance += gap < Real(0) ? Real(-gap) : gap;
  return distance / Real(2);
}

/// Returns the total variation between two distributions, exact if Real is. For rationals it is 0 if and only
/// if the distributions are equal.
template <class Real>
Real distribution_distance(const SequenceDistribution<Real>& a, const SequenceDistribution<Real>& b) {
  return total_variation_of(distribution_difference(a, b));
}

}  // namespace speclab
