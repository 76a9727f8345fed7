// A pair of stored tables with the sampling slots of all contexts (core/fast/sampling_slots.hpp), for
// core/fast/prepared_pair_step.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fast/prepared_pair_step.hpp"
#include "sim/any_rule.hpp"
#include "sim/fast/huge_pages.hpp"
#include "sim/models/table_model.hpp"

namespace speclab {

/// The models must outlive the table.
class PreparedPair {
 public:
  /// The rule must accept or replace tokens.
  PreparedPair(const TableModel& target, const TableModel& draft, const AnyRule& rule);

  /// Returns the memory that a pair needs, in bytes.
  static double bytes_for(const TableModel& target, const TableModel& draft);

  std::int32_t vocab() const { return target_->vocab(); }
  /// Returns the number of tokens in a context: the larger order of the two models.
  std::int32_t order() const { return order_; }
  std::size_t contexts() const { return overlap_.size(); }
  int bits() const { return bits_; }
  std::size_t bytes() const;

  /// Returns views that live as long as the table.
  PreparedPairView view() const;

  std::uint32_t context_of(std::span<const Token> tokens) const {
    return static_cast<std::uint32_t>(table_context(tokens, order_, vocab()));
  }
  Row target_row(std::size_t context) const { return target_->row(context % target_->contexts()); }
  Row draft_row(std::size_t context) const { return draft_->row(context % draft_->contexts()); }

 private:
  const TableModel* target_;
  const TableModel* draft_;
  std::int32_t order_;
  int bits_;
  BigTable<SamplingSlot> slots_;
  std::vector<std::uint64_t> overlap_;
};

}  // namespace speclab
