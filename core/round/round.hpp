// One round of speculative decoding: draft some tokens, verify them, extend the context. It is written once
// over models, drafting, rule and random source; the simulator samples it, the analysis enumerates it. Host
// only.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "core/round/round_counts.hpp"
#include "core/round/verify.hpp"

namespace speclab {

/// A model returns the row of the next token after a context of token ids. The row views either the model's
/// own storage or `scratch`, and stays valid until `scratch` is used again.
template <class M, class Real = double>
concept LanguageModel = requires(const M& model, std::span<const Token> context, std::vector<Real>& scratch) {
  { model.vocab() } -> std::convertible_to<std::int32_t>;
  { model.next(context, scratch) } -> std::convertible_to<BasicRow<Real>>;
};

/// Memory for the rows of one round; reuse it to avoid allocation. Rows are numbered by drafted position,
/// unless the round documents otherwise.
template <class Real>
struct RoundScratch {
  std::vector<std::vector<Real>> draft_rows;
  std::vector<BasicRow<Real>> drafts;
  std::vector<std::vector<Real>> target_rows;
  std::vector<BasicRow<Real>> targets;
  std::vector<Real> extra_row;         ///< scratch of the round's `watch`
  std::vector<Real> acceptance_rates;  ///< scratch of the round's measurements
  std::vector<Token> tokens;

  void reserve(std::size_t draft_count, std::size_t target_count) {
    if (drafts.size() < draft_count || targets.size() < target_count) grow(draft_count, target_count);
  }

 private:
  SPECLAB_RARE void grow(std::size_t draft_count, std::size_t target_count) {
    draft_rows.resize(std::max(draft_rows.size(), draft_count));
    drafts.resize(draft_rows.size());
    target_rows.resize(std::max(target_rows.size(), target_count));
    targets.resize(target_rows.size());
  }
};

inline void cut(std::vector<Token>& context, std::size_t length) {
  context.erase(context.begin() + static_cast<std::ptrdiff_t>(length), context.end());
}

struct NoWatch {
  template <class Real>
  void operator()(std::span<const Token>, BasicRow<Real>, const BasicRow<Real>*) const {}
};

/// Counts that a Drafting reports.
struct Drafted {
  std::int32_t count = 0;     ///< tokens drafted; below 0 if a row was invalid
  std::int32_t runs = 0;      ///< draft runs in sequence
  InnerRuns inner_runs = {};  ///< as in Round
};

/// Drafts a fixed number of tokens by a model. Any Drafting appends tokens to the context and leaves the rows
/// from which it drew them in `scratch.drafts`. It may stop at any time for any reason, but must pass every
/// drawn token to verification: dropping a token because of its value would change the output distribution.
template <class Model>
struct FixedDrafting {
  const Model& model;
  std::int32_t gamma;

  template <class Real, class Random>
  Drafted operator()(std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch) const {
    assert(gamma >= 0);
    scratch.reserve(static_cast<std::size_t>(gamma), 0);
    for (std::int32_t i = 0; i < gamma; ++i) {
      const auto at = static_cast<std::size_t>(i);
      scratch.drafts[at] = model.next(context, scratch.draft_rows[at]);
      const Token token =
          random.categorical(Draw{Use::draft, static_cast<std::uint16_t>(i)}, scratch.drafts[at]);
      if (token < 0) return {-1};
      context.push_back(token);
    }
    return {gamma, gamma};
  }
};

/// Runs one round and appends the emitted tokens (accepted prefix and one more) to `context`. Afterwards it
/// calls `watch(prefix, target, draft)`, in order, for the context of each emitted token, with the target's
/// row and the draft's (null at the bonus position). A next token that is not an id (an invalid row) is not
/// appended.
template <class Real, LanguageModel<Real> Target, class Drafting, class Rule,
          RandomSourceOver<BasicRow<Real>> Random, class Watch>
Round drafted_round(const Target& target, Drafting&& drafting, const Rule& rule, std::vector<Token>& context,
                    Random& random, RoundScratch<Real>& scratch, const Watch& watch) {
  const std::size_t start = context.size();
  const Drafted done = drafting(context, random, scratch);
  if (done.count < 0) return cut(context, start), Round{};
  const std::int32_t gamma = done.count;
  scratch.reserve(0, static_cast<std::size_t>(gamma) + 1);

  const std::span<const Token> drafted(context);
  // Announces the rows to a model that computes several together.
  if constexpr (requires { target.prepare(drafted, start); }) target.prepare(drafted, start);
  std::size_t asked = 0;
  const auto target_rows = [&](std::int32_t i) {
    const auto at = static_cast<std::size_t>(i);
    for (; asked <= at; ++asked)
      scratch.targets[asked] = target.next(drafted.first(start + asked), scratch.target_rows[asked]);
    return scratch.targets[at];
  };
  const auto draft_rows = [&](std::int32_t i) { return scratch.drafts[static_cast<std::size_t>(i)]; };
  const Verdict verdict = verify(rule, target_rows, draft_rows, context.data() + start, gamma, random);

  for (std::int32_t i = 0; i <= verdict.accepted; ++i) {
    const auto at = static_cast<std::size_t>(i);
    watch(drafted.first(start + at), target_rows(i), i < gamma ? &scratch.drafts[at] : nullptr);
  }
  cut(context, start + static_cast<std::size_t>(verdict.accepted));
  if (verdict.next >= 0) context.push_back(verdict.next);
  return {gamma, done.runs, verdict.examined, verdict.accepted, verdict.next, done.inner_runs};
}

/// Runs a round of `gamma` tokens drafted by a model.
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, class Rule,
          RandomSourceOver<BasicRow<Real>> Random, class Watch>
Round speculative_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                        std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
                        const Watch& watch) {
  const FixedDrafting<Draft> drafting{draft, gamma};
  return drafted_round(target, drafting, rule, context, random, scratch, watch);
}

}  // namespace speclab
