// A model that stores all its rows: one for each context of the last `order` tokens. Order 0 is the i.i.d.
// model of the closed forms, order 1 a Markov chain. Fast paths for context-free models depend on `order() ==
// 0`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/distribution/transforms.hpp"

namespace speclab {

/// Returns the order n for which `rows` = vocab^n rows are stored. For any other number of rows throws
/// ModelError, which says what is allowed.
std::int32_t table_order(std::size_t rows, std::size_t vocab);

/// Returns the number of a context: its last `order` tokens in base `vocab`, with the most recent as the
/// lowest digit. Contexts shorter than the order are padded on the left with token 0.
inline std::size_t table_context(std::span<const Token> tokens, std::int32_t order, std::int32_t vocab) {
  const auto known = static_cast<std::size_t>(order);
  std::size_t index = 0;
  for (const Token token : tokens.size() > known ? tokens.last(known) : tokens)
    index = index * static_cast<std::size_t>(vocab) + static_cast<std::size_t>(token);
  return index;
}

class TableModel {
 public:
  /// `probabilities` holds vocab^order rows of `vocab` probabilities each; contexts are counted in base
  /// `vocab` with the most recent token as the lowest digit. Rows must be non-negative with a positive total;
  /// the constructor normalises them. Throws ModelError, naming the row, if a probability is negative or not
  /// finite, or a row sums to 0.
  TableModel(std::int32_t vocab, std::int32_t order, std::vector<double> probabilities);

  std::int32_t vocab() const { return vocab_; }
  std::int32_t order() const { return order_; }
  /// Returns the number of tokens at the end of a context on which its rows depend.
  int memory() const { return order_; }
  std::size_t contexts() const { return probabilities_.size() / static_cast<std::size_t>(vocab_); }

  Row row(std::size_t context) const {
    return {probabilities_.data() + context * static_cast<std::size_t>(vocab_), vocab_};
  }

  Row next(std::span<const Token> context, std::vector<double>&) const {
    return row(table_context(context, order_, vocab_));
  }

 private:
  std::int32_t vocab_;
  std::int32_t order_;
  std::vector<double> probabilities_;
};

/// Returns the model with every row adjusted once (temperature, top-k, top-p, argmax).
TableModel adjusted(const TableModel& model, const Adjustment& how);

/// Returns (1 - epsilon) * base + epsilon * other, context by context; the order is the larger of the two.
TableModel mixed(const TableModel& base, const TableModel& other, double epsilon);

/// Returns the mixture of `base` and `other` whose overlap with `base` is exactly `alpha` in every context:
/// since TV(base, mixture) = epsilon * TV(base, other), each row takes epsilon = (1 - alpha) / TV(base,
/// other). Throws ModelError, stating the lowest reachable alpha, if some row would need epsilon > 1.
TableModel mixed_to_alpha(const TableModel& base, const TableModel& other, double alpha);

}  // namespace speclab
