// Steps of fast rounds over a pair of stored tables: core/fast/prepared_pair_step.hpp for interleaved
// sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fast/prepared_pair_step.hpp"
#include "sim/any_rule.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/prepared_pair.hpp"

namespace speclab {

/// `Order` is 0, 1, or 2 for all higher orders.
template <int Order>
class PreparedPairDecoder {
 public:
  struct Cursor {
    std::uint32_t context = 0;
    std::uint64_t overlap = 0;
    SlotChoice choice{};  ///< slots that the next step reads
  };

  static constexpr int prefetches = 1;
  static constexpr bool probes = false;
  static constexpr bool repeats = false;

  /// The rule must outlive it.
  PreparedPairDecoder(const PreparedPair& table, const AnyRule& rule)
      : table_(&table), tables_(table.view()), rule_(rule.operator->()) {}

  Cursor start(const std::vector<Token>& prompt) const { return {table_->context_of(prompt)}; }

  template <int>
  void prefetch(Cursor& cursor, const RoundState& state, std::uint64_t selector) const {
    cursor.choice = choose_slot(tables_, state, cursor.context, selector);
    __builtin_prefetch(cursor.choice.slot);
  }

  StepOutcome step(Cursor& cursor, const Step& step, FastWork& work) const {
    ++work.reads;
    const auto [token, emitted] = take_step(tables_, *rule_, step.state, cursor.context, cursor.choice,
                                            *cursor.choice.slot, step.acceptance_word);
    cursor.overlap += tables_.overlap[cursor.context] & (std::uint64_t{0} - emitted);
    cursor.context = select(emitted, next_context<Order>(tables_, cursor.context, token), cursor.context);
    return static_cast<StepOutcome>(emitted);
  }

 private:
  const PreparedPair* table_;
  PreparedPairView tables_;
  const RuleProgram* rule_;
};

}  // namespace speclab
