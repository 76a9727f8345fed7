// A random source that follows every branch: it runs the program once per leaf of the decision tree and
// computes each leaf's probability, in double or in exact rationals. It can also follow one branch that a
// guide chooses. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
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

/// Throws std::invalid_argument, which names the address and the remedy.
[[noreturn]] inline void refuse_second_draw(Draw draw) {
  static constexpr const char* names[] = {"draft", "accept", "replace", "bonus", "plain", "world", "iid"};
  throw std::invalid_argument("a round draws twice at the address Draw{Use::" +
                              std::string(names[static_cast<std::size_t>(draw.use)]) + ", " +
                              std::to_string(draw.slot) + ", " + std::to_string(draw.attempt) +
                              "}, where a sampler has one random number for both; give each draw its own "
                              "use, slot or attempt (the draft's draws have Use::draft)");
}

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
    const Token side = choose(draw, [&](Branch& branch) {
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
    return choose(draw, [&](Branch& branch) {
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
    depth_ = round_ = 0;
    probability_ = Real(1);
  }

  /// Begins another round of a program of several, whose draws have the same addresses again.
  void next_round() { round_ = depth_; }

  /// Moves to the next unvisited leaf; returns false if all have been visited. Throws std::invalid_argument
  /// if the program ended before it made the draws of its path again.
  bool advance() {
    if (depth_ < path_.size()) throw std::invalid_argument(unsteady);
    while (!path_.empty()) {
      Branch& deepest = path_.back();
      if (++deepest.taken < deepest.ids.size()) return true;
      path_.pop_back();
    }
    return false;
  }

 private:
  static constexpr const char* unsteady =
      "the rule or drafter made other draws than before after the same outcomes: its draws may depend only on its arguments and earlier draws";

  struct Branch {
    Draw draw;
    std::vector<Token> ids = {};
    std::vector<Real> probabilities = {};
    std::size_t taken = 0;

    bool at(Draw other) const {
      return use_and_slot(draw) == use_and_slot(other) && draw.attempt == other.attempt;
    }
  };

  /// Adds a branch to the path. Samplers give one random number for one address, so a second choice with it
  /// would depend on the first.
  void add(Branch added) {
    for (std::size_t i = round_; i < path_.size() && added.ids.size() > 1; ++i) {
      if (path_[i].at(added.draw) && path_[i].ids.size() > 1) refuse_second_draw(added.draw);
    }
    path_.push_back(std::move(added));
  }

  template <class Fill>
  Token choose(Draw draw, const Fill& fill) {
    if (depth_ == path_.size()) {
      Branch added{draw};
      fill(added);
      add(std::move(added));
    }
    const Branch& branch = path_[depth_++];
    if (!branch.at(draw)) throw std::invalid_argument(unsteady);
    probability_ *= branch.probabilities[branch.taken];
    return branch.ids[branch.taken];
  }

  const DrawGuide<Real>* guide_ = nullptr;
  std::vector<Branch> path_;
  std::size_t depth_ = 0;
  std::size_t round_ = 0;  ///< depth at which the round began
  Real probability_{1};
};

/// Runs `program(random)`, one round, once per leaf and calls `visit(result, probability)`. The probabilities
/// sum to 1. Throws std::invalid_argument for a program that draws twice at one address or does not repeat
/// its draws.
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
