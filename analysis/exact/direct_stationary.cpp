#include "analysis/exact/direct_stationary.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "core/stop.hpp"

namespace speclab {

namespace {

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
