#include "sim/models/table_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/distribution/divergence.hpp"
#include "sim/error.hpp"

namespace speclab {

std::int32_t table_order(std::size_t rows, std::size_t vocab) {
  std::size_t contexts = 1;
  for (std::int32_t order = 0; contexts <= rows; ++order, contexts *= vocab) {
    if (contexts == rows) return order;
    if (vocab == 1) break;
  }
  throw ModelError(fmt::format(
      "{} rows of {} probabilities; allowed are 1 row (i.i.d.), {} rows (one per last token), or a higher power of {}",
      rows, vocab, vocab, vocab));
}

TableModel::TableModel(std::int32_t vocab, std::int32_t order, std::vector<double> probabilities)
    : vocab_(vocab), order_(order), probabilities_(std::move(probabilities)) {
  assert(vocab > 0 && order >= 0 && probabilities_.size() % static_cast<std::size_t>(vocab) == 0);
  for (std::size_t context = 0; context < contexts(); ++context) {
    const std::span<double> stored(probabilities_.data() + context * static_cast<std::size_t>(vocab_),
                                   static_cast<std::size_t>(vocab_));
    for (std::size_t id = 0; id < stored.size(); ++id) {
      if (!(stored[id] >= 0) || !std::isfinite(stored[id])) {
        throw ModelError(fmt::format("row {}, token {}: probability {} is not a finite number >= 0", context,
                                     id, stored[id]));
      }
    }
    const double total = total_probability(row(context));
    if (!(total > 0) || !std::isfinite(total)) {
      throw ModelError(
          fmt::format("row {}: probabilities sum to {}, which cannot be normalised", context, total));
    }
    normalise(stored);
  }
}

TableModel adjusted(const TableModel& model, const Adjustment& how) {
  std::vector<double> probabilities;
  std::vector<double> one;
  std::vector<Token> order;
  for (std::size_t context = 0; context < model.contexts(); ++context) {
    const Row row = model.row(context);
    one.assign(row.probabilities, row.probabilities + row.size);
    adjust(one, how, order);
    probabilities.insert(probabilities.end(), one.begin(), one.end());
  }
  return {model.vocab(), model.order(), std::move(probabilities)};
}

namespace {

/// Mixes the rows of both models in the contexts of the longer one, with weight epsilon_of(base row, other
/// row) in each context.
template <class EpsilonOf>
TableModel mix(const TableModel& base, const TableModel& other, const EpsilonOf& epsilon_of) {
  assert(base.vocab() == other.vocab());
  const TableModel& longer = base.order() >= other.order() ? base : other;
  std::vector<double> probabilities;
  probabilities.reserve(longer.contexts() * static_cast<std::size_t>(longer.vocab()));
  for (std::size_t context = 0; context < longer.contexts(); ++context) {
    // The most recent token is the lowest digit, so the shorter model's context is the remainder.
    const Row a = base.row(context % base.contexts());
    const Row b = other.row(context % other.contexts());
    const double epsilon = epsilon_of(a, b);
    for (Token id = 0; id < longer.vocab(); ++id)
      probabilities.push_back((1 - epsilon) * a[id] + epsilon * b[id]);
  }
  return {longer.vocab(), longer.order(), std::move(probabilities)};
}

}  // namespace

TableModel mixed(const TableModel& base, const TableModel& other, double epsilon) {
  return mix(base, other, [epsilon](Row, Row) { return epsilon; });
}

TableModel mixed_to_alpha(const TableModel& base, const TableModel& other, double alpha) {
  double lowest = 0;
  auto result = mix(base, other, [&](Row a, Row b) {
    const double distance = total_variation(a, b);
    lowest = std::max(lowest, 1 - distance);
    return alpha >= 1 ? 0.0 : std::min(1.0, (1 - alpha) / distance);
  });
  if (alpha < lowest) {
    throw ModelError(fmt::format(
        "alpha = {} cannot be reached by mixing with this model: its own overlap with the target is {:.6g}; choose alpha >= {:.6g} or a more distant \"other\"",
        alpha, lowest, lowest));
  }
  return result;
}

}  // namespace speclab
