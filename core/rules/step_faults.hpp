// Planted faults that differ from token verification (core/rules/token.hpp) in one step of the round: how a
// token is accepted, from which row, how a rejected one is replaced, or where the bonus comes from. Not for
// decoding.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/round/verify.hpp"

namespace speclab {

/// Sources: drawn_ratio is what OpenVINO GenAI 2026.4.1 does, filtered_bonus vllm-project/vllm#42802.
enum class WrongStep : std::uint8_t {
  inverted_ratio,  ///< accepts with min(1, q/p), hence always where p = 0
  threshold,       ///< accepts iff p >= q
  second_chance,   ///< accepts with min(1, p/q), or else if a token drawn from the target is the same
  drawn_ratio,  ///< accepts iff r <= q(x)/p(y), y drawn from the target, r of 0, 1/100, ..., 1; as next_row
  repeated_uniform,   ///< compares all ratios of a round with one uniform number, because seeds are shared
  argmax_verifier,    ///< verifies at temperature 0, but draws the bonus at the requested one
  late_context,       ///< reads all target rows one position late
  next_context,       ///< verifies and replaces a token by the target's row after that token
  next_row,           ///< replaces by a token of the target's row after the rejected token
  counted,            ///< examines tokens after a rejection, too, and keeps as many as were accepted
  argmax_residual,    ///< replaces by the residual's argmax
  absolute_residual,  ///< replaces by a token of norm(|p - q|)
  softmax_residual,   ///< replaces by a token of softmax(p - q)
  other_token,        ///< replaces by a token of the target other than the rejected one
  stale_bonus,        ///< draws the bonus from the target's row before the last drafted token
  residual_bonus,     ///< draws the bonus from norm((p - q)+) of the bonus position and the draft's last row
  draft_bonus,        ///< draws the bonus from the draft's last row
  filtered_bonus,     ///< filters only the bonus, by min-p with half the largest probability
  argmax_bonus,       ///< the bonus is the target's argmax
  unwritten_bonus     ///< the bonus is never written, so its place in a buffer of zeros becomes token 0
};

struct StepFault {
  WrongStep step;

  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    const Real p = target[token];
    const Real q = draft[token];
    if (step == WrongStep::inverted_ratio) return p == Real(0) ? Real(1) : acceptance_ratio(q, p, Real(1));
    if (step == WrongStep::threshold) return Real(p >= q ? 1 : 0);
    if (step == WrongStep::argmax_verifier) return Real(token == argmax(target) ? 1 : 0);
    if (step == WrongStep::drawn_ratio) {
      return sum_terms<Real>(0, target.size, [&](Token drawn) {
        const Real& by = target[drawn];
        if (!(by > Real(0)) || q >= by) return by;
        return Real(by * Real(static_cast<std::int64_t>(Real(Real(q / by) * Real(100))) + 1) / Real(101));
      });
    }
    const Real ratio = acceptance_ratio(p, q, Real(1));
    return step == WrongStep::second_chance ? Real(ratio + (Real(1) - ratio) * p) : ratio;
  }
  /// Returns the weights of the token that replaces a rejected one.
  template <class Real>
  OwnedRow<Real> replacement(Token rejected, BasicRow<Real> target, BasicRow<Real> draft) const {
    if (step == WrongStep::argmax_verifier) return only(argmax(target), target);
    OwnedRow<Real> row = copy_of(target);
    for (Token id = 0; id < target.size; ++id) {
      Real& weight = row.probabilities[static_cast<std::size_t>(id)];
      const Real left = target[id] - draft[id];
      if (step == WrongStep::other_token) {
        if (id == rejected) weight = Real(0);
      } else if (step == WrongStep::softmax_residual) {
        weight = Real(std::exp(static_cast<double>(left)));
      } else if (left > Real(0)) {
        weight = left;
      } else {
        weight = step == WrongStep::absolute_residual ? Real(-left) : Real(0);
      }
    }
    return step == WrongStep::argmax_residual ? only(argmax(row.view()), target) : row;
  }
  /// Returns the weights of the bonus at position `gamma`.
  template <class Targets, class Drafts>
  auto bonus(const Targets& targets, const Drafts& drafts, std::int32_t gamma) const {
    const auto target = targets(gamma);
    if (step == WrongStep::argmax_bonus) return only(argmax(target), target);
    if (step == WrongStep::unwritten_bonus) return only(Token{0}, target);
    if (gamma > 0 && step == WrongStep::draft_bonus) return copy_of(drafts(gamma - 1));
    if (gamma > 0 && step == WrongStep::residual_bonus)
      return replacement(no_token, target, drafts(gamma - 1));
    const bool stale = step == WrongStep::stale_bonus || step == WrongStep::late_context;
    auto row = copy_of(stale && gamma > 0 ? targets(gamma - 1) : target);
    if (const Token best = argmax(target); best >= 0 && step == WrongStep::filtered_bonus) {
      for (auto& weight : row.probabilities) weight = weight + weight < target[best] ? 0 : weight;
    }
    return row;
  }

 private:
  template <class Real>
  static OwnedRow<Real> only(Token token, BasicRow<Real> like) {
    OwnedRow<Real> row(std::vector<Real>(static_cast<std::size_t>(like.size), Real(0)));
    if (token >= 0) row.probabilities[static_cast<std::size_t>(token)] = Real(1);
    return row;
  }
};

template <class Targets, class Drafts, class Random>
Verdict verify(const StepFault& fault, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  const auto row_of = [&](std::int32_t i) {
    if (fault.step == WrongStep::late_context) return targets(i > 0 ? i - 1 : 0);
    return targets(fault.step == WrongStep::next_context ? i + 1 : i);
  };
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  Real below(1);  // given the accepted tokens, a uniform number of the whole round is uniform below this
  std::int32_t accepted = 0;
  for (std::int32_t i = 0; i < gamma; ++i) {
    const Draw draw{Use::accept, static_cast<std::uint16_t>(i)};
    const Real ratio = fault.acceptance(drafted[i], row_of(i), drafts(i));
    if (random.bernoulli(draw, acceptance_ratio(ratio, below, Real(1)))) {
      ++accepted;
      if (fault.step == WrongStep::repeated_uniform && ratio < below) below = ratio;
    } else if (fault.step != WrongStep::counted) {
      break;
    }
  }
  const auto slot = static_cast<std::uint16_t>(accepted);
  if (accepted == gamma) {
    return {
        gamma, gamma,
        categorical_or(random, Draw{Use::bonus, slot}, fault.bonus(targets, drafts, gamma), targets(gamma))};
  }
  const Draw draw{Use::replace, slot};
  if (fault.step == WrongStep::next_row || fault.step == WrongStep::drawn_ratio)
    return {accepted, accepted + 1, random.categorical(draw, targets(accepted + 1))};
  const auto target = row_of(accepted);
  const auto instead = fault.replacement(drafted[accepted], target, drafts(accepted));
  return {accepted, accepted + 1, categorical_or(random, draw, instead, target)};
}

}  // namespace speclab
