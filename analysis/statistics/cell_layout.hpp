// Decides which classes of a test of fit get their own cell, share one, or get none (goodness_of_fit.hpp
// explains how rare classes are tested).
#pragma once

#include <span>
#include <vector>

namespace speclab {

/// Two values of each class, summed by cell; the "pool" is all classes without a cell.
struct CellSums {
  std::vector<double> first;
  std::vector<double> second;
  double first_total = 0;  ///< sum over the cells
  double second_total = 0;
  double first_pool = 0;
  double second_pool = 0;
};

struct CellLayout {
  static constexpr int no_cell = -1;

  std::vector<int> cell_of;       ///< cell of each class, or `no_cell`
  std::vector<bool> rare;         ///< whether a class expects too little for its own cell
  std::vector<int> members = {};  ///< number of classes in each cell
  int rare_classes = 0;
  bool has_pool = false;  ///< rare classes have no cell, because together they expect too little

  int cells() const { return static_cast<int>(members.size()); }
  int degrees() const { return cells() > 0 ? cells() - 1 : 0; }
  /// Returns whether the pool is tested by an exact tail, as one class; not if it is a single class, or all
  /// of them.
  bool tests_pool() const { return has_pool && rare_classes > 1 && cells() > 0; }
  /// Returns the Bonferroni factor of p-values of single rare classes. The pool's p-value has pool_factor,
  /// which gives it half of the level.
  double single_factor() const { return rare_classes * (tests_pool() ? pool_factor : 1); }
  static constexpr double pool_factor = 2;

  /// Sums values of each class by cell; both spans have the length of `cell_of`.
  CellSums sums(std::span<const double> first, std::span<const double> second) const;
};

/// Assigns cells, given each class's `expected` number of samples, above 0. Rare classes expect less than
/// `minimum`; adjacent rare classes form at most max_rare_groups groups that expect at least `minimum`, and
/// each group is a cell.
CellLayout lay_out(std::span<const double> expected, double minimum);

}  // namespace speclab
