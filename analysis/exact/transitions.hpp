// Stores transition matrices between contexts, finds their closed classes, and computes the stationary
// distributions of small ones without iteration.
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

/// Converts a complete sparse matrix to dense storage if at least `dense_above` of its entries are present:
/// products then stream through memory without indices. Leaves a dense matrix unchanged.
void finish(Transitions& transitions, double dense_above);

/// Contexts that can all be reached from one another and are never left, ascending.
using ClosedClass = std::vector<std::int32_t>;

/// Returns the closed classes of the graph whose edges are the positive entries of all `graphs` (equal sizes,
/// asserted), ordered by their first context. There is at least one. Uses Tarjan 1972, without recursion.
std::vector<ClosedClass> closed_classes(std::span<const Transitions* const> graphs);

/// Above this number of states iteration is faster than direct_stationary, whose cost grows as the cube.
inline constexpr std::int32_t max_direct_states = 128;

/// Returns the long-run distribution of a chain with these dense, stochastic transitions from `start` (the
/// average over time if the chain is periodic). Uses the elimination of Grassmann, Taksar and Heyman (1985),
/// which only adds, multiplies and divides non-negative numbers: every probability has a relative error of
/// about states * 2^-52, even if the chain's parts hardly communicate.
std::vector<double> direct_stationary(Transitions transitions, std::vector<double> start);

}  // namespace speclab
