// Numbers of rules that decide position by position (core/fast/position_forms.hpp), of n-gram rows without a
// pass over them: from the likeliest tokens and from totals.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/fast/emitted_distance.hpp"
#include "core/fast/position_forms.hpp"
#include "sim/fast/likely_tokens.hpp"
#include "sim/fast/ngram_entropies.hpp"
#include "sim/fast/ngram_rows.hpp"

namespace speclab {

class NgramNumbers {
 public:
  NgramNumbers(const NgramRows& rows, const PositionForms& rule) : rows_(rows), rule_(rule) {
    for (const Side side : {target_side, draft_side}) {
      if (looks_at(rule, side)) likely_[side].emplace(rows.table(), side);
    }
    if (std::holds_alternative<TypicalRule>(rule)) entropies_.emplace(rows);
  }
  /// At most so much memory, in bytes.
  static double bytes_for(const PositionForms& rule, double contexts, double followers) {
    double bytes = 0;
    for (const Side side : {target_side, draft_side})
      bytes += looks_at(rule, side) ? LikelyTokens::bytes_for(followers, contexts) : 0;
    return bytes + (std::holds_alternative<TypicalRule>(rule) ? NgramEntropies::bytes_for(contexts) : 0);
  }
  std::size_t bytes() const {
    std::size_t bytes = entropies_ ? entropies_->bytes() : 0;
    for (const std::optional<LikelyTokens>& of_side : likely_) bytes += of_side ? of_side->bytes() : 0;
    return bytes;
  }

  /// Those of the rows after a context; none where they take a pass.
  std::optional<PositionNumbers<double>> find(std::uint32_t context) const {
    return std::visit([&](const auto& rule) { return numbers(rule, context); }, rule_);
  }

  /// Total variation of what the rule emits in a context and the target's row, from its numbers there.
  double emitted_distance(std::uint32_t context, const PositionNumbers<double>& here) const {
    const RowsAfter rows{*this, context};
    return std::clamp(
        std::visit([&](const auto& rule) { return speclab::emitted_distance(rule, here, rows); }, rule_), 0.0,
        1.0);
  }

 private:
  struct RowsAfter {
    const NgramNumbers& numbers;
    std::uint32_t context;

    double total(double scale) const {
      double unused;
      return numbers.rows_.total(context, scale, unused);
    }
    NgramTable::Probabilities of(Token token) const {
      return numbers.rows_.table().find(context, token).probabilities;
    }
    template <class Visit>
    void likely(double bar, const Visit& visit) const {
      numbers.likely_[target_side]->visit_from(context, bar, [&](Token token) {
        const auto [p, q] = of(token);
        visit(p, q);
      });
    }
  };
  using Numbers = std::optional<PositionNumbers<double>>;

  static bool looks_at(const PositionForms& rule, Side side) {
    const bool draft = std::holds_alternative<DeferralRule>(rule) || std::holds_alternative<BildRule>(rule);
    if (side == draft_side) return draft;
    return draft || std::holds_alternative<TolerantRule>(rule) || std::holds_alternative<CascadeRule>(rule) ||
           std::holds_alternative<GreedyRule>(rule) || std::holds_alternative<GreedyLenienceRule>(rule) ||
           std::holds_alternative<MarsRule>(rule) || std::holds_alternative<TypicalRule>(rule);
  }
  Likeliest likeliest(Side side, std::uint32_t context) const { return likely_[side]->likeliest(context); }

  template <class Rule>
  Numbers numbers(const Rule&, std::uint32_t) const {
    return std::nullopt;
  }
  Numbers numbers(const TypicalRule& rule, std::uint32_t context) const {
    return PositionNumbers<double>{
        std::min(rule.epsilon, rule.delta * std::exp(entropies_->minus_entropy(context)))};
  }
  Numbers numbers(const RejectionRule&, std::uint32_t context) const {
    return PositionNumbers<double>{std::min(1.0, 1 / rows_.largest_ratio(context))};
  }
  Numbers numbers(const FuzzyRule& rule, std::uint32_t context) const {
    if (rule.divergence != Nearness::tv) return std::nullopt;
    return PositionNumbers<double>{total_variation(context) <= rule.threshold ? 1.0 : 0.0};
  }
  Numbers numbers(const TolerantRule& rule, std::uint32_t context) const {
    return PositionNumbers<double>{rule.addend(likeliest(target_side, context).best_probability)};
  }
  Numbers numbers(const DeferralRule& rule, std::uint32_t context) const {
    const bool defers = rule.defers(likeliest(target_side, context).best_probability,
                                    likeliest(draft_side, context).best_probability,
                                    [&] { return total_variation(context); });
    return PositionNumbers<double>{defers ? 1.0 : 0.0};
  }
  /// The draft's probability of tokens below the bar is what the others leave of 1, and summed by a pass
  /// where rounding would show.
  Numbers numbers(const CascadeRule& rule, std::uint32_t context) const {
    constexpr double least = 1e-6;
    const double bar = likeliest(target_side, context).best_probability * (1 - rule.slack);
    double below = 1;
    RowsAfter{*this, context}.likely(bar, [&](double, double q) { below -= q; });
    if (below < least) return std::nullopt;
    return PositionNumbers<double>{bar, no_token, below};
  }
  Numbers numbers(const GreedyRule&, std::uint32_t context) const {
    return PositionNumbers<double>{0, likeliest(target_side, context).best};
  }
  Numbers numbers(const GreedyLenienceRule& rule, std::uint32_t context) const {
    const Likeliest likely = likeliest(target_side, context);
    return PositionNumbers<double>{rule.lenience * likely.best_probability, likely.best};
  }
  Numbers numbers(const MarsRule& rule, std::uint32_t context) const {
    const Likeliest likely = likeliest(target_side, context);
    const bool near = rule.near(likely.best_probability, likely.second_probability);
    return PositionNumbers<double>{0, likely.best, 0, near ? likely.second : likely.best};
  }
  Numbers numbers(const BildRule& rule, std::uint32_t context) const {
    const bool sure = rule.is_sure(likeliest(draft_side, context).best_probability);
    return PositionNumbers<double>{sure ? 1.0 : 0.0, likeliest(target_side, context).best};
  }

  double total_variation(std::uint32_t context) const { return RowsAfter{*this, context}.total(1); }

  const NgramRows& rows_;
  PositionForms rule_;
  std::array<std::optional<LikelyTokens>, 2> likely_;
  std::optional<NgramEntropies> entropies_;
};

}  // namespace speclab
