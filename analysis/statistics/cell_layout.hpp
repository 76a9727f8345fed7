// Which classes of a test of fit have a cell of their own, and which share one or have none
// (goodness_of_fit.hpp says how rare classes are tested).
#pragma once

#include <span>
#include <vector>

namespace speclab {

/// Two values of each class, added up by cell; the pool is all classes that have no cell.
struct CellSums {
  std::vector<double> first;
  std::vector<double> second;
  double first_total = 0;  ///< over the cells
  double second_total = 0;
  double first_pool = 0;
  double second_pool = 0;
};

struct CellLayout {
  static constexpr int no_cell = -1;

  std::vector<int> cell_of;       ///< of each class, or `no_cell`
  std::vector<bool> rare;         ///< whether a class expects too little for a cell of its own
  std::vector<int> members = {};  ///< how many classes share each cell
  int rare_classes = 0;
  bool has_pool = false;  ///< whether rare classes have no cell, as all of them together expect too little

  int cells() const { return static_cast<int>(members.size()); }
  int degrees() const { return cells() > 0 ? cells() - 1 : 0; }
  /// Whether all rare classes together are tested by an exact tail: a single one is tested by its own, and
  /// all classes together are certain.
  bool tests_pool() const { return has_pool && rare_classes > 1 && cells() > 0; }
  /// By how much p-values are multiplied (Bonferroni): those of single rare classes, and that of the pool,
  /// which has half of the level.
  double single_factor() const { return rare_classes * (tests_pool() ? pool_factor : 1); }
  static constexpr double pool_factor = 2;

  /// Values of each class, as many as in `cell_of`.
  CellSums sums(std::span<const double> first, std::span<const double> second) const;
};

/// `expected` samples of each class, all above 0. Rare classes expect less than `minimum`; neighbours among
/// them form at most max_rare_groups groups that expect at least as much, which are cells.
CellLayout lay_out(std::span<const double> expected, double minimum);

}  // namespace speclab
