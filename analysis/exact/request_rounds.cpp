#include "analysis/exact/request_rounds.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <string>
#include <utility>

#include "analysis/exact/enumeration_program.hpp"

namespace speclab {

namespace {

/// Returns the law without these filters; without any if there are none.
RequestLaw without(const RequestLaw& law, const std::vector<RequestFilter>& filters) {
  RequestLaw left = law;
  left.penalty_prompt = law.counted_prompt();
  left.penalty_window = law.counted_window();
  left.order.own.clear();
  for (const std::vector<RequestFilter>& group : law.groups()) {
    std::vector<RequestFilter> kept;
    for (const RequestFilter filter : group) {
      const bool named = std::find(filters.begin(), filters.end(), filter) != filters.end();
      if (!filters.empty() && !named) kept.push_back(filter);
    }
    left.order.own.push_back(std::move(kept));
  }
  return left;
}

/// Returns the tokens of a round that a fault counts.
std::vector<Token> counted_of(const HistoryFault& fault, std::span<const Token> emitted,
                              std::span<const Token> drafted) {
  const std::span<const Token> accepted = emitted.first(emitted.size() - 1);
  std::vector<Token> counted;
  const auto add = [&](std::span<const Token> tokens) {
    counted.insert(counted.end(), tokens.begin(), tokens.end());
  };
  if (fault.counted == HistoryFault::Counted::last_of_round) {
    add(emitted.last(1));
    return counted;
  }
  if (fault.counted == HistoryFault::Counted::with_rejected) add(drafted.subspan(accepted.size()));
  if (fault.counted == HistoryFault::Counted::accepted_twice) add(accepted);
  add(emitted);
  return counted;
}

}  // namespace

// Named, because lambdas of a template capture these types.
namespace detail {

/// The rows of a round on which the filters of a fault act: from `first` up to but not `end`.
struct ActingRows {
  std::size_t first = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

inline ActingRows acting_rows(HistoryFault::Rows rows, std::size_t bonus) {
  using Rows = HistoryFault::Rows;
  if (rows == Rows::none) return {.end = 0};
  if (rows == Rows::bonus) return {.first = bonus};
  return rows == Rows::drafted ? ActingRows{.end = bonus} : ActingRows{};
}

/// The rows of one model, filtered. Satisfies LanguageModel<Real>, and keeps every row that it made.
template <class Real>
class RequestRows {
 public:
  /// `acting` filters a row, `resting` one that the fault leaves out.
  RequestRows(ModelRef<Real> base, RequestLaw acting, RequestLaw resting, std::span<const Token> prompt)
      : base_(base), laws_{std::move(acting), std::move(resting)}, prompt_(prompt) {}

  /// Starts a round after `start` tokens. `counted` are the tokens that its filters take for the emitted
  /// ones; with `within_round` of the fault those that follow in the context count, too.
  void begin(std::size_t start, std::span<const Token> counted, const HistoryFault& fault,
             ActingRows acting) {
    start_ = start;
    counted_ = counted;
    within_ = fault.within_round;
    late_ = fault.token_late;
    acting_ = acting;
  }

  std::int32_t vocab() const { return base_.vocab(); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>& scratch) const {
    const std::span<const Token> drafted = context.subspan(start_);
    std::vector<Token> seen(counted_.begin(), counted_.end());
    if (within_) seen.insert(seen.end(), drafted.begin(), drafted.end());
    if (late_ && !seen.empty()) seen.pop_back();
    const std::size_t which = drafted.size() < acting_.first || drafted.size() >= acting_.end ? 1 : 0;
    if (laws_[which].identity()) return base_.next(context, scratch);
    const auto [found, added] =
        made_.try_emplace(Key{which, std::vector<Token>(context.begin(), context.end()), std::move(seen)});
    std::vector<Real>& row = found->second;
    if (added) row = filtered(base_.next(context, scratch), which, found->first);
    return {row.data(), static_cast<std::int32_t>(row.size())};
  }

 private:
  using Key = std::tuple<std::size_t, std::vector<Token>, std::vector<Token>>;

  std::vector<Real> filtered(BasicRow<Real> row, std::size_t which, const Key& key) const {
    std::vector<double> values;
    for (Token id = 0; id < row.size; ++id) values.push_back(static_cast<double>(row[id]));
    filter_row(values, laws_[which], {prompt_, std::get<2>(key)}, scratch_);
    std::vector<Real> made(values.begin(), values.end());
    Real total(0);
    for (const Real& one : made) total += one;
    if (total == Real(0)) {
      std::string before;
      for (const Token token : std::get<1>(key))
        before += (before.empty() ? "" : ",") + std::to_string(token);
      throw EmptyRowError("the filters leave no token after " + before);
    }
    for (Real& one : made) one /= total;
    return made;
  }

