#include "sim/fast/ngram_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random/bernoulli_bits.hpp"
#include "core/random/philox.hpp"
#include "core/stop.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Returns the bits of a block with room for the followers and the outcome `shorter`. Small blocks may be
/// full; in larger ones one slot in five stays empty, so that searches are short.
int block_bits(std::size_t followers) {
  const std::size_t taken = followers + 1;
  return alias_bits(taken <= 8 ? taken : (taken * 5 + 3) / 4);
}

/// A bracket below minus this share of the listed probability is not due to the rounded digits of a file.
constexpr double rounding = 1e-6;

/// Returns whether a follower's bracket is negative.
bool below_back_off(double listed, double backed_off) { return listed - backed_off < -rounding * listed; }

/// If more draws than this are needed for one that is kept, sim/decode.hpp is as fast.
constexpr double max_draws = 256;

constexpr double unlisted = -1;
constexpr std::size_t contexts_a_task = 1024;

}  // namespace

struct NgramTable::Builder {
  /// Contexts of one length, in ascending order of key, and the position of each in both models.
  struct Level {
    std::uint32_t first = 0;
    std::vector<std::array<std::optional<std::uint32_t>, 2>> known;
    std::array<std::vector<std::uint32_t>, 2> joint;  ///< context by the model's own position
    std::size_t size() const { return known.size(); }
  };

  NgramTable& table;
  std::array<const NgramModel*, 2> models;
  std::vector<Level> levels;  ///< levels[k] has the contexts of k tokens
  const AcceptanceFunctions& acceptances;
  std::vector<std::array<double, 2>> totals;  ///< sums of the weights

  const NgramPacking& packing() const { return models[0]->packing(); }
  bool knows(Side side, int length) const { return length < models[side]->order(); }

  /// Returns the context with this key if either model knows it.
  std::optional<std::uint32_t> find(int length, PackedNgram key) const {
    for (const Side side : {target_side, draft_side}) {
      if (!knows(side, length)) continue;
      if (const auto at = models[side]->position(length, key))
        return levels[static_cast<std::size_t>(length)].joint[side][*at];
    }
    return std::nullopt;
  }

  NgramModel::Known known(Side side, int length, std::size_t index) const {
    return models[side]->known(length, index);
  }

  PackedNgram key_of(int length, std::size_t index) const {
    const auto& where = levels[static_cast<std::size_t>(length)].known[index];
    const Side someone = where[target_side] ? target_side : draft_side;
    return known(someone, length, *where[someone]).key;
  }

  /// Returns the followers of a context in either model, in ascending order, with the probabilities that both
  /// list.
  void merge_followers(int length, std::size_t index,
                       std::vector<std::pair<Token, Probabilities>>& out) const {
    out.clear();
    const auto& where = levels[static_cast<std::size_t>(length)].known[index];
    std::array<NgramModel::Known, 2> sides{};
    for (const Side side : {target_side, draft_side}) {
      if (where[side]) sides[side] = known(side, length, *where[side]);
    }
    std::array<std::size_t, 2> at{};
    for (;;) {
      const bool more_target = at[0] < sides[0].tokens.size();
      const bool more_draft = at[1] < sides[1].tokens.size();
      if (!more_target && !more_draft) return;
      const Token a = more_target ? sides[0].tokens[at[0]] : std::numeric_limits<Token>::max();
      const Token b = more_draft ? sides[1].tokens[at[1]] : std::numeric_limits<Token>::max();
      const Token token = std::min(a, b);
      Probabilities probabilities{unlisted, unlisted};
      if (a == token) probabilities[0] = sides[0].probabilities[at[0]++];
      if (b == token) probabilities[1] = sides[1].probabilities[at[1]++];
      out.emplace_back(token, probabilities);
    }
  }

