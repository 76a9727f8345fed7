#include "sim/models/model.hpp"

#include <algorithm>
#include <cassert>

namespace speclab {

namespace {
/// Copies a row into `scratch` unless it is there already.
std::span<double> own(Row row, std::vector<double>& scratch) {
  if (row.probabilities != scratch.data()) scratch.assign(row.probabilities, row.probabilities + row.size);
  return {scratch.data(), static_cast<std::size_t>(row.size)};
}
}  // namespace

Row MixtureModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const std::span<double> row = own(base.next(context, scratch), scratch);
  std::vector<double> other_scratch;
  const Row second = other.next(context, other_scratch);
  for (std::size_t id = 0; id < row.size(); ++id)
    row[id] = (1 - epsilon) * row[id] + epsilon * second.probabilities[id];
  return {row.data(), static_cast<std::int32_t>(row.size())};
}

Row AdjustedModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const std::span<double> row = own(base.next(context, scratch), scratch);
  std::vector<Token> order;
  adjust(row, how, order);
  return {row.data(), static_cast<std::int32_t>(row.size())};
}

std::optional<int> MixtureModel::memory() const {
  const std::optional<int> first = base.memory();
  const std::optional<int> second = other.memory();
  return first && second ? std::optional<int>(std::max(*first, *second)) : std::nullopt;
}

std::optional<std::size_t> MixtureModel::max_context() const {
  const std::optional<std::size_t> first = base.max_context();
  const std::optional<std::size_t> second = other.max_context();
  return first && second ? std::min(first, second) : std::max(first, second);
}

void MixtureModel::prepare(std::span<const Token> context, std::size_t first) const {
  base.prepare(context, first);
  other.prepare(context, first);
}

Model adjusted(Model model, const Adjustment& how) {
  if (how.identity()) return model;
  if (const TableModel* table = model.table()) return adjusted(*table, how);
  if (auto own = model.adjusted(how)) return *std::move(own);
  if (how.top_k == 0 && how.top_p < 1 && how.temperature > 0 && how.temperature != 1) {
    // Top-p needs full rows at the temperature.
    if (auto heated = model.adjusted({.temperature = how.temperature}))
      return AdjustedModel{*std::move(heated), {.top_p = how.top_p}};
  }
  return AdjustedModel{std::move(model), how};
}

Model mixed(Model base, Model other, double epsilon) {
  assert(base.vocab() == other.vocab());
  if (base.table() != nullptr && other.table() != nullptr)
    return mixed(*base.table(), *other.table(), epsilon);
  return MixtureModel{std::move(base), std::move(other), epsilon};
}

}  // namespace speclab
