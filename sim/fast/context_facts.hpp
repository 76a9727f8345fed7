// Stores, by context, facts that rules need in addition to totals (core/fast/drafted_nodes.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/fast/whole_row_forms.hpp"
#include "core/rules/k_seq.hpp"
#include "core/rules/scheduled.hpp"
#include "sim/fast/likely_tokens.hpp"
#include "sim/fast/ngram_numbers.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/position_program.hpp"

namespace speclab {

/// The primary template, for rules that need no facts. `of_nodes` returns the facts for a verification:
/// `after(node)` is the context after a drafted node. `bytes_for` takes the number of contexts, and
/// for NgramRows also the number of tokens that these list.
template <class Rule>
class ContextFacts {
 public:
  ContextFacts(const PairRows&, const Rule&) {}
  static double bytes_for(const Rule&, double, std::optional<double>) { return 0; }
  std::size_t bytes() const { return 0; }
  template <class After>
  RowFacts<double> of_nodes(const After&) const {
    return {};
  }
};

/// Stores rho* by context and number of candidates. Each value is computed at first use; it depends only on
/// its context, so any thread may compute it.
template <>
class ContextFacts<KSeqRule> {
 public:
  ContextFacts(const PairRows& rows, const KSeqRule& rule) : rows_(rows) {
    for (std::int32_t k = 0; k < rule.paths; ++k) by_candidates_.emplace_back(rows.contexts());
  }
  static double bytes_for(const KSeqRule& rule, double contexts, std::optional<double>) {
    return contexts * rule.paths * sizeof(std::atomic<double>);
  }
  std::size_t bytes() const { return by_candidates_.size() * rows_.contexts() * sizeof(std::atomic<double>); }
  template <class After>
  RowFacts<double> of_nodes(const After& after) const {
    return {.k_seq_scale = [this, after](std::int32_t node, std::size_t candidates) {
      return scale(after(node), candidates);
    }};
  }

 private:
  double scale(std::uint32_t context, std::size_t candidates) const {
    std::atomic<double>& known = by_candidates_[candidates - 1][context];
    double found = known.load(std::memory_order_relaxed);
    if (found > 0) return found;
    found = k_seq_scale(candidates, [&](double rho) {
      double draft;
      const double total = rows_.total(context, rho, draft);
      return CappedOverlap{1 - total, draft};
    });
    known.store(found, std::memory_order_relaxed);
    return found;
  }

  const PairRows& rows_;
  mutable std::deque<std::vector<std::atomic<double>>> by_candidates_;
};

/// Stores the PositionNumbers of ByPosition rules. They are computed at first use, because a run visits few
/// contexts; if the rows offer no other way, by a pass over both rows.
template <>
class ContextFacts<AnyPositionRule> {
 public:
  ContextFacts(const PairRows& rows, const AnyPositionRule& rule)
      : rows_(rows), rule_(rule), kept_(rule.reads_numbers() ? rows.contexts() : 0) {
    if (rows.ngrams() != nullptr) numbers_.emplace(*rows.ngrams(), rule);
  }
  static double bytes_for(const AnyPositionRule& rule, double contexts, std::optional<double> followers) {
    return (rule.reads_numbers() ? contexts * sizeof(Kept) : 0) +
           (followers ? NgramNumbers::bytes_for(rule, contexts, *followers) : 0);
  }
  std::size_t bytes() const { return kept_.size() * sizeof(Kept) + (numbers_ ? numbers_->bytes() : 0); }
  template <class After>
  RowFacts<double> of_nodes(const After& after) const {
    if (!rule_.reads_numbers()) return {};
    return {.position = [this, after](std::int32_t node) { return position(after(node)); }};
  }

  PositionNumbers<double> position(std::uint32_t context) const {
    Kept& kept = kept_[context];
    if (!kept.known.load(std::memory_order_acquire)) kept.keep(found(context));
    return {kept.number.load(std::memory_order_relaxed), kept.best.load(std::memory_order_relaxed),
            kept.other.load(std::memory_order_relaxed), kept.second.load(std::memory_order_relaxed)};
  }

 private:
  PositionNumbers<double> found(std::uint32_t context) const {
    const auto numbers = numbers_ ? numbers_->find(context) : std::nullopt;
    if (numbers) return *numbers;
    thread_local std::vector<double> target;
    thread_local std::vector<double> draft;
    return rule_.numbers(
        DenseRows<double>{rows_.row(context, target_side, target), rows_.row(context, draft_side, draft)});
  }

  /// Numbers depend only on the context, so any thread may compute them.
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

  const PairRows& rows_;
  AnyPositionRule rule_;
  std::optional<NgramNumbers> numbers_;  ///< only n-gram rows give numbers without a pass
  mutable std::vector<Kept> kept_;
};

/// Stores the draft's largest probability by context, computed at first use.
template <>
class ContextFacts<ScheduledRule> {
 public:
  ContextFacts(const PairRows& rows, const ScheduledRule&) : rows_(rows), kept_(rows.contexts()) {
    if (rows.ngrams() != nullptr) likely_.emplace(rows.ngrams()->table(), draft_side);
  }
  static double bytes_for(const ScheduledRule&, double contexts, std::optional<double> followers) {
    return contexts * sizeof(std::atomic<double>) +
           (followers ? LikelyTokens::bytes_for(*followers, contexts) : 0);
  }
  std::size_t bytes() const {
    return kept_.size() * sizeof(std::atomic<double>) + (likely_ ? likely_->bytes() : 0);
  }
  template <class After>
  RowFacts<double> of_nodes(const After& after) const {
    return {.draft_best = [this, after](std::int32_t node) { return draft_best(after(node)); }};
  }

  double draft_best(std::uint32_t context) const {
    double best = kept_[context].load(std::memory_order_relaxed);
    if (best > 0) return best;
    if (likely_) {
      best = likely_->ranked(context, 1).probability;
    } else {
      std::vector<double> scratch;
      const Row draft = rows_.row(context, draft_side, scratch);
      best = draft[argmax(draft)];
    }
    kept_[context].store(best, std::memory_order_relaxed);
    return best;
  }

 private:
  const PairRows& rows_;
  std::optional<LikelyTokens> likely_;
  mutable std::vector<std::atomic<double>> kept_;
};

}  // namespace speclab