  void merge_level(int length, std::size_t& contexts) {
    Level& level = levels[static_cast<std::size_t>(length)];
    level.first = static_cast<std::uint32_t>(contexts);
    std::array<std::size_t, 2> count{};
    for (const Side side : {target_side, draft_side}) {
      count[side] = knows(side, length) ? models[side]->contexts(length) : 0;
      level.joint[side].resize(count[side]);
    }
    std::array<std::size_t, 2> at{};
    while (at[0] < count[0] || at[1] < count[1]) {
      std::array<PackedNgram, 2> keys{};
      for (const Side side : {target_side, draft_side})
        keys[side] = at[side] < count[side] ? known(side, length, at[side]).key : ~PackedNgram{0};
      const PackedNgram key = std::min(keys[0], keys[1]);
      auto& where = level.known.emplace_back();
      for (const Side side : {target_side, draft_side}) {
        if (keys[side] != key) continue;
        check_prefix(side, length, key);
        where[side] = static_cast<std::uint32_t>(at[side]);
        level.joint[side][at[side]++] = static_cast<std::uint32_t>(contexts);
      }
      if (++contexts > std::numeric_limits<std::uint32_t>::max())
        throw ModelError("the models know 2^32 contexts or more");
    }
  }

  /// An unlisted token leads to the same context as from the suffix. This is right only if no longer context
  /// ends in that token, which this function checks.
  void check_prefix(Side side, int length, PackedNgram key) const {
    if (length < 2) return;
    if (const auto prefix = models[side]->position(length - 1, packing().context(key))) {
      const auto followers = known(side, length - 1, *prefix).tokens;
      if (std::binary_search(followers.begin(), followers.end(), packing().last(key))) return;
    }
    throw ModelError("an n-gram model has a context that is not a listed n-gram itself");
  }

  /// The block of one context under construction, indexed by slot.
  struct Block {
    std::array<std::vector<double>, 2> weights;
    std::vector<std::uint32_t> next;
    std::vector<AliasSlot> alias;
    AliasScratch scratch;
    std::vector<std::pair<Token, Probabilities>> followers;

    void clear(std::size_t size) {
      for (auto& of_side : weights) of_side.assign(size, 0.0);
      next.assign(size, 0);
      alias.resize(size);
    }
  };

  void place(std::size_t at, Block& block, Token token, std::uint32_t next,
             const Probabilities& probabilities, const Probabilities& weights) {
    const Context& context = table.contexts_[at];
    std::uint32_t free = token == shorter ? 0 : home_of(context, token);
    while (table.tokens_[context.first + free] != empty) free = (free + 1) & mask(context);
    table.tokens_[context.first + free] = token;
    table.probabilities_[context.first + free] = probabilities;
    block.next[free] = next;
    for (const Side side : {target_side, draft_side}) {
      block.weights[side][free] = weights[side];
      totals[at][side] += weights[side];
    }
  }

  /// Fills the slots of a block whose tokens are assigned.
  void set_slots(std::uint32_t at, Block& block) {
    const Context& context = table.contexts_[at];
    const auto size = std::uint32_t{1} << context.bits;
    const std::array<Slot*, 2> slots{&table.slots_[target_side][context.first],
                                     &table.slots_[draft_side][context.first]};
    for (std::uint32_t i = 0; i < size; ++i) {
      const Token token = table.tokens_[context.first + i];
      const Probabilities found = token >= 0 ? table.find(at, token).probabilities : Probabilities{};
      for (const Side side : {target_side, draft_side}) {
        const double acceptance = acceptances.probability[side](found[target_side], found[draft_side]);
        slots[side][i].own = {token, block.next[i], token >= 0 ? bernoulli_bits(acceptance) : 0};
      }
    }
    for (const Side side : {target_side, draft_side}) {
      if (context.longest[side] != at) continue;  // this row is never drawn from
      if (!(totals[at][side] > 0)) throw ModelError("the row of a context of an n-gram model sums to 0");
      build_alias(block.weights[side], block.alias, block.scratch);
      for (std::uint32_t i = 0; i < size; ++i) {
        slots[side][i].cut = block.alias[i].cut;
        slots[side][i].other = slots[side][block.alias[i].other].own;
      }
    }
  }

  void add_root(Block& block) {
    const auto count = static_cast<std::size_t>(table.vocab_);
    Context& root = table.contexts_[0];
    root = {0, static_cast<std::int16_t>(alias_bits(count)), {}, 0, {1, 1}, {}, {0, 0}, {0, 0}};
    for (const Side side : {target_side, draft_side}) root.scale[side] = models[side]->unigram_scale();
    block.clear(std::size_t{1} << root.bits);
    for (Token token = 0; token < table.vocab_; ++token) {
      Probabilities probabilities;
      for (const Side side : {target_side, draft_side})
        probabilities[side] = models[side]->unigrams()[static_cast<std::size_t>(token)];
      const auto next = levels.size() > 1 ? find(1, static_cast<PackedNgram>(token)) : std::nullopt;
      place(0, block, token, next.value_or(0), probabilities, probabilities);
    }
    set_slots(0, block);
  }

