#include "sim/fast/ngram_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "core/rules/token.hpp"
#include "core/stop.hpp"
#include "sim/models/packed_ngram.hpp"
#include "sim/parallel.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

namespace {

/// Maximum number of draws from the envelope of a residual; then a pass over the vocabulary draws from it.
constexpr std::uint32_t max_residual_draws = 64;

}  // namespace

double NgramRows::contexts_for(const NgramModel& target, const NgramModel& draft) {
  double contexts = 1;
  for (const NgramModel* model : {&target, &draft}) {
    for (int length = 1; length < model->order(); ++length)
      contexts += static_cast<double>(model->contexts(length));
  }
  return contexts;
}

double NgramRows::followers_for(const NgramModel& target, const NgramModel& draft) {
  double followers = target.vocab();
  for (const NgramModel* model : {&target, &draft}) {
    for (int length = 1; length < model->order(); ++length)
      followers += static_cast<double>(model->followers(length));
  }
  return followers;
}

double NgramRows::bytes_for(const NgramModel& target, const NgramModel& draft) {
  const double contexts = contexts_for(target, draft);
  const double own = followers_for(target, draft) + contexts;
  const double lower = own - target.vocab();
  return static_cast<double>(RatioLists::bytes_for(own + lower, own)) +
         contexts * (sizeof(Node) + sizeof(std::uint64_t));
}

NgramRows::NgramRows(const NgramModel& target, const NgramModel& draft) : table_(target, draft, TokenRule{}) {
  nodes_.resize(table_.contexts());
  overlaps_.resize(table_.contexts());
  allocate();
  // Maximum over contexts of the tokens to which the draft gives no probability.
  std::atomic<std::int32_t> excluded = 0;
  for_each_piece(contexts(), 256, [&](std::size_t first, std::size_t last) {
    end_if_stopped();
    for (auto at = static_cast<std::uint32_t>(first); at < last; ++at) {
      const std::int32_t none = fill(at);
      if (at == 0) continue;
      const std::int32_t here = table_.context(at).backoff[draft_side] > 0 ? none : vocab();
      std::int32_t most = excluded.load(std::memory_order_relaxed);
      while (most < here && !excluded.compare_exchange_weak(most, here, std::memory_order_relaxed)) {
      }
    }
  });
  // A context has no more suffixes than tokens, and each suffix can exclude tokens.
  min_draft_support_ = std::max(0, min_draft_support_ - max_ngram_order * excluded);
}

/// Reserves room for all listed tokens. The contexts' own lists come first, because only they need tokens: no
/// token is drawn from the others.
void NgramRows::allocate() {
  std::uint64_t own = 0;
  std::uint64_t lower = 0;
  StopCounter now_and_then(1 << 10);
  for (std::uint32_t at = 0; at < contexts(); ++at) {
    now_and_then.step();
    const NgramTable::Context& context = table_.context(at);
    Node& node = nodes_[at];
    node.suffix = context.suffix;
    for (const Token token : table_.places(context)) node.own.size += token >= 0;
    node.lower.size = at != 0 ? node.own.size : 0;
    own += node.own.size + 1;
    lower += at != 0 ? node.lower.size + 1 : 0;
  }
  lists_.allocate(own + lower, own);
  std::uint64_t own_at = 0;
  std::uint64_t lower_at = own;
  for (std::uint32_t at = 0; at < contexts(); ++at) {
    Node& node = nodes_[at];
    node.own.first = own_at;
    own_at += node.own.size + 1;
    node.lower.first = lower_at;
    lower_at += at != 0 ? node.lower.size + 1 : 0;
  }
}

