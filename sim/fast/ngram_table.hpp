// A pair of back-off n-gram models, prepared so that a step of a fast round reads one or two slots of 32
// bytes at any vocabulary, in memory proportional to the n-grams.
//
// The row of a context c is a mixture: with P(w | c) = listed(w) for followers w of c and backoff(c) P(w |
// c') for the others, c' being the longest known suffix of c,
//     P(w | c) = [listed(w) - backoff(c) P(w | c')] + backoff(c) P(w | c')
// where the bracket counts for followers only. In interpolated models it is the discounted count, hence not
// negative, and an alias table over the followers and "go on in c'" draws from the row. Where the bracket is
// negative, as in models of Katz or pruned ones, it has weight 0 in the alias table, and a draw of w that
// comes from c' is kept with probability listed(w) / (backoff(c) P(w | c')), else the draw begins anew in the
// longest context: rejection sampling, at each length that lists w.
//
// Contexts are those that either model knows. A token leads from one to the longest that what follows ends
// in, as the transitions of Aho and Corasick's automaton do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/random/alias.hpp"
#include "core/random/bernoulli_bits.hpp"
#include "core/random/bernoulli_threshold.hpp"
#include "core/rules/pointwise_rules.hpp"
#include "sim/fast/huge_pages.hpp"
#include "sim/models/ngram_model.hpp"

namespace speclab {

/// Which of the two models.
enum Side : std::uint8_t { target_side = 0, draft_side = 1 };

class NgramTable {
 public:
  /// What a draw comes to.
  struct Outcome {
    Token token;               ///< `shorter` (go on in the suffix), or a follower in either model
    std::uint32_t next;        ///< the context after it
    std::uint32_t acceptance;  ///< bernoulli_bits of residual_acceptance (target's side) or
                               ///< acceptance_probability (draft's)
  };

  /// A slot of a context's block: of a model's alias table there, with all that either branch needs. The
  /// slot's own outcome is the follower that an open-addressing table has in this place.
  struct Slot {
    std::uint32_t cut;
    Outcome own;
    Outcome other;
    std::uint32_t padding;  ///< to half a cache line
  };
  static constexpr Token empty = -1;
  static constexpr Token shorter = -2;

  /// What the models list for a follower, negative where they do not.
  using Probabilities = std::array<double, 2>;

  /// Context 0 is the empty one; it lists every token.
  struct Context {
    std::uint64_t first;  ///< its block: 2^bits slots
    std::int16_t bits;
    std::array<bool, 2> rejects;           ///< a model's draws here, or in a suffix, are not always kept
    std::uint32_t suffix;                  ///< the longest proper suffix that is a context
    std::array<double, 2> backoff;         ///< 1 where a model does not know the context
    std::array<double, 2> scale;           ///< of the model's row here
    std::array<std::uint32_t, 2> longest;  ///< what the model knows of it: where its draws start
    std::array<std::uint32_t, 2> below;    ///< the longest proper suffix it knows: where they go on
  };

  /// Throws ModelError for models that know a context whose beginning does not list its end, or keep fewer
  /// than one draw in 256 in some context, and for 2^32 contexts or more. Vocabularies agree.
  template <PointwiseRule Rule>
  NgramTable(const NgramModel& target, const NgramModel& draft, const Rule& rule)
      : NgramTable(
            target, draft,
            AcceptanceFunctions{[rule](double p, double q) { return residual_acceptance(rule, p, q); },
                                [rule](double p, double q) { return rule.acceptance_probability(p, q); }}) {}

  std::int32_t vocab() const { return vocab_; }
  std::size_t contexts() const { return contexts_.size(); }
  /// 64 bytes a context and 84 a slot. A context of f followers in either model has 2^k slots, the fewest
  /// that hold f + 1, or 5/4 of that when it is more than 8: at most 2.5 f + 5.
  std::size_t bytes() const {
    return contexts_.size() * sizeof(Context) +
           tokens_.size() * (2 * sizeof(Slot) + sizeof(Probabilities) + sizeof(Token));
  }

  const Context& context(std::uint32_t at) const { return contexts_[at]; }

