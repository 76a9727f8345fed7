#include "sim/models/ngram_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/stop.hpp"
#include "sim/error.hpp"

namespace speclab {

NgramModel::NgramModel(const NgramList& list, RowSums sums) : packing_(list.vocab) {
  assert(1 <= list.vocab && list.vocab <= max_ngram_vocab);
  assert(!list.levels.empty() && list.levels.size() <= max_ngram_order);
  assert(list.levels[0].size() == static_cast<std::size_t>(list.vocab));
  unigrams_.reserve(list.levels[0].size());
  for (const ListedNgram& unigram : list.levels[0]) unigrams_.push_back(unigram.probability);

  levels_.resize(list.levels.size() - 1);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    NgramLevel& level = levels_[k];
    const std::vector<ListedNgram>& shorter = list.levels[k];
    const std::vector<ListedNgram>& ngrams = list.levels[k + 1];
    level.tokens.reserve(ngrams.size());
    level.probabilities.reserve(ngrams.size());
    // Merges n-grams with a back-off weight and contexts of longer n-grams.
    std::size_t weighted = 0;
    std::size_t longer = 0;
    while (weighted < shorter.size() || longer < ngrams.size()) {
      const bool from_shorter =
          longer == ngrams.size() ||
          (weighted < shorter.size() && shorter[weighted].key <= packing_.context(ngrams[longer].key));
      const PackedNgram key = from_shorter ? shorter[weighted].key : packing_.context(ngrams[longer].key);
      const double backoff = from_shorter ? shorter[weighted++].backoff : 1;
      const auto first = static_cast<std::uint32_t>(level.tokens.size());
      for (; longer < ngrams.size() && packing_.context(ngrams[longer].key) == key; ++longer) {
        level.tokens.push_back(packing_.last(ngrams[longer].key));
        level.probabilities.push_back(ngrams[longer].probability);
      }
      const std::uint32_t count = static_cast<std::uint32_t>(level.tokens.size()) - first;
      if (count > 0 || backoff != 1) level.contexts.push_back({key, backoff, first, count});
    }
    level.contexts.shrink_to_fit();
    level.index();
  }
  if (sums == RowSums::renormalised) renormalise();
}

NgramModel::NgramModel(std::vector<double> unigrams, std::vector<NgramLevel> levels)
    : packing_(static_cast<std::int32_t>(unigrams.size())),
      unigrams_(std::move(unigrams)),
      levels_(std::move(levels)) {
  assert(!unigrams_.empty() && unigrams_.size() <= max_ngram_vocab);
  assert(levels_.size() < max_ngram_order);
  for (NgramLevel& level : levels_) level.index();
}

NgramModel::Suffixes NgramModel::suffixes(std::span<const Token> context) const {
  Suffixes known{};
  const std::size_t longest = std::min(levels_.size(), context.size());
  for (std::size_t k = 1; k <= longest; ++k)
    known[k - 1] = levels_[k - 1].find(packing_.pack(context.last(k)));
  return known;
}

/// Returns the scale of the longest known context: it alone determines which shorter ones are known, hence
/// the row.
double NgramModel::scale(const Suffixes& known) const {
  for (std::size_t k = known.size(); k-- > 0;) {
    if (known[k] != nullptr) return levels_[k].scale(*known[k]);
  }
  return unigram_scale_;
}

Row NgramModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const Suffixes known = suffixes(context);
  // weight[k] is the factor of a probability listed below level k.
  std::array<double, max_ngram_order> weight{};
  double running = scale(known);
  for (std::size_t k = known.size(); k-- > 0;) {
    weight[k + 1] = running;
    if (known[k] != nullptr) running *= known[k]->backoff;
  }
  weight[0] = running;

  const bool none =
      std::all_of(known.begin(), known.end(), [](const NgramContext* c) { return c == nullptr; });
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