  /// Sets all members of a context except its slots.
  void describe(int length, std::size_t index) {
    const Level& level = levels[static_cast<std::size_t>(length)];
    const auto at = static_cast<std::uint32_t>(level.first + index);
    Context& context = table.contexts_[at];
    const auto& where = level.known[index];
    const PackedNgram key = key_of(length, index);
    for (int shorter_length = length - 1; shorter_length > 0; --shorter_length) {
      if (const auto found = find(shorter_length, packing().suffix(key, shorter_length))) {
        context.suffix = *found;
        break;
      }
    }
    const Context& suffix = table.contexts_[context.suffix];
    for (const Side side : {target_side, draft_side}) {
      context.below[side] = suffix.longest[side];
      context.longest[side] = where[side] ? at : suffix.longest[side];
      context.scale[side] = where[side] ? known(side, length, *where[side]).scale : suffix.scale[side];
      context.backoff[side] = where[side] ? known(side, length, *where[side]).backoff : 1;
      context.rejects[side] = suffix.rejects[side];
    }
  }

  void add_context(int length, std::size_t index, Block& block) {
    describe(length, index);
    const auto at = static_cast<std::uint32_t>(levels[static_cast<std::size_t>(length)].first + index);
    Context& context = table.contexts_[at];
    merge_followers(length, index, block.followers);
    block.clear(std::size_t{1} << context.bits);
    const PackedNgram key = key_of(length, index);
    const bool longer = static_cast<std::size_t>(length) + 1 < levels.size();
    for (const auto& [token, probabilities] : block.followers) {
      const Found below = table.find(context.suffix, token);
      Probabilities own{};
      for (const Side side : {target_side, draft_side}) {
        if (probabilities[side] == unlisted) continue;
        const double backed_off = table.backed_off(context, side, below.probabilities[side]);
        own[side] = std::max(probabilities[side] - backed_off, 0.0);
        context.rejects[side] |= below_back_off(probabilities[side], backed_off);
      }
      const auto next = longer ? find(length + 1, packing().append(key, token)) : std::nullopt;
      place(at, block, token, next.value_or(below.next), probabilities, own);
    }
    Probabilities rest{};
    for (const Side side : {target_side, draft_side})
      rest[side] = context.backoff[side] * totals[context.suffix][side];
    place(at, block, shorter, 0, {unlisted, unlisted}, rest);
    for (const Side side : {target_side, draft_side}) {
      if (totals[at][side] * context.scale[side] > max_draws) {
        throw ModelError(fmt::format(
            "an n-gram model lists n-grams so far below their back-off probability that rejection sampling would keep fewer than one draw in {}",
            max_draws));
      }
    }
    set_slots(at, block);
  }
};

NgramTable::NgramTable(const NgramModel& target, const NgramModel& draft,
                       const AcceptanceFunctions& acceptances)
    : vocab_(target.vocab()) {
  assert(target.vocab() == draft.vocab());
  const int order = std::max(target.order(), draft.order());
  Builder builder{*this, {&target, &draft}, {}, acceptances, {}};
  builder.levels.resize(static_cast<std::size_t>(order));
  builder.levels[0].known.resize(1);
  std::size_t contexts = 1;
  for (int length = 1; length < order; ++length) builder.merge_level(length, contexts);

  contexts_.resize(contexts);
  builder.totals.resize(contexts);
  std::uint64_t slots = std::uint64_t{1} << alias_bits(static_cast<std::size_t>(vocab_));
  std::vector<std::pair<Token, Probabilities>> followers;
  StopCounter now_and_then(1 << 10);
  for (int length = 1; length < order; ++length) {
    const Builder::Level& level = builder.levels[static_cast<std::size_t>(length)];
    for (std::size_t i = 0; i < level.size(); ++i) {
      now_and_then.step();
      builder.merge_followers(length, i, followers);
      Context& context = contexts_[level.first + i];
      context.first = slots;
      context.bits = static_cast<std::int16_t>(block_bits(followers.size()));
      slots += std::uint64_t{1} << context.bits;
    }
  }
  tokens_.resize(slots, empty);
  probabilities_.resize(slots, Probabilities{unlisted, unlisted});
  for (auto& of_side : slots_) of_side.resize(slots);

  Builder::Block block;
  builder.add_root(block);
  for (int length = 1; length < order; ++length) {
    const std::size_t count = builder.levels[static_cast<std::size_t>(length)].size();
    for_each_piece(count, contexts_a_task, [&](std::size_t first, std::size_t last) {
      end_if_stopped();
      Builder::Block own_block;
      for (std::size_t i = first; i < last; ++i) builder.add_context(length, i, own_block);
    });
  }
}