  /// The block of a context in a model's alias tables.
  const Slot* block(const Context& context, Side side) const { return slots_[side].data() + context.first; }

  /// Where the search for a token starts.
  const Token& home(const Context& context, Token token) const {
    return tokens_[context.first + home_of(context, token)];
  }

  /// The place in its block of a token listed in this very context, or `nowhere`.
  static constexpr std::uint32_t nowhere = 0xffffffff;
  std::uint32_t place(const Context& context, Token token) const {
    std::uint32_t at = home_of(context, token);
    for (std::uint32_t tried = 0; tried <= mask(context); ++tried, at = (at + 1) & mask(context)) {
      const Token candidate = tokens_[context.first + at];
      if (candidate == token) return at;
      if (candidate == empty) break;
    }
    return nowhere;
  }

  /// Of a token in a place of a context's block.
  const Probabilities& probabilities(const Context& context, std::uint32_t place) const {
    return probabilities_[context.first + place];
  }
  /// The empty context lists every token at home.
  const Probabilities& root_probabilities(Token token) const {
    return probabilities_[home_of(contexts_[0], token)];
  }

  /// A token's probabilities in the rows of a context, with the bits that NgramModel::next gives, and the
  /// context after it.
  struct Found {
    Probabilities probabilities;
    std::uint32_t next;
  };
  Found find(std::uint32_t at, Token token) const { return find_below(at, token, contexts_[at].scale); }
  /// The same when the context itself is known not to list it.
  Found find_unlisted(std::uint32_t at, Token token) const {
    const Context& here = contexts_[at];
    return find_below(here.suffix, token, {here.scale[0] * here.backoff[0], here.scale[1] * here.backoff[1]});
  }

  /// The tokens of a context's block by place: `empty`, `shorter`, or one that it lists.
  std::span<const Token> places(const Context& context) const {
    return {&tokens_[context.first], std::size_t{mask(context)} + 1};
  }

  /// The share of draws to keep of a token that was drawn in `drawn_in`, on the way down from `longest`, both
  /// of them contexts that the model knows.
  double kept_share(std::uint32_t longest, std::uint32_t drawn_in, Token token, Side side) const;
  /// Decides with the number of `word` whether such a draw is kept: a word that is uniform again, or none.
  std::optional<std::uint64_t> word_if_kept(std::uint32_t longest, std::uint32_t drawn_in, Token token,
                                            Side side, std::uint64_t word) const;

  std::uint32_t context_of(std::span<const Token> tokens) const;

  /// A model's whole row.
  void fill_row(std::uint32_t at, Side side, std::span<double> row) const;

 private:
  struct AcceptanceFunctions {
    std::array<std::function<double(double, double)>, 2> probability;  ///< of (p, q), as by Side
  };
  struct Builder;

  NgramTable(const NgramModel& target, const NgramModel& draft, const AcceptanceFunctions& acceptances);

  static std::uint32_t mask(const Context& context) { return (std::uint32_t{1} << context.bits) - 1; }

  /// An odd factor permutes the ids modulo a power of two: the empty context, which lists them all, has no
  /// collisions, and frequent words, which have neighbouring ids, are spread over a block.
  static std::uint32_t home_of(const Context& context, Token token) {
    constexpr std::uint32_t golden = 0x9E3779B1;  // 2^32 / golden ratio
    return (static_cast<std::uint32_t>(token) * golden) & mask(context);
  }

  /// What backing off gives a token that the context lists, before scaling. `lower` is its probability in
  /// the row of the suffix.
  double backed_off(const Context& context, Side side, double lower) const {
    return context.backoff[side] * (lower / contexts_[context.suffix].scale[side]);
  }

  /// From `at` down, where the two models' probabilities weigh `weight`.
  Found find_below(std::uint32_t at, Token token, Probabilities weight) const;

  std::int32_t vocab_;
  BigTable<Context> contexts_;
  BigTable<Token> tokens_;
  std::array<BigTable<Slot>, 2> slots_;
  BigTable<Probabilities> probabilities_;
};

}  // namespace speclab
