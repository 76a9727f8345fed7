// A gamma policy that is a Python function, with the rule that verifies what it drafts.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/round/round.hpp"
#include "python/bindings/draw.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

/// `function(drafted, row)`, asked before each token of a round whether to draft it, given a tuple of the ids
/// drafted so far and the row that the last was drawn from (None before the first).
class PythonPolicy {
 public:
  explicit PythonPolicy(HeldObject function) : function_(std::move(function)) {}

  template <class Real>
  bool goes_on(std::span<const Token> drafted, const BasicRow<Real>* row) const {
    const nb::gil_scoped_acquire gil;
    const nb::object answer = nb::borrow(function_.get())(python_tuple({drafted.begin(), drafted.end()}),
                                                          row != nullptr ? python_row(*row) : nb::none());
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw nb::python_error();
    return truth == 1;
  }

 private:
  HeldObject function_;
};

/// A rule whose rounds draft for as long as a policy goes on, gamma tokens at most.
template <class Inner>
struct PolicyRule : Inner {
  PolicyRule(Inner verified, PythonPolicy asked) : Inner(std::move(verified)), policy(std::move(asked)) {}

  PythonPolicy policy;
  /// Answers of an enumeration, which asks again for each branch: a policy must be a function.
  std::shared_ptr<std::map<std::vector<Token>, bool>> answers =
      std::make_shared<std::map<std::vector<Token>, bool>>();
};

/// Drafting by a model for as long as the policy of a rule goes on.
template <class Draft, class Rule>
struct PolicyDrafting {
  const Draft& draft;
  const Rule& rule;
  std::int32_t most;

  template <class Real, class Random>
  Drafted operator()(std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch) const {
    const std::size_t start = context.size();
    scratch.reserve(static_cast<std::size_t>(most), 0);
    std::int32_t count = 0;
    for (; count < most; ++count) {
      const auto at = static_cast<std::size_t>(count);
      const auto drafted = std::span<const Token>(context).subspan(start);
      const bool on = rule.policy.goes_on(drafted, count > 0 ? &scratch.drafts[at - 1] : nullptr);
      if constexpr (Enumerates<Random>::value) {
        const auto [known, added] = rule.answers->try_emplace({drafted.begin(), drafted.end()}, on);
        if (!added && known->second != on)
          throw std::invalid_argument("policy: given the same tokens it answered otherwise than before");
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
};

template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, class Inner, class Random,
          class Watch>
Round speculative_round(const Target& target, const Draft& draft, const PolicyRule<Inner>& rule,
                        std::int32_t gamma, std::vector<Token>& context, Random& random,
                        RoundScratch<Real>& scratch, const Watch& watch) {
  const PolicyDrafting<Draft, PolicyRule<Inner>> drafting{draft, rule, gamma};
  return drafted_round(target, drafting, rule, context, random, scratch, watch);
}

/// Verified as without a policy.
template <class Inner, class Targets, class Drafts, class Random>
Verdict verify(const PolicyRule<Inner>& rule, const Targets& targets, const Drafts& drafts,
               const Token* drafted, std::int32_t gamma, Random& random) {
  const Inner& inner = rule;
  return verify(inner, targets, drafts, drafted, gamma, random);
}

}  // namespace speclab::python
