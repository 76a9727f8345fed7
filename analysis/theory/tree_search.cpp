#include "analysis/theory/tree_search.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace speclab {

namespace {

/// Smaller relative differences are due to rounding.
constexpr double better = 1 + 1e-12;

std::size_t place(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

TreeSearch::TreeSearch(std::int32_t max_nodes, std::int32_t max_levels,
                       std::span<const double> rank_acceptance)
    : max_nodes_(max_nodes), max_levels_(std::min(max_levels, max_nodes)) {
  assert(max_nodes >= 1 && max_levels >= 1);
  assert(std::is_sorted(rank_acceptance.rbegin(), rank_acceptance.rend()));
  for (const double share : rank_acceptance) {
    if (share > 0) ranks_.push_back(share);
  }
}

TreeSearch::Nodes TreeSearch::made_nodes(const Caps& caps) const {
  Nodes all;
  std::vector<std::int32_t> parents{-1};
  for (std::size_t level = 0; level <= caps.size(); ++level) {
    const std::size_t begin = all.size();
    for (const std::int32_t parent : parents) {
      const double reached = parent < 0 ? 1 : all[place(parent)].reached;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        all.push_back({reached * ranks_[rank], parent, static_cast<std::int32_t>(level), rank == 0});
    }
    if (level == caps.size()) break;
    parents.resize(all.size() - begin);
    std::iota(parents.begin(), parents.end(), static_cast<std::int32_t>(begin));
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
      const double first = all[place(a)].reached;
      const double second = all[place(b)].reached;
      return first != second ? first > second : a < b;
    };
    const std::size_t kept = std::min(parents.size(), place(caps[level]));
    std::partial_sort(parents.begin(), parents.begin() + static_cast<std::ptrdiff_t>(kept), parents.end(),
                      likelier);
    parents.resize(kept);
  }
  // A parent is at least as likely as its children, and precedes them in `all`.
  std::vector<std::int32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return all[place(a)].reached > all[place(b)].reached;
  });
  order.resize(std::min(order.size(), place(max_nodes_)));
  std::vector<std::int32_t> moved(all.size(), -1);
  Nodes nodes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Node node = all[place(order[i])];
    if (node.parent >= 0) node.parent = moved[place(node.parent)];
    moved[place(order[i])] = static_cast<std::int32_t>(i);
    nodes.push_back(node);
  }
  return nodes;
}

const TreeSearch::Nodes& TreeSearch::nodes_of(const Caps& caps) {
  const auto known = known_.find(caps);
  return known == known_.end() ? known_.emplace(caps, made_nodes(caps)).first->second : known->second;
}

TreeSearch::Found TreeSearch::best_of(const Caps& caps, const TreeCosts& costs) {
  const Nodes& nodes = nodes_of(caps);
  Found best{caps};
  std::vector<std::size_t> widths(caps.size() + 1, 0);
  double tokens = 1;
  double draft = 0;
  std::size_t levels = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    tokens += nodes[i].reached;
    levels = std::max(levels, place(nodes[i].level) + 1);
    if (nodes[i].first) {
      const std::size_t width = ++widths[place(nodes[i].level)];
      if (!costs.one_run) draft += costs.draft[width] - costs.draft[width - 1];
    }
    if (costs.one_run) draft = costs.draft[levels];
    const double speed = tokens / (draft + costs.verify[i + 1]);
    if (speed > best.tokens_per_time * better) {
      best.tokens_per_time = speed;
      best.nodes = i + 1;
    }
  }
  return best;
}

void TreeSearch::tighten(Found& found) {
  const Nodes& nodes = nodes_of(found.caps);
  Caps widths;
  for (std::size_t i = 0; i < found.nodes; ++i) {
    if (!nodes[i].first || nodes[i].level == 0) continue;
    if (widths.size() < place(nodes[i].level)) widths.push_back(0);
    ++widths[place(nodes[i].level) - 1];
  }
  found.caps = std::move(widths);
}

TreeSearch::Found TreeSearch::climbed(Found from, const TreeCosts& costs, std::set<Caps>& seen) {
  for (;;) {
    tighten(from);
    if (!seen.insert(from.caps).second) return from;
    Found next = from;
    const auto attempt = [&](const Caps& caps) {
      Found found = best_of(caps, costs);
      if (found.tokens_per_time > next.tokens_per_time * better) next = std::move(found);
    };
    Caps caps = from.caps;
    for (std::size_t i = 0; i < caps.size(); ++i) {
      if (caps[i] < max_nodes_) {
        ++caps[i];
        attempt(caps);
        for (std::size_t j = 0; j < caps.size(); ++j) {
          if (j == i || caps[j] == 1) continue;
          --caps[j];
          attempt(caps);
          ++caps[j];
        }
        --caps[i];
      }
      if (caps[i] > 1) {
        --caps[i];
        attempt(caps);
        ++caps[i];
      }
    }
    if (!caps.empty()) attempt(Caps(caps.begin(), caps.end() - 1));
    if (place(max_levels_) > caps.size() + 1) {
      caps.push_back(1);
      attempt(caps);
    }
    if (next.tokens_per_time == from.tokens_per_time) return from;
    from = std::move(next);
  }
}

TreeChoice TreeSearch::best(const TreeCosts& costs) {
  TreeChoice choice;
  choice.tokens_per_time = 1 / costs.verify[0];
  if (ranks_.empty()) return choice;
  Found best;
  best.tokens_per_time = choice.tokens_per_time;
  std::set<Caps> seen;
  for (std::int32_t levels = 1; levels <= max_levels_; ++levels) {
    for (std::int32_t cap = max_nodes_; cap >= 1; cap = cap * 3 / 4) {
      Found found = climbed(best_of(Caps(place(levels - 1), cap), costs), costs, seen);
      if (found.tokens_per_time > best.tokens_per_time * better) best = std::move(found);
    }
  }
  if (best.nodes == 0) return choice;
  const Nodes& nodes = nodes_of(best.caps);
  // Nodes are ordered by level, for printing.
  std::vector<std::size_t> order(best.nodes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return nodes[a].level < nodes[b].level; });
  std::vector<std::int32_t> moved(best.nodes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int32_t parent = nodes[order[i]].parent;
    moved[order[i]] = static_cast<std::int32_t>(i);
    choice.tree.parents.push_back(parent < 0 ? -1 : moved[place(parent)]);
  }
  choice.tree.expected_tokens = expected_tokens(choice.tree.parents, ranks_);
  choice.depth = tree_depth(choice.tree.parents);
  choice.tokens_per_time = best.tokens_per_time;
  return choice;
}

}  // namespace speclab