std::int32_t NgramRows::fill(std::uint32_t at) {
  const NgramTable::Context& context = table_.context(at);
  const NgramTable::Context& suffix = table_.context(context.suffix);
  Node& node = nodes_[at];
  const auto weight = [&](Side side) {
    return at == 0 ? 0 : context.scale[side] * context.backoff[side] / suffix.scale[side];
  };
  node.target_back_off = weight(target_side);
  node.draft_back_off = weight(draft_side);
  thread_local std::vector<PairedProbability> pairs;
  const auto fill_list = [&](RatioList& list, std::uint32_t rows) {
    pairs.clear();
    std::int32_t none = 0;
    for (const Token token : table_.places(context)) {
      if (token < 0) continue;
      const NgramTable::Probabilities found = table_.find(rows, token).probabilities;
      if (found[target_side] > 0) pairs.push_back({token, found[target_side], found[draft_side]});
      none += !(found[draft_side] > 0);
    }
    list.size = static_cast<std::uint32_t>(pairs.size());
    lists_.fill(list, pairs);
    return none;
  };
  const std::int32_t none = fill_list(node.own, at);
  if (at == 0) {
    min_draft_support_ = vocab() - none;
  } else {
    fill_list(node.lower, context.suffix);
  }
  return none;
}

std::uint64_t NgramRows::overlap_quanta(std::uint32_t context) const {
  const std::atomic_ref<std::uint64_t> known(overlaps_[context]);
  const std::uint64_t kept = known.load(std::memory_order_relaxed);
  if (kept > 0) return kept - 1;
  double unused;
  const double overlap = std::max(0.0, total(context, 0, unused) - total(context, 1, unused));
  const std::uint64_t quanta = ContextSum::quanta_of(overlap);
  known.store(quanta + 1, std::memory_order_relaxed);
  return quanta;
}

double NgramRows::total(std::uint32_t context, double scale, double& draft) const {
  double total = 0;
  double weight = 1;
  double draft_weight = 1;
  draft = 0;
  for (;; context = nodes_[context].suffix) {
    const Node& node = nodes_[context];
    double share;
    total += weight * lists_.total(node.own, scale, &share);
    draft += draft_weight * share;
    if (context == 0 || !(node.target_back_off > 0)) break;
    weight *= node.target_back_off;
    draft_weight *= node.draft_back_off;
    scale *= node.draft_back_off / node.target_back_off;
    total -= weight * lists_.total(node.lower, scale, &share);
    draft -= draft_weight * share;
  }
  return std::max(0.0, total);
}

void NgramRows::total(std::span<ContextTotal> totals, DrawBlocks& blocks) const {
  struct Path {
    std::uint32_t which;
    std::uint32_t context;
    double scale;
    double weight;
    double draft_weight;
  };
  thread_local std::vector<Path> paths;
  thread_local std::vector<RatioSearch> searches;
  paths.clear();
  for (std::uint32_t i = 0; i < totals.size(); ++i) {
    totals[i].total = totals[i].draft = 0;
    paths.push_back({i, totals[i].context, totals[i].scale, 1, 1});
  }
  while (!paths.empty()) {
    searches.clear();
    for (const Path& path : paths) {
      const Node& node = nodes_[path.context];
      searches.push_back(RatioLists::search(node.own, path.scale));
      blocks.work.reads += 2 + RatioLists::reads(node.own.size);
      if (path.context == 0 || !(node.target_back_off > 0)) continue;
      const double below = path.scale * (node.draft_back_off / node.target_back_off);
      searches.push_back(RatioLists::search(node.lower, below));
      blocks.work.reads += 1 + RatioLists::reads(node.lower.size);
      __builtin_prefetch(&nodes_[node.suffix]);
    }
    lists_.find_above(searches);
    auto search = searches.begin();
    std::size_t going_on = 0;
    for (Path path : paths) {
      const Node& node = nodes_[path.context];
      ContextTotal& sums = totals[path.which];
      sums.total += path.weight * lists_.total_from(search->at, search->scale);
      sums.draft += path.draft_weight * lists_.draft_from(search->at);
      ++search;
      if (path.context == 0 || !(node.target_back_off > 0)) continue;
      path.weight *= node.target_back_off;
      path.draft_weight *= node.draft_back_off;
      path.scale = search->scale;
      path.context = node.suffix;
      sums.total -= path.weight * lists_.total_from(search->at, search->scale);
      sums.draft -= path.draft_weight * lists_.draft_from(search->at);
      ++search;
      paths[going_on++] = path;
    }
    paths.resize(going_on);
  }
  for (ContextTotal& one : totals) one.total = std::max(0.0, one.total);
}

