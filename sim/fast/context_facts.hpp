// What rules need of a context beside totals, kept by context.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/fast/position_verification.hpp"
#include "core/rules/k_seq.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/row_draws.hpp"

namespace speclab {

/// Of rules that need nothing of the kind.
template <class Rows, class Rule>
class ContextFacts {
 public:
  ContextFacts(const Rows&, const Rule&) {}
  static double bytes_for(const Rule&, double) { return 0; }
  PositionNumbers<double> position(std::uint32_t) const { return {}; }
  double k_seq_scale(std::uint32_t, std::size_t) const { return 0; }
};

/// rho* by number of candidates, each computed when it is first needed. A value is a function of its context
/// alone, so that it does not matter which thread computes it.
template <class Rows>
class ContextFacts<Rows, KSeqRule> {
 public:
  ContextFacts(const Rows& rows, const KSeqRule& rule) : rows_(rows) {
    for (std::int32_t k = 0; k < rule.paths; ++k) by_candidates_.emplace_back(rows.contexts());
  }
  static double bytes_for(const KSeqRule& rule, double contexts) {
    return contexts * rule.paths * sizeof(std::atomic<double>);
  }
  PositionNumbers<double> position(std::uint32_t) const { return {}; }

  double k_seq_scale(std::uint32_t context, std::size_t candidates) const {
    std::atomic<double>& known = by_candidates_[candidates - 1][context];
    double scale = known.load(std::memory_order_relaxed);
    if (scale > 0) return scale;
    scale = speclab::k_seq_scale(candidates, [&](double rho) {
      double draft;
      const double total = rows_.total(context, rho, draft);
      return CappedOverlap{1 - total, draft};
    });
    known.store(scale, std::memory_order_relaxed);
    return scale;
  }

 private:
  const Rows& rows_;
  mutable std::deque<std::vector<std::atomic<double>>> by_candidates_;
};

/// Thresholds of typical acceptance.
template <class Rows>
class ContextFacts<Rows, TypicalRule> {
 public:
  ContextFacts(const Rows& rows, const TypicalRule& rule) : thresholds_(rows.minus_entropies()) {
    for (double& one : thresholds_) one = std::min(rule.epsilon, rule.delta * std::exp(one));
  }
  static double bytes_for(const TypicalRule&, double contexts) { return contexts * sizeof(double); }
  PositionNumbers<double> position(std::uint32_t context) const { return {thresholds_[context]}; }
  double k_seq_scale(std::uint32_t, std::size_t) const { return 0; }

 private:
  std::vector<double> thresholds_;
};

/// Acceptance rates of one-shot rejection.
template <class Rows>
class ContextFacts<Rows, RejectionRule> {
 public:
  ContextFacts(const Rows& rows, const RejectionRule&) : rates_(rows.largest_ratios()) {
    for (double& one : rates_) one = std::min(1.0, 1 / one);
  }
  static double bytes_for(const RejectionRule&, double contexts) { return contexts * sizeof(double); }
  PositionNumbers<double> position(std::uint32_t context) const { return {rates_[context]}; }
  double k_seq_scale(std::uint32_t, std::size_t) const { return 0; }

 private:
  std::vector<double> rates_;
};

/// The target's likeliest token, found by a pass over the row when it is first needed: decoding that emits
/// little else comes to few contexts.
template <class Rows, class Rule>
requires(std::same_as<Rule, GreedyRule> ||
         std::same_as<Rule, GreedyLenienceRule>) class ContextFacts<Rows, Rule> {
 public:
  ContextFacts(const Rows& rows, const Rule& rule) : rows_(rows), rule_(rule), known_(rows.contexts()) {}
  static double bytes_for(const Rule&, double contexts) {
    return contexts * sizeof(std::atomic<std::uint32_t>);
  }
  PositionNumbers<double> position(std::uint32_t context) const {
    const std::uint32_t known = known_[context].load(std::memory_order_relaxed);
    if (known > 0) return numbers(context, static_cast<Token>(known - 1));
    thread_local std::vector<double> scratch;
    const Token best = argmax(rows_.row(context, target_side, scratch));
    known_[context].store(static_cast<std::uint32_t>(best) + 1, std::memory_order_relaxed);
    return numbers(context, best);
  }
  double k_seq_scale(std::uint32_t, std::size_t) const { return 0; }

 private:
  PositionNumbers<double> numbers(std::uint32_t context, Token best) const {
    if constexpr (std::same_as<Rule, GreedyLenienceRule>) {
      RowDraw found{.context = context, .trial = 0, .round = 0, .site = 0, .token = best};
      rows_.find(found);
      return {rule_.lenience * found.target, best};
    }
    return {0, best};
  }

  const Rows& rows_;
  Rule rule_;
  mutable std::vector<std::atomic<std::uint32_t>> known_;  ///< token + 1, or 0
};

}  // namespace speclab
