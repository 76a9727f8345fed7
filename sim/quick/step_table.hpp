// A pair of stored tables, prepared so that one step of a quick round reads one slot of 16 bytes: of the
// alias table of the row that is drawn from, with the coin of each token beside it. Residuals have tables of
// their own, so that a replacement needs no proposals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "speclab/core/alias.hpp"
#include "speclab/core/pointwise_rules.hpp"
#include "speclab/sim/parallel.hpp"
#include "speclab/sim/quick/coin_bits.hpp"
#include "speclab/sim/quick/huge_pages.hpp"
#include "speclab/sim/table_model.hpp"
#include "speclab/sim/tally.hpp"

namespace speclab {

/// The coins are those of the slot's own token and of the other one, as coin_bits; drafted tokens alone have
/// them.
struct StepSlot {
  std::uint32_t cut;
  std::uint32_t other;
  std::uint32_t coin;
  std::uint32_t other_coin;
};

/// The models must outlive the table.
class StepTable {
 public:
  template <PointwiseRule Rule>
  StepTable(const TableModel& target, const TableModel& draft, const Rule& rule);

  /// Memory that a pair needs, in bytes.
  static double bytes_for(const TableModel& target, const TableModel& draft);

  std::int32_t vocab() const { return target_->vocab(); }
  /// Tokens that a context consists of: the larger order of the two models.
  std::int32_t order() const { return order_; }
  std::size_t contexts() const { return overlap_.size(); }
  int bits() const { return bits_; }
  std::size_t bytes() const;

  /// 2^bits slots for each context, for all contexts of one part after the other's.
  enum Part : std::size_t { drafting, replacing, bonus };
  const StepSlot* slots() const { return slots_.data(); }
  /// The rule's acceptance rate in each context, in units of Tally::quantum.
  const std::uint64_t* overlap() const { return overlap_.data(); }

  std::uint32_t context_of(std::span<const Token> tokens) const {
    return static_cast<std::uint32_t>(table_context(tokens, order_, vocab()));
  }
  Row target_row(std::size_t context) const { return target_->row(context % target_->contexts()); }
  Row draft_row(std::size_t context) const { return draft_->row(context % draft_->contexts()); }

 private:
  StepTable(const TableModel& target, const TableModel& draft);

  static constexpr std::size_t parts = 3;

  /// One context's slots of one part: the alias table of `weights`, with coin(token), a probability, beside
  /// each token.
  template <class Coin>
  void fill(Part part, std::size_t context, std::span<const double> weights, std::span<AliasSlot> alias,
            AliasScratch& scratch, const Coin& coin) {
    build_alias(weights, alias, scratch);
    const auto upper = [&](std::uint32_t item) {
      return item < weights.size() ? coin_bits(coin(static_cast<Token>(item))) : 0;
    };
    StepSlot* const slots = &slots_[(part * contexts() + context) << bits_];
    for (std::uint32_t i = 0; i < alias.size(); ++i) {
      slots[i] = {alias[i].cut, alias[i].other, upper(i), upper(alias[i].other)};
    }
  }

  const TableModel* target_;
  const TableModel* draft_;
  std::int32_t order_;
  int bits_;
  BigTable<StepSlot> slots_;
  std::vector<std::uint64_t> overlap_;
};

template <PointwiseRule Rule>
StepTable::StepTable(const TableModel& target, const TableModel& draft, const Rule& rule)
    : StepTable(target, draft) {
  constexpr std::size_t chunk = 64;
  for_each_index((contexts() + chunk - 1) / chunk, [&](std::size_t index) {
    std::vector<AliasSlot> alias(std::size_t{1} << bits_);
    std::vector<double> residual(static_cast<std::size_t>(vocab()));
    AliasScratch scratch;
    const auto none = [](Token) { return 0.0; };
    for (std::size_t at = index * chunk; at < std::min(contexts(), (index + 1) * chunk); ++at) {
      const Row p = target_row(at);
      const Row q = draft_row(at);
      fill(drafting, at, {q.mass, residual.size()}, alias, scratch,
           [&](Token token) { return rule.kept(p[token], q[token]); });
      fill(bonus, at, {p.mass, residual.size()}, alias, scratch, none);
      const auto weights = rule.replacement(p, q);
      // Without mass the target stands in for it, as in `pick_or`.
      const bool some = total_mass(weights) > 0;
      for (Token token = 0; token < vocab(); ++token) {
        residual[static_cast<std::size_t>(token)] = some ? weights[token] : p[token];
      }
      fill(replacing, at, residual, alias, scratch, none);
      overlap_[at] = ContextSum::quanta_of(rule.acceptance_rate(p, q));
    }
  });
}

}  // namespace speclab