/// Computes each sum from that of a context one token shorter, so no row is written out:
///     sum(a b c) = listed probability after (a b c) + backoff(a b c) * (sum(b c) - probability of the same
///     tokens after (b c)).
double NgramModel::renormalise() {
  double max_lost = 1;
  unigram_scale_ = 1 / total_probability(Row{unigrams_.data(), vocab()});
  if (!std::isfinite(unigram_scale_)) throw ModelError("the unigrams' probabilities sum to 0");
  worst_row_ = {1 / unigram_scale_, {}};
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    NgramLevel& level = levels_[k];
    const int length = static_cast<int>(k) + 1;
    level.scales.reserve(level.contexts.size());
    for (const NgramContext& context : level.contexts) {
      const auto tokens = packing_.unpack(context.key, length);
      const Suffixes shorter = suffixes(std::span(tokens).subspan(1, k));
      double listed = 0;
      double replaced = 0;
      for (std::uint32_t i = context.first; i < context.first + context.count; ++i) {
        listed += level.probabilities[i];
        replaced += listed_probability(shorter, level.tokens[i]);
      }
      const double shorter_total = 1 / scale(shorter);
      const double total = listed + context.backoff * (shorter_total - replaced);
      if (!(total > 0) || !std::isfinite(total)) {
        throw ModelError(fmt::format("the row after ids {} sums to {}, which cannot be normalised",
                                     fmt::join(std::span(tokens).first(k + 1), " "), total));
      }
      if (std::abs(total - 1) > std::abs(worst_row_.sum - 1))
        worst_row_ = {total, {tokens.begin(), tokens.begin() + length}};
      level.scales.push_back(1 / total);
      max_lost = std::max(max_lost, (listed + context.backoff * shorter_total) / total);
    }
  }
  return max_lost;
}

std::optional<NgramModel> NgramModel::adjusted(const Adjustment& how) const {
  constexpr double max_lost = 0x1p12;
  if (how.temperature < min_temperature || how.top_k != 0 || how.top_p != 1) return std::nullopt;
  NgramModel made = *this;
  const auto heat = [power = 1 / how.temperature](double& value) { value = std::pow(value, power); };
  std::for_each(made.unigrams_.begin(), made.unigrams_.end(), heat);
  for (NgramLevel& level : made.levels_) {
    level.scales.clear();
    std::for_each(level.probabilities.begin(), level.probabilities.end(), heat);
    for (NgramContext& context : level.contexts) heat(context.backoff);
  }
  try {
    if (made.renormalise() > max_lost) return std::nullopt;
  } catch (const ModelError&) {
    return std::nullopt;
  }
  made.worst_row_ = {};
  return made;
}

NgramModel::Known NgramModel::known(int length, std::size_t index) const {
  const NgramLevel& here = level(length);
  const NgramContext& context = here.contexts[index];
  return {context.key, context.backoff, here.scale(context),
          std::span(here.tokens).subspan(context.first, context.count),
          std::span(here.probabilities).subspan(context.first, context.count)};
}

std::optional<std::size_t> NgramModel::position(int length, PackedNgram key) const {
  const NgramLevel& here = level(length);
  const NgramContext* const found = here.find(key);
  if (found == nullptr) return std::nullopt;
  return static_cast<std::size_t>(found - here.contexts.data());
}

NgramList NgramModel::listed() const {
  NgramList list{vocab(), std::vector<std::vector<ListedNgram>>(levels_.size() + 1)};
  for (std::size_t id = 0; id < unigrams_.size(); ++id)
    list.levels[0].push_back({PackedNgram{id}, unigrams_[id]});
  StopCounter now_and_then(1 << 12);
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    for (const NgramContext& context : levels_[k].contexts) {
      now_and_then.step();
      for (std::uint32_t i = context.first; i < context.first + context.count; ++i) {
        const PackedNgram key = packing_.append(context.key, levels_[k].tokens[i]);
        list.levels[k + 1].push_back({key, levels_[k].probabilities[i]});
      }
    }
    for (ListedNgram& ngram : list.levels[k]) {
      now_and_then.step();
      if (const NgramContext* context = levels_[k].find(ngram.key)) ngram.backoff = context->backoff;
    }
  }
  return list;
}

std::size_t NgramModel::bytes() const {
  std::size_t bytes = unigrams_.capacity() * sizeof(double) + levels_.capacity() * sizeof(NgramLevel);
  for (const NgramLevel& level : levels_) bytes += level.bytes();
  return bytes;
}

}  // namespace speclab
