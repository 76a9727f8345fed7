// A row with storage of its own, for rules whose weights are not a formula of two rows. Host only.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

/// A row that owns its masses.
template <class Real>
struct OwnedRow {
  using value_type = Real;
  std::vector<Real> mass;
  std::int32_t size;

  explicit OwnedRow(std::vector<Real> masses)
      : mass(std::move(masses)), size(static_cast<std::int32_t>(mass.size())) {}
  const Real& operator[](Token id) const { return mass[static_cast<std::size_t>(id)]; }
  BasicRow<Real> view() const { return {mass.data(), size}; }
};

/// A copy that may be changed.
template <class Real>
OwnedRow<Real> copy_of(BasicRow<Real> row) {
  return OwnedRow<Real>(std::vector<Real>(row.mass, row.mass + row.size));
}

/// Divides by the total. A row without mass, or with a NaN, stays as it is.
template <class Real>
void normalise(std::vector<Real>& row) {
  const Real total = total_mass(BasicRow<Real>{row.data(), static_cast<std::int32_t>(row.size())});
  if (!(total > Real(0))) return;
  for (Real& mass : row) mass /= total;
}

/// row <- norm((scale * row - draft)+), the residual that further drafts of `draft` are held against; a row
/// that would be left without mass stays as it is. Returns the residual's total before it is normalised.
template <class Real>
Real subtract_draft(std::vector<Real>& row, BasicRow<Real> draft, const Real& scale) {
  const auto size = static_cast<std::int32_t>(row.size());
  const ScaledResidual<Real> left{{row.data(), size}, draft, scale, size};
  Real total = total_mass(left);
  if (total <= Real(0)) return total;
  for (Token id = 0; id < size; ++id) row[static_cast<std::size_t>(id)] = left[id] / total;
  return total;
}

}  // namespace speclab
