// Rounds whose drafting a Python function decides (a gamma policy, or a drafter), combined with the rule that
// verifies the drafted tokens.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/round/round.hpp"
#include "python/bindings/draw.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

/// Calls `function(drafted, row)` before each token of a round, with a tuple of the ids drafted so far and
/// the row from which the last was drawn (None before the first). The function returns whether to draft the
/// token.
class PythonPolicy {
 public:
  explicit PythonPolicy(HeldObject function) : function_(std::move(function)) {}

  /// Returns a policy for one enumeration.
  PythonPolicy fresh(double) const { return PythonPolicy(function_); }

  /// Drafts by a model for as long as the policy continues, at most `most` tokens.
  template <class Real, class Draft, class Random>
  Drafted draft(const Draft& draft, std::int32_t most, std::vector<Token>& context, Random& random,
                RoundScratch<Real>& scratch) const {
    const std::size_t start = context.size();
    scratch.reserve(static_cast<std::size_t>(most), 0);
    std::int32_t count = 0;
    for (; count < most; ++count) {
      const auto at = static_cast<std::size_t>(count);
      const auto drafted = std::span<const Token>(context).subspan(start);
      const bool on = goes_on(drafted, count > 0 ? &scratch.drafts[at - 1] : nullptr);
      if constexpr (Enumerates<Random>::value) {
        const auto [known, added] = answers_->try_emplace({drafted.begin(), drafted.end()}, on);
        if (!added && known->second != on)
          throw std::invalid_argument("policy: with the same tokens it returned something else than before");
      }
      if (!on) break;
      scratch.drafts[at] = draft.next(context, scratch.draft_rows[at]);
      const Token token =
          random.categorical(Draw{Use::draft, static_cast<std::uint16_t>(count)}, scratch.drafts[at]);
      if (token < 0) return {-1};
      context.push_back(token);
    }
    return {count, count};
  }

 private:
  template <class Real>
  bool goes_on(std::span<const Token> drafted, const BasicRow<Real>* row) const {
    const nb::gil_scoped_acquire gil;
    const nb::object answer = nb::borrow(function_.get())(python_tuple({drafted.begin(), drafted.end()}),
                                                          row != nullptr ? python_row(*row) : nb::none());
    if (is_bool(answer)) return PyObject_IsTrue(answer.ptr()) == 1;
    raise(PyExc_TypeError, ("policy: returned " + nb::cast<std::string>(nb::repr(answer)) +
                            "; expected True or False, whether to draft the next token"));
  }

  HeldObject function_;
  /// Answers within an enumeration, which calls again for each branch: a policy must always give the same
  /// answer.
  std::shared_ptr<std::map<std::vector<Token>, bool>> answers_ =
      std::make_shared<std::map<std::vector<Token>, bool>>();
};

/// Calls `function(draw, tokens, gamma)` with the ids before the round. The function returns (drafted, rows):
/// at most gamma ids, and for each the row from which it was drawn, which verification uses.
class PythonDrafter {
 public:
  PythonDrafter(std::string name, HeldObject function)
      : name_(std::move(name)), function_(std::move(function)), seen_(std::make_shared<Seen>()) {}

  /// Returns a drafter for one enumeration, which may run it at most `max_runs` times.
  PythonDrafter fresh(double max_runs) const {
    PythonDrafter made(name_, function_);
    made.seen_->max_runs = static_cast<std::uint64_t>(max_runs);
    return made;
  }

  template <class Real, class Draft, class Random>
  Drafted draft(const Draft& of_size, std::int32_t most, std::vector<Token>& context, Random& random,
                RoundScratch<Real>& scratch) const {
    const nb::gil_scoped_acquire gil;
    if constexpr (Enumerates<Random>::value) seen_->count();
    const std::int32_t vocab = of_size.vocab();
    std::string point(reinterpret_cast<const char*>(context.data()), context.size() * sizeof(Token));
    const auto draw =
        std::make_shared<DrawFrom<Real, Random>>(random, vocab, seen_->asked, std::move(point), 0, one_use);
    const nb::object returned = nb::borrow(function_.get())(
        std::shared_ptr<PythonDraw>(draw), python_tuple({context.begin(), context.end()}), most);
    draw->close();
    auto [ids, rows] = checked<Real>(returned, most, vocab);
    const auto count = static_cast<std::int32_t>(ids.size());
    scratch.reserve(ids.size(), 0);
    if constexpr (Enumerates<Random>::value) {
      std::size_t outcome = hash_of(std::vector<Real>(ids.begin(), ids.end()));
      for (const auto& row : rows) outcome = outcome * 1000003 + hash_of(row);
      draw->check_end(outcome);
    }
    for (std::size_t at = 0; at < ids.size(); ++at) {
      scratch.drafts[at] = {kept<Real, Random>(std::move(rows[at]), scratch.draft_rows[at]).data(), vocab};
      context.push_back(ids[at]);
    }
    return {count, count};
  }

 private:
  /// State of one enumeration: the draws made, and rows at fixed addresses.
  struct Seen {
    void count();  ///< throws ValueError if it is run too often

    std::uint64_t max_runs = 0;
    std::uint64_t runs = 0;
    AskedDraws asked;
    std::set<std::vector<double>> doubles;
    std::set<std::vector<Rational>> rationals;
  };
  static constexpr DrawUses one_use{Use::draft, Use::draft};

  template <class Real, class Random>
  const std::vector<Real>& kept(std::vector<Real> row, std::vector<Real>& scratch) const {
    if constexpr (!Enumerates<Random>::value)
      return scratch = std::move(row);
    else if constexpr (std::is_same_v<Real, double>)
      return *seen_->doubles.insert(std::move(row)).first;
    else
      return *seen_->rationals.insert(std::move(row)).first;
  }

  /// Returns ids and rows; each row is divided by its sum. Throws TypeError or ValueError, naming the
  /// drafter.
  template <class Real>
  std::pair<std::vector<Token>, std::vector<std::vector<Real>>> checked(nb::handle returned,
                                                                        std::int32_t most,
                                                                        std::int32_t vocab) const;

  std::string name_;
  HeldObject function_;
  std::shared_ptr<Seen> seen_;
};

/// A rule combined with a way to draft its rounds.
template <class Inner, class Drafting>
struct RuleAndDrafting : Inner {
  RuleAndDrafting(Inner verified, Drafting drafting)
      : Inner(std::move(verified)), drafts(std::move(drafting)) {}

  Drafting drafts;
};

template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, class Inner, class Drafting,
          class Random, class Watch>
Round speculative_round(const Target& target, const Draft& draft,
                        const RuleAndDrafting<Inner, Drafting>& rule, std::int32_t gamma,
                        std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
                        const Watch& watch) {
  const auto drafting = [&](std::vector<Token>& text, Random& source, RoundScratch<Real>& rows) {
    return rule.drafts.draft(draft, gamma, text, source, rows);
  };
  return drafted_round(target, drafting, rule, context, random, scratch, watch);
}

/// Verifies the tokens as those of any other draft.
template <class Inner, class Drafting, class Targets, class Drafts, class Random>
Verdict verify(const RuleAndDrafting<Inner, Drafting>& rule, const Targets& targets, const Drafts& drafts,
               const Token* drafted, std::int32_t gamma, Random& random) {
  const Inner& inner = rule;
  return verify(inner, targets, drafts, drafted, gamma, random);
}

}  // namespace speclab::python
