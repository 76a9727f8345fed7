// One round of speculative decoding: draft gamma tokens, verify them, extend the context. Written once over
// models, rule and chance; sampled by the simulator, enumerated by the analysis. Host only.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "speclab/core/verify.hpp"

namespace speclab {

/// A model gives, for a context of token ids, the row of its next token. `scratch` is room it may use: the
/// row returned views either the model's own storage or `scratch`, and stays valid until `scratch` is used
/// again.
template <class M, class Real = double>
concept LanguageModel = requires(const M& model, std::span<const Token> context, std::vector<Real>& scratch) {
  { model.vocab() } -> std::convertible_to<std::int32_t>;
  { model.next(context, scratch) } -> std::convertible_to<BasicRow<Real>>;
};

/// Room for the rows of one round; reuse it to avoid allocation.
template <class Real>
struct RoundScratch {
  std::vector<std::vector<Real>> draft_rows;
  std::vector<BasicRow<Real>> drafts;
  std::vector<Real> target_row;
  std::vector<Real> extra_row;  ///< for whoever watches the round

  void reserve(std::int32_t gamma) {
    const auto wanted = static_cast<std::size_t>(gamma);
    if (draft_rows.size() < wanted) draft_rows.resize(wanted);
    if (drafts.size() < wanted) drafts.resize(wanted);
  }
};

/// Runs one round and appends the emitted tokens (accepted prefix and one more) to `context`. `watch(prefix,
/// i, row)` sees each target row the verifier asked for, with the context it belongs to. When the verdict's
/// token is not an id (a damaged row), nothing is appended for it.
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, class Rule,
          ChanceOver<BasicRow<Real>> Chance, class Watch>
Verdict speculative_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                          std::vector<Token>& context, Chance& chance, RoundScratch<Real>& scratch,
                          const Watch& watch) {
  assert(gamma >= 0);
  const std::size_t start = context.size();
  const auto cut_after = [&](std::size_t length) {
    context.erase(context.begin() + static_cast<std::ptrdiff_t>(length), context.end());
  };
  scratch.reserve(gamma);
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto at = static_cast<std::size_t>(i);
    scratch.drafts[at] = draft.next(context, scratch.draft_rows[at]);
    const Token token = chance.pick(Draw{Use::draft, static_cast<std::uint16_t>(i)}, scratch.drafts[at]);
    if (token < 0) return cut_after(start), Verdict{0, 0, invalid_token};
    context.push_back(token);
  }

  const std::span<const Token> drafted(context);
  const auto target_rows = [&](std::int32_t i) {
    const auto prefix = drafted.first(start + static_cast<std::size_t>(i));
    const BasicRow<Real> row = target.next(prefix, scratch.target_row);
    watch(prefix, i, row);
    return row;
  };
  const auto draft_rows = [&](std::int32_t i) { return scratch.drafts[static_cast<std::size_t>(i)]; };
  const Verdict verdict = verify(rule, target_rows, draft_rows, context.data() + start, gamma, chance);

  cut_after(start + static_cast<std::size_t>(verdict.accepted));
  if (verdict.next >= 0) context.push_back(verdict.next);
  return verdict;
}

/// A watch that looks away.
struct NoWatch {
  template <class Real>
  void operator()(std::span<const Token>, std::int32_t, BasicRow<Real>) const {}
};

}  // namespace speclab