  ModelRef<Real> base_;
  RequestLaw laws_[2];
  std::span<const Token> prompt_;
  std::size_t start_ = 0;
  std::span<const Token> counted_;
  bool within_ = true;
  bool late_ = false;
  ActingRows acting_;
  mutable RequestScratch scratch_;
  mutable std::map<Key, std::vector<Real>> made_;
};

/// The tokens between two rounds: emitted, counted, and counted from the next round on.
struct BetweenRounds {
  std::vector<Token> emitted, counted, pending;
  auto operator<=>(const BetweenRounds&) const = default;
};

/// One branch of a round: its counts, the tokens that it emits, and those that it drafted.
struct Leaf {
  Round round;
  std::vector<Token> emitted, drafted;
};

}  // namespace detail

template <class Real>
Losslessness<Real> examine_request(ModelRef<Real> target, ModelRef<Real> draft, const EnumerableRule& rule,
                                   std::int32_t gamma, std::span<const Token> prompt,
                                   const RequestTask& task) {
  const HistoryFault& fault = task.fault;
  RequestLaw acting = task.target;
  if (!fault.engine.empty()) {
    acting.penalty_prompt = acting.counted_prompt();
    acting.penalty_window = acting.counted_window();
    acting.order = {fault.engine, {}};
  }
  const auto never = static_cast<std::size_t>(gamma) + 1;
  const detail::ActingRows target_rows = detail::acting_rows(fault.target_rows, never - 1);
  const detail::ActingRows draft_rows =
      detail::acting_rows(fault.draft_filtered ? HistoryFault::Rows::all : HistoryFault::Rows::none, never);
  detail::RequestRows<Real> rows(target, acting, without(acting, fault.filters), prompt);
  detail::RequestRows<Real> drafts(draft, task.draft, without(task.draft, {}), prompt);

  using States = std::map<detail::BetweenRounds, Real>;
  Losslessness<Real> result;
  result.accepted.assign(never, Real(0));
  Real rounds(0);
  std::vector<States> by_length(task.tokens);
  by_length[0][{}] = Real(1);
  for (States& states : by_length) {
    for (const auto& [state, reached] : states) {
      std::vector<Token> context(prompt.begin(), prompt.end());
      context.insert(context.end(), state.emitted.begin(), state.emitted.end());
      rows.begin(context.size(), state.counted, fault, target_rows);
      const std::span<const Token> drafts_count(state.counted);
      drafts.begin(context.size(), fault.draft_forgets ? drafts_count.first(0) : drafts_count, fault,
                   draft_rows);
      const auto program = [&, from = &context](EnumeratedRandomSource<Real>& branches) {
        RoundScratch<Real> scratch;
        detail::Leaf leaf{{}, *from, {}};
        // Every draw goes to the enumeration; the guide also notes the drafted tokens.
        const DrawGuide<Real> guide{
            [&](Draw draw, const Real& probability) { return branches.bernoulli(draw, probability); },
            [&](Draw draw, const OwnedWeights<Real>& weights) {
              const Token token = branches.categorical(draw, weights);
              if (draw.use == Use::draft && token >= 0) leaf.drafted.push_back(token);
              return token;
            }};
        EnumeratedRandomSource<Real> random(guide);
        leaf.round = rule->round(rows, drafts, gamma, leaf.emitted, random, scratch);
        leaf.emitted.erase(leaf.emitted.begin(), leaf.emitted.begin() + std::ssize(*from));
        return leaf;
      };
      rounds += reached;
      enumerate<Real>(program,
                      [&, at = &state, weight = &reached](const detail::Leaf& leaf, const Real& probability) {
                        const auto& [round, emitted, drafted] = leaf;
                        const Real here = *weight * probability;
                        ++result.branches;
                        result.accepted[static_cast<std::size_t>(round.accepted)] += here;
                        if (round.examined > round.accepted) result.rejection += here;
                        detail::BetweenRounds after = *at;
                        after.emitted.insert(after.emitted.end(), emitted.begin(), emitted.end());
                        if (after.emitted.size() >= task.tokens || emitted.empty()) {
                          after.emitted.resize(std::min(after.emitted.size(), task.tokens));
                          result.distribution[after.emitted] += here;
                          return;
                        }
                        std::vector<Token> now = counted_of(fault, emitted, drafted);
                        if (fault.round_late) now.swap(after.pending);
                        after.counted.insert(after.counted.end(), now.begin(), now.end());
                        by_length[after.emitted.size()][std::move(after)] += here;
                      });
    }
    states.clear();
  }
  for (std::size_t k = 0; k < never; ++k) {
    result.accepted[k] /= rounds;
    result.expected_accepted += Real(k) * result.accepted[k];
  }
  result.rejection /= rounds;
  result.expected_emitted = result.expected_accepted + Real(1);

  detail::RequestRows<Real> plain(target, task.target, task.target, prompt);
  plain.begin(prompt.size(), {}, {}, {});
  result.target_distribution = plain_distribution<Real>(ModelRef<Real>(plain), prompt, task.tokens, rule);
  compare(result);
  return result;
}

template Losslessness<double> examine_request(ModelRef<double>, ModelRef<double>, const EnumerableRule&,
                                              std::int32_t, std::span<const Token>, const RequestTask&);
template Losslessness<Rational> examine_request(ModelRef<Rational>, ModelRef<Rational>, const EnumerableRule&,
                                                std::int32_t, std::span<const Token>, const RequestTask&);

}  // namespace speclab