void NgramRows::prefetch_find(std::uint32_t context, Token token) const {
  for (;; context = nodes_[context].suffix) {
    __builtin_prefetch(&table_.home(table_.context(context), token));
    if (context == 0) break;
  }
  __builtin_prefetch(&table_.root_probabilities(token));
}

void NgramRows::draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const {
  thread_local std::vector<std::uint32_t> drawing;
  thread_local std::vector<const NgramTable::Slot*> slots;
  drawing.resize(draws.size());
  slots.resize(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    drawing[i] = table_.context(draws[i].context).longest[side];
    __builtin_prefetch(&table_.context(drawing[i]));
  }
  blocks.activate(draws.size());
  while (!blocks.active.empty()) {
    blocks.make(draws, blocks.active);
    for (std::size_t i = 0; i < blocks.active.size(); ++i) {
      const NgramTable::Context& here = table_.context(drawing[blocks.active[i]]);
      slots[i] = table_.block(here, side) + alias_slot(blocks.first(i), here.bits);
      __builtin_prefetch(slots[i]);
    }
    blocks.work.reads += blocks.active.size();
    std::size_t going_on = 0;
    for (std::size_t i = 0; i < blocks.active.size(); ++i) {
      const std::uint32_t which = blocks.active[i];
      RowDraw& draw = draws[which];
      const NgramTable::Context& here = table_.context(drawing[which]);
      const bool own = alias_fraction(blocks.first(i), here.bits) < slots[i]->cut;
      const Token token = own ? slots[i]->own.token : slots[i]->other.token;
      const std::uint32_t longest = table_.context(draw.context).longest[side];
      std::optional<std::uint64_t> word = blocks.second(i);
      if (token == NgramTable::shorter) {
        drawing[which] = here.below[side];
        __builtin_prefetch(&table_.context(drawing[which]));
      } else {
        if (drawing[which] != longest && table_.context(longest).rejects[side]) [[unlikely]]
          word = table_.word_if_kept(longest, drawing[which], token, side, *word);
        if (word) {
          draw.token = token;
          draw.word = *word;
          prefetch_find(draw.context, token);
          continue;
        }
        drawing[which] = longest;
      }
      ++draw.attempt;
      blocks.active[going_on++] = which;
    }
    blocks.active.resize(going_on);
  }
  for (RowDraw& draw : draws) find(draw);
  blocks.work.reads += 2 * draws.size();
}

void NgramRows::find(RowDraw& draw) const {
  const NgramTable::Found found = table_.find(draw.context, draw.token);
  draw.target = found.probabilities[target_side];
  draw.draft = found.probabilities[draft_side];
  draw.next = found.next;
}

bool NgramRows::listed_above(std::uint32_t context, std::uint32_t drawn_in, Token token) const {
  for (; context != drawn_in; context = nodes_[context].suffix) {
    if (table_.place(table_.context(context), token) != NgramTable::nowhere) return true;
  }
  return false;
}

/// The proposals for drawing from a residual by rejection (header comment of ngram_rows.hpp): the residuals
/// over the tokens that the context and each of its suffixes list.
struct NgramRows::Envelope {
  /// One context's list: `at` is its first entry with p / q > above; `total` is weight times its residual's
  /// sum.
  struct Part {
    std::uint32_t context;
    double scale;
    double above;
    double weight;
    double total;
    std::uint64_t at;
  };
  std::array<Part, max_ngram_order> parts;
  std::size_t count;
  double total;
};

