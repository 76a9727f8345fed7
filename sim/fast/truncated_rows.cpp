#include "sim/fast/truncated_rows.hpp"

#include <algorithm>

#include "core/rules/token.hpp"
#include "sim/fast/ngram_rows.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

namespace {

/// Returns an upper bound on the tokens of a row.
double kept_tokens(const Adjustment& how, std::int32_t vocab) {
  if (how.temperature == 0) return 1;
  return how.top_k > 0 ? std::min(how.top_k, vocab) : vocab;
}

/// Returns the first entry with p / q > scale, or the end.
template <class Entries>
std::size_t first_above(const Entries& entries, double scale) {
  const auto first = std::partition_point(entries.begin(), entries.end(), [scale](const auto& one) {
    return !(one.probability[target_side] > scale * one.probability[draft_side]);
  });
  return static_cast<std::size_t>(first - entries.begin());
}

/// Returns the last entry, from `from` on, whose sum to the end is above `goal`. The goal must be below the
/// first entry's sum.
template <class Entries, class SumOf>
std::size_t last_above(const Entries& entries, std::size_t from, double goal, const SumOf& sum_of) {
  const auto end =
      std::partition_point(entries.begin() + static_cast<std::ptrdiff_t>(from) + 1, entries.end(),
                           [&](const auto& entry) { return sum_of(entry) > goal; });
  return static_cast<std::size_t>(end - entries.begin()) - 1;
}

}  // namespace

const NgramModel* TruncatedRows::ngram_of(const Model& model) {
  const AdjustedModel* sampled = model.sampled();
  if (sampled == nullptr || sampled->base.ngram() == nullptr) return nullptr;
  const Adjustment& how = sampled->how;
  // A temperature applies to the tokens that top-k keeps; without top-k it applies to the full row.
  const bool by_top_k = how.top_k > 0 && how.top_k < model.vocab();
  const bool by_top_p = how.top_p < 1 && how.temperature == 1;
  return how.temperature == 0 || by_top_k || by_top_p ? sampled->base.ngram() : nullptr;
}

TruncatedRows::TruncatedRows(const AdjustedModel& target, const AdjustedModel& draft,
                             std::size_t max_kept_bytes)
    : how_{target.how, draft.how},
      table_(*target.base.ngram(), *draft.base.ngram(), TokenRule{}),
      likely_{LikelyTokens(table_, target_side), LikelyTokens(table_, draft_side)},
      max_kept_bytes_(max_kept_bytes),
      kept_(table_.contexts()) {}

TruncatedRows::~TruncatedRows() {
  for (const std::atomic<const Entries*>& one : kept_) delete one.load(std::memory_order_relaxed);
}

double TruncatedRows::bytes_for(const AdjustedModel& target, const AdjustedModel& draft) {
  const NgramModel& p = *target.base.ngram();
  const NgramModel& q = *draft.base.ngram();
  const double contexts = NgramRows::contexts_for(p, q);
  const double tokens = kept_tokens(target.how, p.vocab()) + kept_tokens(draft.how, q.vocab());
  const double kept = contexts * (sizeof(Entries) + tokens * sizeof(Entry));
  return 2 * LikelyTokens::bytes_for(NgramRows::followers_for(p, q), contexts) + contexts * sizeof(kept_[0]) +
         std::min(kept, static_cast<double>(default_kept_bytes));
}

std::size_t TruncatedRows::bytes() const {
  return table_.bytes() + likely_[0].bytes() + likely_[1].bytes() + kept_.size() * sizeof(kept_[0]) +
         kept_bytes_.load(std::memory_order_relaxed);
}

/// Keeps the tokens that adjust (core/distribution/transforms.hpp) keeps of a whole row.
void TruncatedRows::retain(std::uint32_t context, Side side,
                           std::vector<std::pair<Token, double>>& retained) const {
  const Adjustment& how = how_[side];
  retained.clear();
  const auto normalise = [&] {
    double total = 0;
    for (const auto& [token, probability] : retained) total += probability;
    for (auto& [token, probability] : retained) probability /= total;
    // Removes tokens whose probability a low temperature has rounded to 0.
    while (!(retained.back().second > 0)) retained.pop_back();
  };
  const auto most = static_cast<std::size_t>(kept_tokens(how, vocab()));
  const bool until_share = how.top_k == 0 && how.temperature != 0;
  double running = 0;
  likely_[side].for_each_in_order(context, [&](Token token, double probability) {
    if (!(probability > 0)) return false;
    retained.emplace_back(token, probability);
    running += probability;
    return retained.size() < most && !(until_share && reaches(running, how.top_p));
  });
  normalise();
  if (until_share) return;
  if (how.temperature > 0 && how.temperature != 1) {
    const double largest = retained.front().second;
    for (auto& [token, probability] : retained) probability = heated(probability, largest, how.temperature);
    normalise();
  }
  if (how.top_p >= 1) return;
  const auto weight = [&](std::size_t place) { return retained[place].second; };
  retained.resize(count_reaching(retained.size(), how.top_p, weight));
  normalise();
}

