#include "sim/fast/table_rows.hpp"

#include <algorithm>

#include "core/distribution/divergence.hpp"
#include "core/stop.hpp"
#include "sim/parallel.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

double TableRows::bytes_for(const TableModel& target, const TableModel& draft) {
  const auto pairs = static_cast<double>(std::max(target.contexts(), draft.contexts()));
  const auto slots =
      static_cast<double>(std::size_t{1} << alias_bits(static_cast<std::size_t>(target.vocab())));
  const double entries = pairs * (target.vocab() + 1.0);
  return static_cast<double>(RatioLists::bytes_for(entries, entries)) + pairs * 20 +
         static_cast<double>(target.contexts() + draft.contexts()) * slots * sizeof(AliasSlot);
}

std::size_t TableRows::bytes() const {
  return lists_.bytes() + overlap_.size() * 20 + (alias_[0].size() + alias_[1].size()) * sizeof(AliasSlot);
}

TableRows::TableRows(const TableModel& target, const TableModel& draft)
    : models_{&target, &draft},
      order_(std::max(target.order(), draft.order())),
      bits_(alias_bits(static_cast<std::size_t>(target.vocab()))),
      starts_(std::max(target.contexts(), draft.contexts())),
      sizes_(starts_.size()),
      overlap_(starts_.size()) {
  suffix_contexts_ = static_cast<std::uint32_t>(contexts() / static_cast<std::size_t>(vocab()));
  const auto in_chunks = [](std::size_t count, const auto& body) {
    for_each_piece(count, 16, [&](std::size_t first, std::size_t last) {
      end_if_stopped();
      for (std::size_t at = first; at < last; ++at) body(at);
    });
  };
  for (const Side side : {target_side, draft_side}) {
    alias_[side].resize(models_[side]->contexts() << static_cast<unsigned>(bits_));
    in_chunks(models_[side]->contexts(), [&](std::size_t at) {
      thread_local AliasScratch scratch;
      const Row row = models_[side]->row(at);
      build_alias({row.probabilities, static_cast<std::size_t>(row.size)},
                  {&alias_[side][at << static_cast<unsigned>(bits_)], std::size_t{1} << bits_}, scratch);
    });
  }
  std::vector<double> unused;
  std::uint64_t entries = 0;
  const auto support = [](Row row) {
    return static_cast<std::uint32_t>(
        std::count_if(row.probabilities, row.probabilities + row.size, [](double one) { return one > 0; }));
  };
  min_draft_support_ = vocab();
  for (std::uint32_t at = 0; at < contexts(); ++at) {
    starts_[at] = entries;
    sizes_[at] = support(row(at, target_side, unused));
    min_draft_support_ =
        std::min(min_draft_support_, static_cast<std::int32_t>(support(row(at, draft_side, unused))));
    entries += sizes_[at] + 1;
  }
  lists_.allocate(entries, entries);
  in_chunks(contexts(), [&](std::size_t index) {
    const auto at = static_cast<std::uint32_t>(index);
    thread_local std::vector<PairedProbability> pairs;
    std::vector<double> none;
    const Row p = row(at, target_side, none);
    const Row q = row(at, draft_side, none);
    pairs.clear();
    for (Token token = 0; token < p.size; ++token) {
      if (p[token] > 0) pairs.push_back({token, p[token], q[token]});
    }
    lists_.fill(list(at), pairs);
    overlap_[at] = ContextSum::quanta_of(overlap(p, q));
  });
}

std::uint32_t TableRows::next_context(std::uint32_t context, Token token) const {
  if (order_ <= 1) return order_ == 0 ? 0U : static_cast<std::uint32_t>(token);
  return context % suffix_contexts_ * static_cast<std::uint32_t>(vocab()) + static_cast<std::uint32_t>(token);
}

void TableRows::find(RowDraw& draw) const {
  std::vector<double> unused;
  draw.target = row(draw.context, target_side, unused)[draw.token];
  draw.draft = row(draw.context, draft_side, unused)[draw.token];
  draw.next = next_context(draw.context, draw.token);
}

void TableRows::draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const {
  blocks.activate(draws.size());
  blocks.make(draws, blocks.active);
  for (std::size_t i = 0; i < draws.size(); ++i)
    __builtin_prefetch(&slot(side, draws[i].context, alias_slot(blocks.first(i), bits_)));
  std::vector<double> unused;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    RowDraw& draw = draws[i];
    const std::uint32_t own = alias_slot(blocks.first(i), bits_);
    const AliasSlot& found = slot(side, draw.context, own);
    draw.token = static_cast<Token>(alias_fraction(blocks.first(i), bits_) < found.cut ? own : found.other);
    draw.word = blocks.second(i);
    __builtin_prefetch(row(draw.context, target_side, unused).probabilities + draw.token);
    __builtin_prefetch(row(draw.context, draft_side, unused).probabilities + draw.token);
  }
  for (RowDraw& draw : draws) find(draw);
  blocks.work.reads += 3 * draws.size();
}

void TableRows::draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const {
  blocks.activate(draws.size());
  blocks.make(draws, blocks.active);
  thread_local std::vector<RatioSearch> searches;
  thread_local std::vector<std::uint32_t> drawn;
  searches.clear();
  for (const RowDraw& draw : draws) searches.push_back(RatioLists::search(list(draw.context), draw.above));
  lists_.find_above(searches);
  // Draws whose residual is not empty come first.
  drawn.clear();
  for (std::uint32_t i = 0; i < draws.size(); ++i) {
    RatioSearch search = searches[i];
    search.scale = draws[i].scale;
    const RatioList all = list(draws[i].context);
    const double total = lists_.total_from(search.at, search.scale);
    blocks.work.reads += 2 * RatioLists::reads(all.size) + 1;
    if (!(total > 0)) continue;
    search.goal = open_unit(blocks.first(i)) * total;
    search.left = static_cast<std::uint32_t>(all.first + all.size - search.at);
    searches[drawn.size()] = search;
    drawn.push_back(i);
  }
  searches.resize(drawn.size());
  lists_.find_drawn(searches);
  for (RowDraw& draw : draws) draw.token = no_token;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    RowDraw& draw = draws[drawn[i]];
    draw.token = lists_.token(searches[i].at);
    draw.next = next_context(draw.context, draw.token);
  }
  if (drawn.size() == draws.size()) return;
  for (RowDraw& draw : draws) {
    if (draw.token != no_token) continue;
    ++draw.attempt;
    this->draw(target_side, {&draw, 1}, blocks);
  }
}

void TableRows::total(std::span<ContextTotal> totals, DrawBlocks& blocks) const {
  thread_local std::vector<RatioSearch> searches;
  searches.clear();
  for (const ContextTotal& one : totals) searches.push_back(RatioLists::search(list(one.context), one.scale));
  lists_.find_above(searches);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i].total = lists_.total_from(searches[i].at, searches[i].scale);
    totals[i].draft = lists_.draft_from(searches[i].at);
    blocks.work.reads += RatioLists::reads(sizes_[totals[i].context]) + 1;
  }
}

}  // namespace speclab
