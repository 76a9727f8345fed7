// Computes the PositionNumbers of ByPosition rules (core/rules/by_position.hpp) for n-gram rows without a
// pass over them: from the likeliest tokens and from totals.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/fast/likely_tokens.hpp"
#include "sim/fast/ngram_entropies.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/position_program.hpp"

namespace speclab {

/// Records which lookups a rule uses, so that they can be prepared. The rule's `numbers` runs once on
/// placeholder values, without any row.
class AskedLookups final : public RowLookups {
 public:
  explicit AskedLookups(const AnyPositionRule& rule) { rule.numbers<RowLookups>(*this); }

  LikelyToken<double> target_best() const override { return likely(target_side); }
  LikelyToken<double> target_ranked(std::int32_t) const override { return likely(target_side); }
  LikelyToken<double> draft_best() const override { return likely(draft_side); }
  double total_variation() const override { return 0; }
  double minus_entropy() const override {
    entropies = true;
    return 0;
  }
  double smallest_ratio() const override { return 0; }
  double draft_below(double) const override { return likely(target_side).probability; }

  mutable std::array<bool, 2> likeliest{};  ///< whether the rule asks for likeliest tokens, by side
  mutable bool entropies = false;

 private:
  LikelyToken<double> likely(Side side) const {
    likeliest[side] = true;
    return {0, 1};
  }
};

class NgramNumbers {
 public:
  NgramNumbers(const NgramRows& rows, const AnyPositionRule& rule) : rows_(rows), rule_(rule) {
    const AskedLookups asked(rule);
    for (const Side side : {target_side, draft_side}) {
      if (asked.likeliest[side]) likely_[side].emplace(rows.table(), side);
    }
    if (asked.entropies) entropies_.emplace(rows);
  }
  /// Returns an upper bound on the memory, in bytes.
  static double bytes_for(const AnyPositionRule& rule, double contexts, double followers) {
    const AskedLookups asked(rule);
    double bytes = asked.entropies ? NgramEntropies::bytes_for(contexts) : 0;
    for (const bool of_side : asked.likeliest)
      bytes += of_side ? LikelyTokens::bytes_for(followers, contexts) : 0;
    return bytes;
  }
  std::size_t bytes() const {
    std::size_t bytes = entropies_ ? entropies_->bytes() : 0;
    for (const std::optional<LikelyTokens>& of_side : likely_) bytes += of_side ? of_side->bytes() : 0;
    return bytes;
  }

  /// Returns the PositionNumbers of a context; empty if they take a pass.
  std::optional<PositionNumbers<double>> find(std::uint32_t context) const {
    const Lookups rows(*this, context);
    const PositionNumbers<double> here = rule_.numbers<RowLookups>(rows);
    return rows.missing ? std::nullopt : std::optional(here);
  }

 private:
  class Lookups final : public RowLookups {
   public:
    Lookups(const NgramNumbers& numbers, std::uint32_t context) : numbers_(numbers), context_(context) {}

    LikelyToken<double> target_best() const override { return ranked(target_side, 1); }
    LikelyToken<double> target_ranked(std::int32_t k) const override { return ranked(target_side, k); }
    LikelyToken<double> draft_best() const override { return ranked(draft_side, 1); }
    double total_variation() const override {
      double unused;
      return numbers_.rows_.total(context_, 1, unused);
    }
    double minus_entropy() const override {
      missing |= !numbers_.entropies_;
      return missing ? 0 : numbers_.entropies_->minus_entropy(context_);
    }
    double smallest_ratio() const override {
      return std::min(1.0, 1 / numbers_.rows_.largest_ratio(context_));
    }
    /// Returns 1 minus the draft's probability of the tokens with p >= bar. If rounding would show in the
    /// difference, sets `missing`, and a pass computes the numbers.
    double draft_below(double bar) const override {
      constexpr double least = 1e-6;
      double below = 1;
      missing |= !numbers_.likely_[target_side];
      if (missing) return below;
      numbers_.likely_[target_side]->visit_from(context_, bar, [&](Token token) {
        below -= numbers_.rows_.table().find(context_, token).probabilities[draft_side];
      });
      missing |= below < least;
      return below;
    }

   private:
    LikelyToken<double> ranked(Side side, std::int32_t k) const {
      missing |= !numbers_.likely_[side];
      return missing ? LikelyToken<double>{} : numbers_.likely_[side]->ranked(context_, k);
    }

    const NgramNumbers& numbers_;
    std::uint32_t context_;
  };

  const NgramRows& rows_;
  AnyPositionRule rule_;
  std::array<std::optional<LikelyTokens>, 2> likely_;
  std::optional<NgramEntropies> entropies_;
};

}  // namespace speclab