TruncatedRows::Entries TruncatedRows::found(std::uint32_t context) const {
  thread_local std::array<std::vector<std::pair<Token, double>>, 2> retained;
  Entries entries;
  for (const Side side : {target_side, draft_side}) {
    retain(context, side, retained[side]);
    std::sort(retained[side].begin(), retained[side].end());
  }
  auto target = retained[target_side].begin();
  auto draft = retained[draft_side].begin();
  const auto no_target = retained[target_side].end();
  const auto no_draft = retained[draft_side].end();
  while (target != no_target || draft != no_draft) {
    const Token token = draft == no_draft || (target != no_target && target->first <= draft->first)
                            ? target->first
                            : draft->first;
    Entry entry{token, table_.find(context, token).next, {0, 0}, {0, 0}};
    if (target != no_target && target->first == token) entry.probability[target_side] = target++->second;
    if (draft != no_draft && draft->first == token) entry.probability[draft_side] = draft++->second;
    entries.push_back(entry);
  }
  const auto ratio = [](const Entry& one) {
    return one.probability[target_side] / one.probability[draft_side];
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry& a, const Entry& b) { return ratio(a) < ratio(b); });
  std::array<double, 2> sum{0, 0};
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    for (const Side side : {target_side, draft_side})
      entry->sum[side] = sum[side] += entry->probability[side];
  }
  return entries;
}

const TruncatedRows::Entries& TruncatedRows::entries(std::uint32_t context) const {
  const Entries* known = kept_[context].load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  Entries made = found(context);
  const std::size_t bytes = sizeof(Entries) + made.size() * sizeof(Entry);
  if (kept_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > max_kept_bytes_) {
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    thread_local Entries last;
    last = std::move(made);
    return last;
  }
  const auto* fresh = new Entries(std::move(made));
  if (kept_[context].compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return *fresh;
  // Another thread has stored the same.
  delete fresh;
  kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return *known;
}

std::uint64_t TruncatedRows::overlap_quanta(std::uint32_t context) const {
  double unused;
  return ContextSum::quanta_of(std::max(0.0, total(context, 0, unused) - total(context, 1, unused)));
}

void TruncatedRows::draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const {
  blocks.activate(draws.size());
  blocks.make(draws, blocks.active);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    RowDraw& draw = draws[i];
    const Entries& all = entries(draw.context);
    const double goal = open_unit(blocks.first(i)) * all.front().sum[side];
    const Entry& drawn = all[last_above(all, 0, goal, [side](const Entry& one) { return one.sum[side]; })];
    draw.token = drawn.token;
    draw.next = drawn.next;
    draw.target = drawn.probability[target_side];
    draw.draft = drawn.probability[draft_side];
    draw.word = blocks.second(i);
    prefetch(draw.next);
  }
}

void TruncatedRows::draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const {
  blocks.activate(draws.size());
  blocks.make(draws, blocks.active);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    RowDraw& draw = draws[i];
    const Entries& all = entries(draw.context);
    const auto rest = [scale = draw.scale](const Entry& one) {
      return one.sum[target_side] - scale * one.sum[draft_side];
    };
    const std::size_t from = first_above(all, draw.above);
    const double total = from < all.size() ? rest(all[from]) : 0;
    if (!(total > 0)) {
      ++draw.attempt;
      // Uses separate blocks, because those of the other draws are still needed.
      DrawBlocks again(blocks.seed());
      this->draw(target_side, {&draw, 1}, again);
      blocks.work += again.work;
      continue;
    }
    const Entry& drawn = all[last_above(all, from, open_unit(blocks.first(i)) * total, rest)];
    draw.token = drawn.token;
    draw.next = drawn.next;
  }
}

void TruncatedRows::find(RowDraw& draw) const {
  const Entries& all = entries(draw.context);
  const auto kept =
      std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.token == draw.token; });
  const bool there = kept != all.end();
  draw.target = there ? kept->probability[target_side] : 0;
  draw.draft = there ? kept->probability[draft_side] : 0;
  draw.next = there ? kept->next : table_.find(draw.context, draw.token).next;
}

double TruncatedRows::total(std::uint32_t context, double scale, double& draft) const {
  const Entries& all = entries(context);
  const std::size_t from = first_above(all, scale);
  draft = from < all.size() ? all[from].sum[draft_side] : 0;
  return from < all.size() ? std::max(0.0, all[from].sum[target_side] - scale * draft) : 0;
}

void TruncatedRows::total(std::span<ContextTotal> totals, DrawBlocks&) const {
  for (ContextTotal& one : totals) one.total = total(one.context, one.scale, one.draft);
}

Row TruncatedRows::row(std::uint32_t context, Side side, std::vector<double>& scratch) const {
  scratch.assign(static_cast<std::size_t>(vocab()), 0.0);
  for (const Entry& one : entries(context))
    scratch[static_cast<std::size_t>(one.token)] = one.probability[side];
  return {scratch.data(), vocab()};
}

}  // namespace speclab