NgramTable::Found NgramTable::find_below(std::uint32_t at, Token token, Probabilities weight) const {
  Found found{{unlisted, unlisted}, nowhere};
  for (; at != 0; at = contexts_[at].suffix) {
    const Context& here = contexts_[at];
    const std::uint32_t where = place(here, token);
    if (where != nowhere) {
      const Probabilities& listed = probabilities(here, where);
      for (const Side side : {target_side, draft_side}) {
        if (found.probabilities[side] == unlisted && listed[side] != unlisted)
          found.probabilities[side] = weight[side] * listed[side];
      }
      if (found.next == nowhere) found.next = block(here, target_side)[where].own.next;
      if (found.probabilities[0] != unlisted && found.probabilities[1] != unlisted) return found;
    }
    for (const Side side : {target_side, draft_side}) weight[side] *= here.backoff[side];
  }
  const std::uint32_t home = home_of(contexts_[0], token);
  for (const Side side : {target_side, draft_side}) {
    if (found.probabilities[side] == unlisted)
      found.probabilities[side] = weight[side] * probabilities_[home][side];
  }
  if (found.next == nowhere) found.next = block(contexts_[0], target_side)[home].own.next;
  return found;
}

double NgramTable::kept_share(std::uint32_t longest, std::uint32_t drawn_in, Token token, Side side) const {
  double share = 1;
  for (std::uint32_t at = longest; at != drawn_in && contexts_[at].rejects[side];
       at = contexts_[at].below[side]) {
    const Context& here = contexts_[at];
    const std::uint32_t where = place(here, token);
    if (where == nowhere) continue;
    const double listed = probabilities(here, where)[side];
    if (listed == unlisted) continue;
    const double given = backed_off(here, side, find(here.suffix, token).probabilities[side]);
    if (below_back_off(listed, given)) share *= listed / given;
  }
  return share;
}

std::optional<std::uint64_t> NgramTable::word_if_kept(std::uint32_t longest, std::uint32_t drawn_in,
                                                      Token token, Side side, std::uint64_t word) const {
  const double kept = kept_share(longest, drawn_in, token, side);
  const double number = open_unit(word);
  if (number >= kept) return std::nullopt;
  constexpr double below_one = 0x1.fffffffffffffp-1;
  return kept < 1 ? static_cast<std::uint64_t>(std::ldexp(std::min(number / kept, below_one), 64)) : word;
}

std::uint32_t NgramTable::context_of(std::span<const Token> tokens) const {
  std::uint32_t at = 0;
  for (const Token token : tokens) at = find(at, token).next;
  return at;
}

void NgramTable::fill_row(std::uint32_t at, Side side, std::span<double> row) const {
  assert(row.size() == static_cast<std::size_t>(vocab_));
  std::vector<std::pair<const Context*, double>> weighted;
  double weight = contexts_[at].scale[side];
  for (;; at = contexts_[at].suffix) {
    weighted.emplace_back(&contexts_[at], weight);
    weight *= contexts_[at].backoff[side];
    if (at == 0) break;
  }
  // Goes from the shortest context up, so that longer contexts overwrite shorter ones.
  for (auto level = weighted.rbegin(); level != weighted.rend(); ++level) {
    const auto& [context, scale] = *level;
    for (std::uint32_t i = 0; i <= mask(*context); ++i) {
      const Token token = tokens_[context->first + i];
      const double listed = probabilities(*context, i)[side];
      if (token >= 0 && listed != unlisted) row[static_cast<std::size_t>(token)] = scale * listed;
    }
  }
}

}  // namespace speclab
