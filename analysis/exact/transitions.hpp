// Non-negative weights from each context to each context, and which sets of contexts they never leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace speclab {

/// A square matrix, row by row. Sparse: entry k of row x, first[x] <= k < first[x + 1], has column[k] and
/// probabilities[k]; a column may occur more than once. Dense: probabilities[x * contexts + y], `first` and
/// `column` are empty.
struct Transitions {
  std::int32_t contexts = 0;
  std::vector<std::int32_t> first{0};
  std::vector<std::int32_t> column;
  std::vector<double> probabilities;
  bool dense = false;

  std::size_t row_begin(std::int32_t x) const {
    const auto row = static_cast<std::size_t>(x);
    return dense ? row * static_cast<std::size_t>(contexts) : static_cast<std::size_t>(first[row]);
  }
  std::size_t row_end(std::int32_t x) const {
    const auto row = static_cast<std::size_t>(x) + 1;
    return dense ? row * static_cast<std::size_t>(contexts) : static_cast<std::size_t>(first[row]);
  }
  std::int32_t column_at(std::int32_t x, std::size_t k) const {
    return dense ? static_cast<std::int32_t>(k - row_begin(x)) : column[k];
  }
};

/// Ends a sparse matrix that has its rows, and stores it densely when at least `dense_above` of its entries
/// are there: products then stream through memory without indices. Leaves a
/// dense matrix alone.
void finish(Transitions& transitions, double dense_above);

/// Contexts that can all be reached from one another and are never left, ascending.
using ClosedClass = std::vector<std::int32_t>;

/// The closed classes of the graph whose edges are the positive entries of all `graphs` (equal sizes,
/// asserted), ordered by their first context. There is at least one. Tarjan 1972, without recursion.
std::vector<ClosedClass> closed_classes(std::span<const Transitions* const> graphs);

}  // namespace speclab
