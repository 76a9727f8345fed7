// Lists the tokens of one model of a pair of n-gram models by descending probability, for rules that need a
// context's likeliest tokens. A context stores the order of its listed tokens only. The others keep the order
// of the shorter context, because backing off multiplies them all by one factor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/rules/by_position.hpp"
#include "core/token.hpp"
#include "sim/fast/huge_pages.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/models/packed_ngram.hpp"

namespace speclab {

class LikelyTokens {
 public:
  /// The table must outlive it.
  LikelyTokens(const NgramTable& table, Side side);

  /// Returns an upper bound on the memory, in bytes.
  static double bytes_for(double followers, double contexts) {
    return followers * sizeof(std::uint32_t) + (contexts + 1) * sizeof(std::uint64_t);
  }
  std::size_t bytes() const {
    return places_.size() * sizeof(std::uint32_t) + starts_.size() * sizeof(std::uint64_t);
  }

  /// Returns a context's k-th likeliest token, k >= 1; among equal ones the lower id comes first. A row with
  /// fewer tokens of a probability above 0 has none.
  LikelyToken<double> ranked(std::uint32_t context, std::int32_t k) const;
  /// Calls visit(token) for the tokens of a context's row with a probability of at least `bar`, in descending
  /// order.
  template <class Visit>
  void visit_from(std::uint32_t context, double bar, const Visit& visit) const {
    for_each_in_order(context, [&](Token token, double probability) {
      if (probability < bar) return false;
      visit(token);
      return true;
    });
  }
  /// Calls more(token, probability) for the row's tokens in descending order until it returns false. Among
  /// equal ones the lower id comes first.
  template <class More>
  void for_each_in_order(std::uint32_t context, const More& more) const;

 private:
  /// Returns whether a context from `longest` down to, but not including, `at` lists the token.
  bool listed_above(std::uint32_t longest, std::uint32_t at, Token token) const;

  const NgramTable& table_;
  Side side_;
  BigTable<std::uint64_t> starts_;  ///< start of each context's places, and the end of the last
  BigTable<std::uint32_t> places_;  ///< slots of tokens in their contexts' blocks
};

template <class More>
void LikelyTokens::for_each_in_order(std::uint32_t context, const More& more) const {
  struct Level {
    std::uint32_t at;
    double weight;
    std::uint64_t entry;
    Token token;  ///< `no_token` at the end
    double probability;
  };
  std::array<Level, max_ngram_order> levels;
  std::size_t count = 0;
  const std::uint32_t longest = table_.context(context).longest[side_];
  const auto find_next = [&](Level& level) {
    const NgramTable::Context& here = table_.context(level.at);
    for (; level.entry < starts_[level.at + 1]; ++level.entry) {
      level.token = table_.places(here)[places_[level.entry]];
      if (listed_above(longest, level.at, level.token)) continue;
      level.probability = level.weight * table_.probabilities(here, places_[level.entry])[side_];
      return;
    }
    level.token = no_token;
  };
  double weight = table_.context(longest).scale[side_];
  for (std::uint32_t at = longest;; at = table_.context(at).below[side_]) {
    levels[count] = {at, weight, starts_[at], no_token, 0};
    find_next(levels[count++]);
    if (at == 0) break;
    weight *= table_.context(at).backoff[side_];
  }
  for (;;) {
    Level* first = nullptr;
    for (Level& level : std::span(levels).first(count)) {
      if (level.token == no_token) continue;
      if (first == nullptr || level.probability > first->probability ||
          (level.probability == first->probability && level.token < first->token)) {
        first = &level;
      }
    }
    if (first == nullptr || !more(first->token, first->probability)) return;
    ++first->entry;
    find_next(*first);
  }
}

}  // namespace speclab
