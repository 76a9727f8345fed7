#include "analysis/exact/transitions.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/stop.hpp"

namespace speclab {

namespace {

/// Iterates over the successors of one context in several matrices.
struct Walk {
  std::int32_t context;
  std::size_t graph = 0;
  std::size_t entry = 0;  // index in the present graph; a graph's first entry is looked up on entering it
  bool entered = false;

  /// Returns the next successor, or -1.
  std::int32_t next(std::span<const Transitions* const> graphs) {
    for (; graph < graphs.size(); ++graph, entered = false) {
      const Transitions& edges = *graphs[graph];
      if (!entered) entry = edges.row_begin(context);
      entered = true;
      const std::size_t end = edges.row_end(context);
      while (entry < end) {
        const std::size_t k = entry++;
        if (edges.probabilities[k] > 0) return edges.column_at(context, k);
      }
    }
    return -1;
  }
};

/// Returns the strong component of each context, and sets `count` to their number.
std::vector<std::int32_t> strong_components(std::span<const Transitions* const> graphs, std::int32_t contexts,
                                            std::int32_t& count) {
  constexpr std::int32_t unseen = -1;
  const auto size = static_cast<std::size_t>(contexts);
  std::vector<std::int32_t> component(size, unseen);
  std::vector<std::int32_t> order(size, unseen);
  std::vector<std::int32_t> lowest(size);
  std::vector<std::int32_t> open;  // seen contexts whose component is not yet known
  std::vector<Walk> path;
  std::int32_t seen = 0;
  StopCounter now_and_then(1 << 10);
  count = 0;
  const auto enter = [&](std::int32_t x) {
    order[static_cast<std::size_t>(x)] = lowest[static_cast<std::size_t>(x)] = seen++;
    open.push_back(x);
    path.push_back({x});
  };
  for (std::int32_t root = 0; root < contexts; ++root) {
    if (order[static_cast<std::size_t>(root)] != unseen) continue;
    enter(root);
    while (!path.empty()) {
      now_and_then.step();
      const auto x = static_cast<std::size_t>(path.back().context);
      const std::int32_t successor = path.back().next(graphs);
      if (successor >= 0) {
        const auto y = static_cast<std::size_t>(successor);
        if (order[y] == unseen) {
          enter(successor);
        } else if (component[y] == unseen) {
          lowest[x] = std::min(lowest[x], order[y]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        const auto parent = static_cast<std::size_t>(path.back().context);
        lowest[parent] = std::min(lowest[parent], lowest[x]);
      }
      if (lowest[x] != order[x]) continue;
      while (component[x] == unseen) {
        component[static_cast<std::size_t>(open.back())] = count;
        open.pop_back();
      }
      ++count;
    }
  }
  return component;
}

class Elimination {
 public:
  Elimination(Transitions transitions, std::vector<double> start)
      : size_(static_cast<std::size_t>(transitions.contexts)),
        matrix_(std::move(transitions.probabilities)),
        mass_(std::move(start)) {}

  double& at(std::size_t from, std::size_t to) { return matrix_[from * size_ + to]; }
  double mass(std::size_t state) const { return mass_[state]; }

  /// Eliminates the last of `states`, redirecting its incoming transitions to its successors. Afterwards
  /// at(from, last) is the probability of going there from each other state, divided by that of leaving it.
  void remove_last(const std::vector<std::size_t>& states, const std::vector<std::size_t>& beyond) {
    end_if_stopped();
    const std::size_t last = states.back();
    double leaving = 0;
    const auto each_other = [&](const auto& visit) {
      for (std::size_t i = 0; i + 1 < states.size(); ++i) visit(states[i]);
      for (const std::size_t state : beyond) visit(state);
    };
    each_other([&](std::size_t to) { leaving += at(last, to); });
    for (std::size_t i = 0; i + 1 < states.size(); ++i) {
      const std::size_t from = states[i];
      if (at(from, last) == 0) continue;
      at(from, last) /= leaving;
      each_other([&](std::size_t to) { at(from, to) += at(from, last) * at(last, to); });
    }
    each_other([&](std::size_t to) { mass_[to] += mass_[last] * at(last, to) / leaving; });
    mass_[last] = 0;
  }

 private:
  std::size_t size_;
  std::vector<double> matrix_;
  std::vector<double> mass_;
};

}  // namespace

void finish(Transitions& transitions, double dense_above) {
  if (transitions.dense) return;
  transitions.contexts = static_cast<std::int32_t>(transitions.first.size()) - 1;
  const auto size = static_cast<std::size_t>(transitions.contexts);
  const auto entries = static_cast<double>(transitions.probabilities.size());
  if (entries < dense_above * static_cast<double>(size) * static_cast<double>(size)) return;
  std::vector<double> square(size * size);
  for (std::int32_t x = 0; x < transitions.contexts; ++x) {
    end_if_stopped();
    for (std::size_t k = transitions.row_begin(x); k < transitions.row_end(x); ++k) {
      square[static_cast<std::size_t>(x) * size + static_cast<std::size_t>(transitions.column[k])] +=
          transitions.probabilities[k];
    }
  }
  transitions = {transitions.contexts, {}, {}, std::move(square), true};
}

std::vector<ClosedClass> closed_classes(std::span<const Transitions* const> graphs) {
  const std::int32_t contexts = graphs.front()->contexts;
  for ([[maybe_unused]] const Transitions* graph : graphs) assert(graph->contexts == contexts);
  std::int32_t count = 0;
  const std::vector<std::int32_t> component = strong_components(graphs, contexts, count);
  std::vector<bool> left(static_cast<std::size_t>(count));
  StopCounter now_and_then(1 << 10);
  for (std::int32_t x = 0; x < contexts; ++x) {
    now_and_then.step();
    const auto here = static_cast<std::size_t>(component[static_cast<std::size_t>(x)]);
    Walk walk{x};
    for (std::int32_t y = walk.next(graphs); y >= 0 && !left[here]; y = walk.next(graphs))
      left[here] = component[static_cast<std::size_t>(y)] != component[static_cast<std::size_t>(x)];
  }
  std::vector<ClosedClass> classes;
  std::vector<std::size_t> place(static_cast<std::size_t>(count), 0);  // 1 + index in `classes`
  for (std::int32_t x = 0; x < contexts; ++x) {
    const auto here = static_cast<std::size_t>(component[static_cast<std::size_t>(x)]);
    if (left[here]) continue;
    if (place[here] == 0) {
      classes.emplace_back();
      place[here] = classes.size();
    }
    classes[place[here] - 1].push_back(x);
  }
  return classes;
}

std::vector<double> direct_stationary(Transitions transitions, std::vector<double> start) {
  assert(transitions.dense && start.size() == static_cast<std::size_t>(transitions.contexts));
  const Transitions* const graph[] = {&transitions};
  const std::vector<ClosedClass> classes = closed_classes(graph);
  std::vector<std::size_t> closed;
  for (const ClosedClass& members : classes) closed.insert(closed.end(), members.begin(), members.end());
  std::sort(closed.begin(), closed.end());
  std::vector<std::size_t> transient;
  for (std::size_t state = 0; state < start.size(); ++state) {
    if (!std::binary_search(closed.begin(), closed.end(), state)) transient.push_back(state);
  }

  std::vector<double> found(start.size());
  Elimination chain(std::move(transitions), std::move(start));
  for (; !transient.empty(); transient.pop_back()) chain.remove_last(transient, closed);
  for (const ClosedClass& members : classes) {
    double weight = 0;
    for (const std::int32_t state : members) weight += chain.mass(static_cast<std::size_t>(state));
    std::vector<std::size_t> left(members.begin(), members.end());
    for (; left.size() > 1; left.pop_back()) chain.remove_last(left, {});
    double total = found[left.front()] = 1;
    for (std::size_t n = 1; n < members.size(); ++n) {
      end_if_stopped();
      const auto state = static_cast<std::size_t>(members[n]);
      for (std::size_t i = 0; i < n; ++i) {
        const auto from = static_cast<std::size_t>(members[i]);
        found[state] += found[from] * chain.at(from, state);
      }
      total += found[state];
    }
    for (const std::int32_t state : members) found[static_cast<std::size_t>(state)] *= weight / total;
  }
  return found;
}

}  // namespace speclab
