// Exact laws of whole decodes with small vocabularies, by following every branch of the program that the
// simulator samples. With Real = boost::multiprecision::cpp_rational a comparison of laws is a proof for that
// instance; with double it holds to rounding. Costs grow as vocab^gamma per context.
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
#include "core/rules/all_rules.hpp"

namespace speclab {

/// A LanguageModel<Real> that looks its rows up. With vocab^n rows it is of order n: the row depends on the
/// last n tokens, and its index is those tokens read as a number in base vocab, most recent last. One row is
/// context-free. Contexts shorter than n count as preceded by token 0. Any other number of rows, or rows of
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

  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>&) const {
    std::size_t index = 0;
    for (const Token token : context.last(std::min(order_, context.size()))) {
      index = index * rows_.front().size() + static_cast<std::size_t>(token);
    }
    return {rows_[index].data(), vocab()};
  }

 private:
  std::vector<std::vector<Real>> rows_;
  std::size_t order_ = 0;
};

/// Token sequences with their probabilities; sequences that cannot occur are absent.
template <class Real>
using Law = std::map<std::vector<Token>, Real>;

/// Everything about one round.
template <class Real>
struct RoundLaw {
  Law<Real> emitted;           ///< the tokens it appends: an accepted prefix and one more
  std::vector<Real> accepted;  ///< accepted[k] = P(exactly k drafted tokens accepted), k = 0..gamma
  Real expected_tokens{0};     ///< mean number of tokens emitted
  Real rejected{0};            ///< P(the verifier refused something)
  std::uint64_t branches = 0;  ///< leaves of the program
};

/// The law of one round from `context`. A round that ends in a damaged row emits its accepted prefix alone.
template <class Real, class Target, class Draft, class Rule>
RoundLaw<Real> round_law(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                         std::span<const Token> context) {
  struct Leaf {
    std::vector<Token> emitted;
    std::int32_t accepted;
    bool rejected;
  };
  RoundScratch<Real> scratch;
  std::vector<Token> tokens;
  const auto program = [&](EnumeratedChance<Real>& chance) {
    tokens.assign(context.begin(), context.end());
    const Round round = speculative_round(target, draft, rule, gamma, tokens, chance, scratch, NoWatch{});
    return Leaf{{tokens.begin() + std::ssize(context), tokens.end()},
                round.accepted,
                round.examined > round.accepted};
  };

  RoundLaw<Real> law;
  law.accepted.assign(static_cast<std::size_t>(gamma) + 1, Real(0));
  enumerate<Real>(program, [&](const Leaf& leaf, const Real& probability) {
    law.emitted[leaf.emitted] += probability;
    law.accepted[static_cast<std::size_t>(leaf.accepted)] += probability;
    law.expected_tokens += probability * Real(leaf.emitted.size());
    if (leaf.rejected) law.rejected += probability;
    ++law.branches;
  });
  return law;
}

/// Extends the empty sequence until every sequence has `length` tokens (longer ones are cut) or cannot grow.
/// `extend(context)` gives the law of what follows a context. What follows depends on the context alone, so
/// equal prefixes are merged before they are extended, however they were reached.
template <class Real, class Extend>
Law<Real> grow_law(std::span<const Token> context, std::size_t length, const Extend& extend) {
  std::vector<Law<Real>> by_length(length + 1);
  by_length[0][{}] = Real(1);
  Law<Real> stuck;
  for (std::size_t size = 0; size < length; ++size) {
    for (const auto& [prefix, probability] : by_length[size]) {
      std::vector<Token> seen(context.begin(), context.end());
      seen.insert(seen.end(), prefix.begin(), prefix.end());
      for (const auto& [tokens, weight] : extend(std::span<const Token>(seen))) {
        std::vector<Token> longer = prefix;
        const std::size_t room = std::min(tokens.size(), length - size);
        longer.insert(longer.end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(room));
        Law<Real>& home = room == 0 ? stuck : by_length[size + room];
        home[longer] += probability * weight;
      }
    }
  }
  stuck.merge(by_length[length]);
  return stuck;
}

/// The law of the first `length` tokens that repeated rounds append to `context`. A sequence that meets a
/// damaged row and stops growing is listed as it stands.
template <class Real, class Target, class Draft, class Rule>
Law<Real> sequence_law(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                       std::span<const Token> context, std::size_t length) {
  return grow_law<Real>(context, length, [&](std::span<const Token> seen) {
    return round_law<Real>(target, draft, rule, gamma, seen).emitted;
  });
}

/// The law of the first `length` tokens of plain decoding, one at a time from `target`: what a lossless rule
/// must reproduce. `rule` says what plain decoding means to it (core/verify.hpp, plain_weights).
template <class Real, class Target, class Rule = TokenRule>
Law<Real> plain_law(const Target& target, std::span<const Token> context, std::size_t length,
                    const Rule& rule = {}) {
  std::vector<Real> scratch;
  return grow_law<Real>(context, length, [&](std::span<const Token> seen) {
    const BasicRow<Real> given = target.next(seen, scratch);
    const auto row = plain_weights(rule, given);
    const Real total = total_mass(row);
    Law<Real> law;
    if (!(total > Real(0))) {
      law[{}] = Real(1);
      return law;
    }
    for (Token id = 0; id < row.size; ++id) {
      if (row[id] > Real(0)) law[{id}] = row[id] / total;
    }
    return law;
  });
}

/// a - b, sequence by sequence.
template <class Real>
Law<Real> law_difference(const Law<Real>& a, const Law<Real>& b) {
  Law<Real> difference = a;
  for (const auto& [tokens, probability] : b) difference[tokens] -= probability;
  return difference;
}

/// Half the L1 norm of a difference of laws: the total variation between them.
template <class Real>
Real total_variation_of(const Law<Real>& difference) {
  Real distance(0);
  for (const auto& [tokens, gap] : difference) {
    if (gap < Real(0)) {
      distance -= gap;
    } else {
      distance += gap;
    }
  }
  return distance / Real(2);
}

/// Total variation between two laws, exact when Real is. For rationals it is 0 exactly when the laws are
/// equal.
template <class Real>
Real law_distance(const Law<Real>& a, const Law<Real>& b) {
  return total_variation_of(law_difference(a, b));
}

}  // namespace speclab
