#include "speclab/sim/ngram_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "speclab/sim/error.hpp"

namespace speclab {

namespace {
/// Where a key's probing starts. The multiplier is that of splitmix64's finaliser; high bits are the mixed
/// ones.
std::size_t home(PackedNgram key, std::size_t slots) {
  constexpr std::uint64_t odd = 0xbf58476d1ce4e5b9U;
  const auto high = static_cast<std::uint64_t>(key >> 64U);
  std::uint64_t word = (static_cast<std::uint64_t>(key) ^ (high * odd)) * odd;
  word = (word ^ (word >> 32U)) * odd;
  return static_cast<std::size_t>(word >> 32U) & (slots - 1);
}
}  // namespace

void NgramModel::Level::index() {
  slots.assign(std::bit_ceil(2 * contexts.size() + 1), 0);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    std::size_t at = home(contexts[i].key, slots.size());
    while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = static_cast<std::uint32_t>(i + 1);
  }
}

const NgramModel::Context* NgramModel::Level::find(PackedNgram key) const {
  for (std::size_t at = home(key, slots.size()); slots[at] != 0; at = (at + 1) & (slots.size() - 1)) {
    const Context& candidate = contexts[slots[at] - 1];
    if (candidate.key == key) return &candidate;
  }
  return nullptr;
}

const double* NgramModel::Level::follower(const Context& context, Token token) const {
  const auto first = tokens.begin() + context.first;
  const auto last = first + context.count;
  const auto found = std::lower_bound(first, last, token);
  if (found == last || *found != token) return nullptr;
  return probabilities.data() + (found - tokens.begin());
}

NgramModel::NgramModel(const NgramList& list, RowSums sums) : packing_(list.vocab) {
  assert(1 <= list.vocab && list.vocab <= max_ngram_vocab);
  assert(!list.levels.empty() && list.levels.size() <= max_ngram_order);
  assert(list.levels[0].size() == static_cast<std::size_t>(list.vocab));
  unigrams_.reserve(list.levels[0].size());
  for (const ListedNgram& unigram : list.levels[0]) unigrams_.push_back(unigram.probability);

  levels_.resize(list.levels.size() - 1);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    Level& level = levels_[k];
    const std::vector<ListedNgram>& shorter = list.levels[k];
    const std::vector<ListedNgram>& ngrams = list.levels[k + 1];
    level.tokens.reserve(ngrams.size());
    level.probabilities.reserve(ngrams.size());
    // A merge: n-grams with a back-off weight, and whatever longer n-grams start with.
    std::size_t weighted = 0;
    std::size_t longer = 0;
    while (weighted < shorter.size() || longer < ngrams.size()) {
      const bool from_shorter =
          longer == ngrams.size() ||
          (weighted < shorter.size() && shorter[weighted].key <= packing_.context(ngrams[longer].key));
      Context context{from_shorter ? shorter[weighted].key : packing_.context(ngrams[longer].key), 1, 1,
                      static_cast<std::uint32_t>(level.tokens.size()), 0};
      if (from_shorter) context.backoff = shorter[weighted++].backoff;
      for (; longer < ngrams.size() && packing_.context(ngrams[longer].key) == context.key; ++longer) {
        level.tokens.push_back(packing_.last(ngrams[longer].key));
        level.probabilities.push_back(ngrams[longer].probability);
      }
      context.count = static_cast<std::uint32_t>(level.tokens.size()) - context.first;
      if (context.count > 0 || context.backoff != 1) level.contexts.push_back(context);
    }
    level.contexts.shrink_to_fit();
    level.index();
  }
  if (sums == RowSums::renormalised) renormalise();
}

NgramModel::Suffixes NgramModel::suffixes(std::span<const Token> context) const {
  Suffixes known{};
  const std::size_t longest = std::min(levels_.size(), context.size());
  for (std::size_t k = 1; k <= longest; ++k)
    known[k - 1] = levels_[k - 1].find(packing_.pack(context.last(k)));
  return known;
}

/// The scale of the longest known context: it alone decides which shorter ones are known, hence the row.
double NgramModel::scale(const Suffixes& known) const {
  for (std::size_t k = known.size(); k-- > 0;) {
    if (known[k] != nullptr) return known[k]->scale;
  }
  return unigram_scale_;
}