void NgramRows::find_envelopes(std::span<const RowDraw> draws, std::vector<Envelope>& envelopes,
                               DrawBlocks& blocks) const {
  thread_local std::vector<RatioSearch> searches;
  envelopes.resize(draws.size());
  blocks.activate(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    envelopes[i].parts[0] = {draws[i].context, draws[i].scale, draws[i].above, 1, 0, 0};
    envelopes[i].count = 0;
    envelopes[i].total = 0;
  }
  while (!blocks.active.empty()) {
    searches.clear();
    for (const std::uint32_t which : blocks.active) {
      const Envelope::Part& part = envelopes[which].parts[envelopes[which].count];
      const Node& node = nodes_[part.context];
      searches.push_back(RatioLists::search(node.own, part.above));
      __builtin_prefetch(&nodes_[node.suffix]);
      blocks.work.reads += 2 + RatioLists::reads(node.own.size);
    }
    lists_.find_above(searches);
    std::size_t going_on = 0;
    for (std::size_t i = 0; i < searches.size(); ++i) {
      Envelope& envelope = envelopes[blocks.active[i]];
      Envelope::Part& part = envelope.parts[envelope.count++];
      const Node& node = nodes_[part.context];
      part.at = searches[i].at;
      part.total = part.weight * std::max(0.0, lists_.total_from(part.at, part.scale));
      envelope.total += part.total;
      if (part.context == 0 || !(node.target_back_off > 0)) continue;
      const double below = node.draft_back_off / node.target_back_off;
      envelope.parts[envelope.count] = {
          node.suffix, part.scale * below, part.above * below, part.weight * node.target_back_off, 0, 0};
      blocks.active[going_on++] = blocks.active[i];
    }
    blocks.active.resize(going_on);
  }
}

void NgramRows::draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const {
  thread_local std::vector<Envelope> envelopes;
  thread_local std::vector<RatioSearch> searches;
  thread_local std::vector<std::uint32_t> drawn_in;
  find_envelopes(draws, envelopes, blocks);
  blocks.activate(draws.size());
  std::erase_if(blocks.active, [&](std::uint32_t which) { return !(envelopes[which].total > 0); });
  for (RowDraw& draw : draws) draw.token = no_token;
  drawn_in.resize(draws.size());
  for (std::uint32_t tries = 0; !blocks.active.empty() && tries < max_residual_draws; ++tries) {
    blocks.make(draws, blocks.active);
    searches.clear();
    for (std::size_t i = 0; i < blocks.active.size(); ++i) {
      const Envelope& envelope = envelopes[blocks.active[i]];
      double goal = open_unit(blocks.first(i)) * envelope.total;
      std::size_t chosen = 0;
      while (chosen + 1 < envelope.count && goal >= envelope.parts[chosen].total)
        goal -= envelope.parts[chosen++].total;
      // Rounding can lead beyond the last list that has a total above 0.
      while (!(envelope.parts[chosen].total > 0)) --chosen;
      const Envelope::Part& part = envelope.parts[chosen];
      const RatioList& list = nodes_[part.context].own;
      drawn_in[i] = part.context;
      searches.push_back({part.at, static_cast<std::uint32_t>(list.first + list.size - part.at), part.scale,
                          goal / part.weight});
      blocks.work.reads += 1 + RatioLists::reads(list.size);
    }
    lists_.find_drawn(searches);
    std::size_t going_on = 0;
    for (std::size_t i = 0; i < searches.size(); ++i) {
      const std::uint32_t which = blocks.active[i];
      RowDraw& draw = draws[which];
      const Token token = lists_.token(searches[i].at);
      if (!listed_above(draw.context, drawn_in[i], token)) {
        draw.token = token;
        prefetch_find(draw.context, token);
        continue;
      }
      ++draw.attempt;
      blocks.active[going_on++] = which;
    }
    blocks.active.resize(going_on);
  }
  for (RowDraw& draw : draws) {
    if (draw.token != no_token) {
      find(draw);
      continue;
    }
    draw_by_pass(
        *this, draw,
        [scale = draw.scale, above = draw.above](double p, double q) {
          return p > above * q ? std::max(0.0, p - scale * q) : 0;
        },
        blocks);
  }
  blocks.work.reads += 2 * draws.size();
}

}  // namespace speclab
