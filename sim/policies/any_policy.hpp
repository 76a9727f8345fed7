// Holds any gamma policy as one value.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "core/polymorphic.hpp"
#include "sim/any_memory.hpp"
#include "sim/policies/policy.hpp"

namespace speclab {

/// A policy of any type; satisfies GammaPolicy.
class AnyPolicy {
 public:
  using Memory = AnyMemory;

  template <class Policy>
  requires(!std::same_as<Policy, AnyPolicy> && GammaPolicy<Policy>)
      // NOLINTNEXTLINE(google-explicit-constructor): a policy of any type is an AnyPolicy
      AnyPolicy(Policy policy)
      : held_(std::make_shared<const Held<Policy>>(std::move(policy))) {}

  std::int32_t most() const { return held_->most(); }
  bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<double>& last) const {
    return held_->goes_on(memory, drafted, last);
  }
  void learn(Memory& memory, const Round& round) const { held_->learn(memory, round); }
  bool foresees() const { return held_->foresees(); }

 private:
  struct Base : Polymorphic {
    virtual std::int32_t most() const = 0;
    virtual bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<double>& last) const = 0;
    virtual void learn(Memory& memory, const Round& round) const = 0;
    virtual bool foresees() const = 0;
  };

  template <class Policy>
  struct Held final : Base {
    using Own = typename Policy::Memory;

    explicit Held(Policy made) : policy(std::move(made)) {}

    std::int32_t most() const override { return policy.most(); }
    bool goes_on(Memory& memory, std::int32_t drafted, const LastDrafted<double>& last) const override {
      return policy.goes_on(memory.as<Own>(), drafted, last);
    }
    void learn(Memory& memory, const Round& round) const override { policy.learn(memory.as<Own>(), round); }
    bool foresees() const override { return speclab::foresees(policy); }

    Policy policy;
  };

  std::shared_ptr<const Base> held_;
};

}  // namespace speclab