Row NgramModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const Suffixes known = suffixes(context);
  // weight[k] is what a probability listed below level k is multiplied by.
  std::array<double, max_ngram_order> weight{};
  double running = scale(known);
  for (std::size_t k = known.size(); k-- > 0;) {
    weight[k + 1] = running;
    if (known[k] != nullptr) running *= known[k]->backoff;
  }
  weight[0] = running;

  const bool none = std::all_of(known.begin(), known.end(), [](const Context* c) { return c == nullptr; });
  if (none && unigram_scale_ == 1) return {unigrams_.data(), vocab()};

  scratch.resize(unigrams_.size());
  double* const row = scratch.data();
  for (std::size_t id = 0; id < unigrams_.size(); ++id) row[id] = weight[0] * unigrams_[id];
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (known[k] == nullptr) continue;
    const Token* const tokens = levels_[k].tokens.data() + known[k]->first;
    const double* const probabilities = levels_[k].probabilities.data() + known[k]->first;
    for (std::uint32_t i = 0; i < known[k]->count; ++i) row[tokens[i]] = weight[k + 1] * probabilities[i];
  }
  return {row, vocab()};
}

double NgramModel::listed_probability(const Suffixes& known, Token token) const {
  double weight = 1;
  for (std::size_t k = known.size(); k-- > 0;) {
    if (known[k] == nullptr) continue;
    const double* listed = levels_[k].follower(*known[k], token);
    if (listed != nullptr) return weight * *listed;
    weight *= known[k]->backoff;
  }
  return weight * unigrams_[static_cast<std::size_t>(token)];
}

double NgramModel::probability(std::span<const Token> context, Token token) const {
  const Suffixes known = suffixes(context);
  return scale(known) * listed_probability(known, token);
}

/// Sums follow from those one token shorter, so no row is written out:
///     sum(a b c) = listed mass after (a b c) + backoff(a b c) * (sum(b c) - mass of the same tokens after (b
///     c)).
void NgramModel::renormalise() {
  unigram_scale_ = 1 / total_mass(Row{unigrams_.data(), vocab()});
  if (!std::isfinite(unigram_scale_)) throw ModelError("the unigrams have no probability mass");
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    Level& level = levels_[k];
    const int length = static_cast<int>(k) + 1;
    for (Context& context : level.contexts) {
      const auto tokens = packing_.unpack(context.key, length);
      const Suffixes shorter = suffixes(std::span(tokens).subspan(1, k));
      double listed = 0;
      double replaced = 0;
      for (std::uint32_t i = context.first; i < context.first + context.count; ++i) {
        listed += level.probabilities[i];
        replaced += listed_probability(shorter, level.tokens[i]);
      }
      const double total = listed + context.backoff * (1 / scale(shorter) - replaced);
      if (!(total > 0) || !std::isfinite(total)) {
        throw ModelError(fmt::format("the row after ids {} sums to {}, which cannot be normalised",
                                     fmt::join(std::span(tokens).first(k + 1), " "), total));
      }
      context.scale = 1 / total;
    }
  }
}

double NgramModel::max_row_error(std::size_t samples) const {
  std::vector<double> scratch;
  double worst = std::abs(total_mass(next({}, scratch)) - 1);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const std::vector<Context>& contexts = levels_[k].contexts;
    const std::size_t taken = std::min(samples, contexts.size());
    for (std::size_t i = 0; i < taken; ++i) {
      const auto tokens = packing_.unpack(contexts[i * contexts.size() / taken].key, static_cast<int>(k) + 1);
      const double sum = total_mass(next(std::span(tokens).first(k + 1), scratch));
      worst = std::max(worst, std::abs(sum - 1));
    }
  }
  return worst;
}

NgramModel::Known NgramModel::known(int length, std::size_t index) const {
  const Level& here = level(length);
  const Context& context = here.contexts[index];
  return {context.key, context.backoff, context.scale,
          std::span(here.tokens).subspan(context.first, context.count),
          std::span(here.probabilities).subspan(context.first, context.count)};
}

std::optional<std::size_t> NgramModel::position(int length, PackedNgram key) const {
  const Level& here = level(length);
  const Context* const found = here.find(key);
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(found - here.contexts.data());
}

NgramList NgramModel::listed() const {
  NgramList list{vocab(), std::vector<std::vector<ListedNgram>>(levels_.size() + 1)};
  for (std::size_t id = 0; id < unigrams_.size(); ++id)
    list.levels[0].push_back({PackedNgram{id}, unigrams_[id]});
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    for (const Context& context : levels_[k].contexts) {
      for (std::uint32_t i = context.first; i < context.first + context.count; ++i) {
        const PackedNgram key = packing_.append(context.key, levels_[k].tokens[i]);
        list.levels[k + 1].push_back({key, levels_[k].probabilities[i]});
      }
    }
    for (ListedNgram& ngram : list.levels[k]) {
      if (const Context* context = levels_[k].find(ngram.key)) ngram.backoff = context->backoff;
    }
  }
  return list;
}

}  // namespace speclab
