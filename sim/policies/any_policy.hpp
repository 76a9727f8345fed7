// Any gamma policy, as one value.
#pragma once

#include <concepts>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/policies/adaedl.hpp"
#include "sim/policies/bandit.hpp"
#include "sim/policies/confidence.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/policies/goodput.hpp"
#include "sim/policies/heuristic.hpp"
#include "sim/policies/oracle.hpp"
#include "sim/policies/specdec_pp.hpp"

namespace speclab {

/// Satisfies GammaPolicy. Visited at every question: a row costs far more.
class AnyPolicy {
 public:
  using Kind = std::variant<FixedPolicy, HeuristicPolicy, ConfidencePolicy, AdaEdlPolicy, SpecDecPpPolicy,
                            GoodputPolicy, BanditPolicy, OraclePolicy>;
  /// Of all kinds; the one in use fills its own.
  using Memory = std::tuple<Forgetful::Memory, HeuristicPolicy::Memory, SpecDecPpPolicy::Memory,
                            GoodputPolicy::Memory, BanditPolicy::Memory>;

  template <class Policy>
  requires(!std::same_as<Policy, AnyPolicy> && std::constructible_from<Kind, Policy>)
      // NOLINTNEXTLINE(google-explicit-constructor): a policy of any kind is an AnyPolicy
      AnyPolicy(Policy policy)
      : kind_(std::move(policy)) {}

  std::int32_t most() const {
    return std::visit([](const auto& policy) { return policy.most(); }, kind_);
  }
  template <class Real>
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<Real>& last) const {
    return std::visit(
        [&]<class Policy>(const Policy& policy) {
          return policy.goes_on(std::get<typename Policy::Memory>(memory), drafted, last);
        },
        kind_);
  }
  void learn(Memory& memory, const Round& round) const {
    std::visit([&]<class Policy>(
                   const Policy& policy) { policy.learn(std::get<typename Policy::Memory>(memory), round); },
               kind_);
  }
  /// Whether rounds are to be charged as the oracle would have played them.
  bool foresees() const { return std::holds_alternative<OraclePolicy>(kind_); }

 private:
  Kind kind_;
};

}  // namespace speclab
