// Rows with their own storage, for rules whose weights cannot be computed from two rows on access. Host only.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

template <class Real>
struct OwnedRow {
  using value_type = Real;
  std::vector<Real> probabilities;
  std::int32_t size;

  explicit OwnedRow(std::vector<Real> row)
      : probabilities(std::move(row)), size(static_cast<std::int32_t>(probabilities.size())) {}
  const Real& operator[](Token id) const { return probabilities[static_cast<std::size_t>(id)]; }
  BasicRow<Real> view() const { return {probabilities.data(), size}; }
};

/// Returns a copy that may be changed.
template <class Real>
OwnedRow<Real> copy_of(BasicRow<Real> row) {
  return OwnedRow<Real>(std::vector<Real>(row.probabilities, row.probabilities + row.size));
}

/// Divides `row` by its total. A row that sums to 0, or holds a NaN, stays as it is.
template <class Real>
void normalise(std::vector<Real>& row) {
  const Real total = total_probability(BasicRow<Real>{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > Real(0))) return;
  for (Real& probability : row) probability /= total;
}

/// Replaces `row` by norm((scale * row - draft)+), the residual with which the next token drafted from
/// `draft` is compared. A row whose residual sums to 0 stays as it is. Returns the residual's sum before
/// normalisation.
template <class Real>
Real subtract_draft(std::vector<Real>& row, BasicRow<Real> draft, const Real& scale) {
  const auto size = static_cast<std::int32_t>(row.size());
  const ScaledResidual<Real> left{{row.data(), size}, draft, scale, size};
  Real total = total_probability(left);
  if (total <= Real(0)) return total;
  for (Token id = 0; id < size; ++id) row[static_cast<std::size_t>(id)] = left[id] / total;
  return total;
}

}  // namespace speclab
