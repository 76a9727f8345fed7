// Any drafter, as one value: a closed set, held in a variant. What a hierarchy drafts with may be a
// hierarchy.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sim/drafters/aligned_copy.hpp"
#include "sim/drafters/heads.hpp"
#include "sim/drafters/hierarchical.hpp"
#include "sim/drafters/lookahead.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/drafters/model_drafter.hpp"
#include "sim/drafters/suffix_drafter.hpp"
#include "sim/models/model.hpp"

namespace speclab {

class Hierarchy;
struct HierarchyMemory;

/// Visited at every token: a row costs far more. A model that a drafter points to must outlive it.
class AnyDrafter {
 public:
  using Kind = std::variant<ModelDrafter<Model>, LookupDrafter, SuffixDrafter, LookaheadDrafter<Model>,
                            HeadsDrafter, AlignedCopy, std::shared_ptr<const Hierarchy>>;

  /// Of all kinds; the one in use fills its own.
  struct Memory {
    std::tuple<ModelDrafter<Model>::Memory, LookupDrafter::Memory, SuffixDrafter::Memory,
               LookaheadDrafter<Model>::Memory, HeadsDrafter::Memory, AlignedCopy::Memory>
        of;
    std::vector<HierarchyMemory> of_hierarchy;  ///< one, once it is used
  };

  template <class Drafter>
  requires(!std::same_as<Drafter, AnyDrafter> && std::constructible_from<Kind, Drafter>)
      // NOLINTNEXTLINE(google-explicit-constructor): a drafter of any kind is an AnyDrafter
      AnyDrafter(Drafter drafter)
      : kind_(std::move(drafter)) {}

  std::int32_t vocab() const;
  void read(Memory& memory, std::span<const Token> context) const;
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  std::int32_t runs(std::int32_t drafted) const;
  bool hierarchical() const { return std::holds_alternative<std::shared_ptr<const Hierarchy>>(kind_); }

  template <class Random>
  void extend(Memory& memory, std::vector<Token>& context, Random& random, RoundScratch<double>& scratch,
              Drafted& done) const;

 private:
  template <class Drafter>
  static const Drafter& held(const Drafter& drafter) {
    return drafter;
  }
  static const Hierarchy& held(const std::shared_ptr<const Hierarchy>& hierarchy) { return *hierarchy; }

  /// `use(drafter, memory)` for the kind at hand.
  template <class Use>
  decltype(auto) with(Memory& memory, const Use& use) const;

  Kind kind_;
};

class Hierarchy : public HierarchicalDrafter<Model, AnyDrafter> {
 public:
  using HierarchicalDrafter::HierarchicalDrafter;
};

struct HierarchyMemory : Hierarchy::Memory {};

template <class Use>
decltype(auto) AnyDrafter::with(Memory& memory, const Use& use) const {
  return std::visit(
      [&]<class Drafter>(const Drafter& drafter) -> decltype(auto) {
        if constexpr (std::same_as<Drafter, std::shared_ptr<const Hierarchy>>) {
          memory.of_hierarchy.resize(1);
          return use(*drafter, memory.of_hierarchy.front());
        } else {
          return use(drafter, std::get<typename Drafter::Memory>(memory.of));
        }
      },
      kind_);
}

inline std::int32_t AnyDrafter::vocab() const {
  return std::visit([](const auto& drafter) { return held(drafter).vocab(); }, kind_);
}

inline void AnyDrafter::read(Memory& memory, std::span<const Token> context) const {
  with(memory, [&](const auto& drafter, auto& its) { drafter.read(its, context); });
}

inline Row AnyDrafter::propose(Memory& memory, std::span<const Token> context, std::int32_t position,
                               std::vector<double>& storage) const {
  return with(memory, [&](const auto& drafter, auto& its) {
    return drafter.propose(its, context, position, storage);
  });
}

inline std::int32_t AnyDrafter::runs(std::int32_t drafted) const {
  return std::visit([&](const auto& drafter) { return held(drafter).runs(drafted); }, kind_);
}

template <class Random>
void AnyDrafter::extend(Memory& memory, std::vector<Token>& context, Random& random,
                        RoundScratch<double>& scratch, Drafted& done) const {
  with(memory,
       [&](const auto& drafter, auto& its) { draft_more(drafter, its, context, random, scratch, done); });
}

}  // namespace speclab
