// A random source that follows every branch: it runs the program once per leaf of the decision tree and
// computes each leaf's probability, in double or in exact rationals. It can also follow one branch that a
// guide chooses. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/random/philox.hpp"
#include "core/stop.hpp"
#include "core/token.hpp"

namespace speclab {

template <class Real>
struct OwnedWeights {
  using value_type = Real;
  std::vector<Real> values;
  std::int32_t size;

  const Real& operator[](Token id) const { return values[static_cast<std::size_t>(id)]; }
};

/// Chooses the outcome of every draw along one branch.
template <class Real>
struct DrawGuide {
  std::function<bool(Draw draw, const Real& probability)> bernoulli;
  std::function<Token(Draw draw, const OwnedWeights<Real>& weights)> categorical;
};

template <class Real>
class EnumeratedRandomSource {
 public:
  EnumeratedRandomSource() = default;
  /// Follows the branch that `guide` chooses; `guide` must outlive this source.
  explicit EnumeratedRandomSource(const DrawGuide<Real>& guide) : guide_(&guide) {}

  /// Branches only if both outcomes are possible. A probability outside [0, 1] counts as 0 or 1, as when a
  /// uniform is compared with it.
  bool bernoulli(Draw draw, const Real& probability) {
    if (guide_ != nullptr) return guide_->bernoulli(draw, probability);
    if (!(probability > Real(0))) return false;
    if (!(probability < Real(1))) return true;
    const Token side = choose([&](Branch& branch) {
      branch.ids = {1, 0};
      branch.probabilities = {probability, Real(Real(1) - probability)};
    });
    return side == 1;
  }

  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    if (guide_ != nullptr) {
      OwnedWeights<Real> drawn{{}, weights.size};
      for (Token id = 0; id < weights.size; ++id) drawn.values.push_back(weights[id]);
      return guide_->categorical(draw, drawn);
    }
    const Real total = total_probability(weights);
    if (!(total - total == Real(0))) return invalid_token;
    if (!(total > Real(0))) return no_token;
    return choose([&](Branch& branch) {
      for (Token id = 0; id < weights.size; ++id) {
        if (!(weights[id] > Real(0))) continue;
        branch.ids.push_back(id);
        branch.probabilities.push_back(weights[id] / total);
      }
    });
  }

  /// Returns the probability of the path taken since the last `restart`.
  const Real& probability() const { return probability_; }

  void restart() {
    depth_ = 0;
    probability_ = Real(1);
  }

  /// Moves to the next unvisited leaf; returns false if all have been visited.
  bool advance() {
    while (!path_.empty()) {
      Branch& deepest = path_.back();
      if (++deepest.taken < deepest.ids.size()) return true;
      path_.pop_back();
    }
    return false;
  }

 private:
  struct Branch {
    std::vector<Token> ids;
    std::vector<Real> probabilities;
    std::size_t taken = 0;
  };

  template <class Fill>
  Token choose(const Fill& fill) {
    if (depth_ == path_.size()) fill(path_.emplace_back());
    const Branch& branch = path_[depth_++];
    probability_ *= branch.probabilities[branch.taken];
    return branch.ids[branch.taken];
  }

  const DrawGuide<Real>* guide_ = nullptr;
  std::vector<Branch> path_;
  std::size_t depth_ = 0;
  Real probability_{1};
};

/// Runs `program(random)` once per leaf and calls `visit(result, probability)`. The probabilities sum to 1.
template <class Real, class Program, class Visit>
void enumerate(const Program& program, const Visit& visit) {
  EnumeratedRandomSource<Real> random;
  do {
    end_if_stopped();
    random.restart();
    const auto result = program(random);
    visit(result, random.probability());
  } while (random.advance());
}

}  // namespace speclab
