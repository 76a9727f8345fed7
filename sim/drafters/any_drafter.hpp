// Holds any drafter as one value. A hierarchy's drafter may itself be a hierarchy.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/polymorphic.hpp"
#include "core/random/random_source.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/any_memory.hpp"
#include "sim/drafters/drafter.hpp"
#include "sim/drafters/nested_random_source.hpp"

namespace speclab {

/// A drafter of any type; satisfies RowDrafter and ExtendingDrafter. It costs one virtual call per token, far
/// less than a row. Objects that a drafter points to must outlive it.
class AnyDrafter {
 public:
  using Memory = AnyMemory;

  template <class Drafter>
  requires(!std::same_as<Drafter, AnyDrafter> && RowDrafter<Drafter>)
      // NOLINTNEXTLINE(google-explicit-constructor): a drafter of any type is an AnyDrafter
      AnyDrafter(Drafter drafter)
      : held_(std::make_shared<const Held<Drafter>>(std::move(drafter))) {}

  void read(Memory& memory, std::span<const Token> context) const { held_->read(memory, context); }
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const {
    return held_->propose(memory, context, position, storage);
  }
  std::int32_t runs(std::int32_t drafted) const { return held_->runs(drafted); }
  /// Returns whether `runs` knows the runs of a round; those of hierarchies are known only afterwards.
  bool foretells_runs() const { return runs(1) == largest(1).runs; }
  /// Returns the largest counts of a round whose policy drafts no further token after `most`.
  Drafted largest(std::int32_t most) const { return held_->largest(most); }

  /// Extends the context, with the simulator's random source or that of a round within a round.
  template <class Random>
  void extend(Memory& memory, std::vector<Token>& context, Random& random, RoundScratch<double>& scratch,
              Drafted& done) const {
    held_->extend(memory, context, random, scratch, done);
  }

 private:
  using Outer = SampledRandomSource;
  using Inner = NestedRandomSource<SampledRandomSource>;

  struct Base : Polymorphic {
    virtual void read(Memory& memory, std::span<const Token> context) const = 0;
    virtual Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                        std::vector<double>& storage) const = 0;
    virtual std::int32_t runs(std::int32_t drafted) const = 0;
    virtual Drafted largest(std::int32_t most) const = 0;
    virtual void extend(Memory& memory, std::vector<Token>& context, Outer& random,
                        RoundScratch<double>& scratch, Drafted& done) const = 0;
    virtual void extend(Memory& memory, std::vector<Token>& context, Inner& random,
                        RoundScratch<double>& scratch, Drafted& done) const = 0;
  };

  template <class Drafter>
  struct Held final : Base {
    using Own = typename Drafter::Memory;

    explicit Held(Drafter made) : drafter(std::move(made)) {}

    void read(Memory& memory, std::span<const Token> context) const override {
      drafter.read(memory.as<Own>(), context);
    }
    Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                std::vector<double>& storage) const override {
      return drafter.propose(memory.as<Own>(), context, position, storage);
    }
    std::int32_t runs(std::int32_t drafted) const override { return drafter.runs(drafted); }
    Drafted largest(std::int32_t most) const override {
      if constexpr (requires { drafter.largest(most); }) {
        return drafter.largest(most);
      } else {
        static_assert(!ExtendingDrafter<Drafter, double, Outer>,
                      "such a drafter needs the function `largest`");
        return {most, drafter.runs(most)};
      }
    }
    void extend(Memory& memory, std::vector<Token>& context, Outer& random, RoundScratch<double>& scratch,
                Drafted& done) const override {
      draft_more(drafter, memory.as<Own>(), context, random, scratch, done);
    }
    void extend(Memory& memory, std::vector<Token>& context, Inner& random, RoundScratch<double>& scratch,
                Drafted& done) const override {
      draft_more(drafter, memory.as<Own>(), context, random, scratch, done);
    }

    Drafter drafter;
  };

  std::shared_ptr<const Base> held_;
};

}  // namespace speclab
