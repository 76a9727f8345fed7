// A pair of back-off n-gram models, prepared so that a step of a fast round reads one or two slots of 32
// bytes at any vocabulary, in memory proportional to the n-grams.
//
// The row of a context c is a mixture. With P(w | c) = listed(w) for followers w of c and backoff(c) P(w |
// c') for the others, where c' is the longest known suffix of c,
//     P(w | c) = [listed(w) - backoff(c) P(w | c')] + backoff(c) P(w | c')
// and the bracket counts for followers only. In interpolated models the bracket is the discounted count,
// hence not negative, and an alias table over the followers and "continue in c'" draws from the row. A
// negative bracket, as in Katz or pruned models, has weight 0 in the alias table. A draw of w that comes from
// c' is then kept with probability listed(w) / (backoff(c) P(w | c')), or else the draw restarts in the
// longest context: rejection sampling, at each length that lists w.
//
// The contexts are those that either model knows. A token leads from a context to the longest context that is
// a suffix of the extended text, as in the automaton of Aho and Corasick.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/random/alias.hpp"
#include "core/rules/pointwise_rules.hpp"
#include "sim/fast/huge_pages.hpp"
#include "sim/models/ngram_model.hpp"

namespace speclab {

enum Side : std::uint8_t { target_side = 0, draft_side = 1 };

class NgramTable {
 public:
  struct Outcome {
    Token token;         ///< `shorter` (continue in the suffix), or a follower in either model
    std::uint32_t next;  ///< the context after the token
    /// Bernoulli_bits of residual_acceptance (target's side) or of acceptance_probability (draft's side).
    std::uint32_t acceptance;
  };

  /// A slot of a context's block in a model's alias table, with the data for both branches. The block is also
  /// an open-addressing table of the followers: the slot's own outcome is the follower stored there.
  struct Slot {
    std::uint32_t cut;
    Outcome own;
    Outcome other;
    std::uint32_t padding;  ///< fills the slot up to half a cache line
  };
  static constexpr Token empty = -1;
  static constexpr Token shorter = -2;

  /// The probabilities that the models list for a follower; negative if a model does not list it.
  using Probabilities = std::array<double, 2>;

  /// Context 0 is the empty one; it lists every token.
  struct Context {
    std::uint64_t first;  ///< start of its block, which has 2^bits slots
    std::int16_t bits;
    /// Whether some of the model's draws are rejected, here or in a suffix.
    std::array<bool, 2> rejects;
    std::uint32_t suffix;           ///< the longest proper suffix that is a context
    std::array<double, 2> backoff;  ///< back-off weight by side; 1 if the model does not know the context
    std::array<double, 2> scale;    ///< scale of the model's row here
    /// The longest suffix that the model knows, which may be the context itself: its draws start there.
    std::array<std::uint32_t, 2> longest;
    /// The longest proper suffix that the model knows: its draws continue there.
    std::array<std::uint32_t, 2> below;
  };

  /// Throws ModelError for models with a context that is not a listed n-gram itself, or that keep fewer than
  /// one draw in 256 in some context, and for 2^32 contexts or more. Both models must have the same
  /// vocabulary.
  template <PointwiseRule Rule>
  NgramTable(const NgramModel& target, const NgramModel& draft, const Rule& rule)
      : NgramTable(
            target, draft,
            AcceptanceFunctions{[rule](double p, double q) { return residual_acceptance(rule, p, q); },
                                [rule](double p, double q) { return rule.acceptance_probability(p, q); }}) {}

  std::int32_t vocab() const { return vocab_; }
  std::size_t contexts() const { return contexts_.size(); }
  /// Returns 64 bytes per context and 84 per slot. A context with f followers in either model has the
  /// smallest power of two of slots that holds f + 1, or 5/4 of that if it is above 8: at most 2.5 f + 5.
  std::size_t bytes() const {
    return contexts_.size() * sizeof(Context) +
           tokens_.size() * (2 * sizeof(Slot) + sizeof(Probabilities) + sizeof(Token));
  }

