// What rules need of a context beside totals, kept by context.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "core/fast/position_forms.hpp"
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

/// Numbers of rules that decide position by position. They are found by a pass over both rows when they are
/// first needed, as a run that emits little else than likely tokens comes to few contexts; those of n-grams
/// that take no pass are found for all contexts beforehand.
template <class Rows>
class ContextFacts<Rows, PositionForms> {
 public:
  ContextFacts(const Rows& rows, const PositionForms& rule)
      : rows_(rows), rule_(rule), kept_(reads_rows(rule) ? rows.contexts() : 0) {
    if constexpr (requires { rows.minus_entropies(); }) {
      if (const auto* typical = std::get_if<TypicalRule>(&rule)) {
        keep_all(rows.minus_entropies(), [typical](double minus_entropy) {
          return std::min(typical->epsilon, typical->delta * std::exp(minus_entropy));
        });
      } else if (std::holds_alternative<RejectionRule>(rule)) {
        keep_all(rows.largest_ratios(), [](double ratio) { return std::min(1.0, 1 / ratio); });
      }
    }
  }
  static double bytes_for(const PositionForms& rule, double contexts) {
    return reads_rows(rule) ? contexts * sizeof(Kept) : 0;
  }
  double k_seq_scale(std::uint32_t, std::size_t) const { return 0; }

  PositionNumbers<double> position(std::uint32_t context) const {
    Kept& kept = kept_[context];
    if (!kept.known.load(std::memory_order_acquire)) {
      thread_local std::vector<double> target;
      thread_local std::vector<double> draft;
      kept.keep(position_numbers(rule_, rows_.row(context, target_side, target),
                                 rows_.row(context, draft_side, draft)));
    }
    return {kept.number.load(std::memory_order_relaxed), kept.best.load(std::memory_order_relaxed),
            kept.other.load(std::memory_order_relaxed), kept.second.load(std::memory_order_relaxed)};
  }

 private:
  /// A function of the context alone, so that it does not matter which thread found it.
  struct Kept {
    std::atomic<double> number;
    std::atomic<double> other;
    std::atomic<Token> best;
    std::atomic<Token> second;
    std::atomic<bool> known;

    void keep(const PositionNumbers<double>& found) {
      number.store(found.number, std::memory_order_relaxed);
      other.store(found.other, std::memory_order_relaxed);
      best.store(found.best, std::memory_order_relaxed);
      second.store(found.second, std::memory_order_relaxed);
      known.store(true, std::memory_order_release);
    }
  };

  template <class NumberOf>
  void keep_all(const std::vector<double>& of_rows, const NumberOf& number_of) {
    for (std::size_t at = 0; at < of_rows.size(); ++at) kept_[at].keep({number_of(of_rows[at])});
  }

  const Rows& rows_;
  PositionForms rule_;
  mutable std::vector<Kept> kept_;
};

}  // namespace speclab