  const Context& context(std::uint32_t at) const { return contexts_[at]; }

  /// Returns the block of a context in a model's alias tables.
  const Slot* block(const Context& context, Side side) const { return slots_[side].data() + context.first; }

  /// Returns the slot where the search for a token starts.
  const Token& home(const Context& context, Token token) const {
    return tokens_[context.first + home_of(context, token)];
  }

  /// Returns the slot in the context's block of a token that this context itself lists, or `nowhere`.
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

  /// Returns the probabilities of the token in a slot of a context's block.
  const Probabilities& probabilities(const Context& context, std::uint32_t place) const {
    return probabilities_[context.first + place];
  }
  /// Returns a token's probabilities in the empty context, which lists every token at home.
  const Probabilities& root_probabilities(Token token) const {
    return probabilities_[home_of(contexts_[0], token)];
  }

  /// A token's probabilities in the rows of a context, bit by bit those of NgramModel::next, and the context
  /// after the token.
  struct Found {
    Probabilities probabilities;
    std::uint32_t next;
  };
  Found find(std::uint32_t at, Token token) const { return find_below(at, token, contexts_[at].scale); }
  /// Returns these for a token that the context itself does not list.
  Found find_unlisted(std::uint32_t at, Token token) const {
    const Context& here = contexts_[at];
    return find_below(here.suffix, token, {here.scale[0] * here.backoff[0], here.scale[1] * here.backoff[1]});
  }

  /// Returns the tokens of a context's block by slot: `empty`, `shorter`, or a listed token.
  std::span<const Token> places(const Context& context) const {
    return {&tokens_[context.first], std::size_t{mask(context)} + 1};
  }

  /// Returns the probability of keeping a token that was drawn in `drawn_in`, a suffix of `longest`. The
  /// model must know both contexts.
  double kept_share(std::uint32_t longest, std::uint32_t drawn_in, Token token, Side side) const;
  /// Decides with the random number `word` whether a token drawn in `drawn_in` is kept. Returns a new uniform
  /// word, or nothing if the token is rejected.
  std::optional<std::uint64_t> word_if_kept(std::uint32_t longest, std::uint32_t drawn_in, Token token,
                                            Side side, std::uint64_t word) const;

  std::uint32_t context_of(std::span<const Token> tokens) const;

  void fill_row(std::uint32_t at, Side side, std::span<double> row) const;

 private:
  struct AcceptanceFunctions {
    /// Functions of (p, q), indexed by Side.
    std::array<std::function<double(double, double)>, 2> probability;
  };
  struct Builder;

  NgramTable(const NgramModel& target, const NgramModel& draft, const AcceptanceFunctions& acceptances);

  static std::uint32_t mask(const Context& context) { return (std::uint32_t{1} << context.bits) - 1; }

  /// An odd factor permutes the ids modulo a power of two, so that the empty context, which lists all ids,
  /// has no collisions, and frequent words, which have neighbouring ids, are spread over a block.
  static std::uint32_t home_of(const Context& context, Token token) {
    constexpr std::uint32_t golden = 0x9E3779B1;  // 2^32 / golden ratio
    return (static_cast<std::uint32_t>(token) * golden) & mask(context);
  }

  /// Returns the probability that backing off gives to a token that the context lists, before scaling.
  /// `lower` is its probability in the row of the suffix.
  double backed_off(const Context& context, Side side, double lower) const {
    return context.backoff[side] * (lower / contexts_[context.suffix].scale[side]);
  }

  /// Searches for the token in the context `at`, then in its suffixes. The two models' probabilities after
  /// `at` are multiplied by `weight`.
  Found find_below(std::uint32_t at, Token token, Probabilities weight) const;

  std::int32_t vocab_;
  BigTable<Context> contexts_;
  BigTable<Token> tokens_;
  std::array<BigTable<Slot>, 2> slots_;
  BigTable<Probabilities> probabilities_;
};

}  // namespace speclab
