#include "sim/models/model.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace speclab {

namespace {
template <class T>
const T& direct(const T& model) {
  return model;
}
template <class T>
const T& direct(const std::shared_ptr<const T>& model) {
  return *model;
}

/// Copies a row into `scratch` unless it lives there already.
std::span<double> own(Row row, std::vector<double>& scratch) {
  if (row.probabilities != scratch.data()) scratch.assign(row.probabilities, row.probabilities + row.size);
  return {scratch.data(), static_cast<std::size_t>(row.size)};
}
}  // namespace

std::int32_t MixtureModel::vocab() const { return base->vocab(); }

Row MixtureModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const std::span<double> row = own(base->next(context, scratch), scratch);
  std::vector<double> other_scratch;
  const Row second = other->next(context, other_scratch);
  for (std::size_t id = 0; id < row.size(); ++id)
    row[id] = (1 - epsilon) * row[id] + epsilon * second.probabilities[id];
  return {row.data(), static_cast<std::int32_t>(row.size())};
}

std::int32_t AdjustedModel::vocab() const { return base->vocab(); }

Row AdjustedModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const std::span<double> row = own(base->next(context, scratch), scratch);
  std::vector<Token> order;
  adjust(row, how, order);
  return {row.data(), static_cast<std::int32_t>(row.size())};
}

std::int32_t Model::vocab() const {
  return std::visit([](const auto& model) { return direct(model).vocab(); }, kind_);
}

Row Model::next(std::span<const Token> context, std::vector<double>& scratch) const {
  return std::visit([&](const auto& model) -> Row { return direct(model).next(context, scratch); }, kind_);
}

std::optional<int> Model::memory() const {
  struct Reader {
    std::optional<int> operator()(const TableModel& model) const { return model.order(); }
    std::optional<int> operator()(const std::shared_ptr<const NgramModel>& model) const {
      return model->order() - 1;
    }
    std::optional<int> operator()(const CopyDrafter&) const { return std::nullopt; }
    std::optional<int> operator()(const CachedModel& model) const { return model.memory(); }
    std::optional<int> operator()(const std::shared_ptr<const TranslationModel>&) const {
      return std::nullopt;
    }
    std::optional<int> operator()(const AdjustedModel& model) const { return model.base->memory(); }
    std::optional<int> operator()(const MixtureModel& model) const {
      const std::optional<int> base = model.base->memory();
      const std::optional<int> other = model.other->memory();
      return base && other ? std::optional<int>(std::max(*base, *other)) : std::nullopt;
    }
  };
  return std::visit(Reader{}, kind_);
}

Model adjusted(Model model, const Adjustment& how) {
  if (how.identity()) return model;
  if (const TableModel* table = model.table()) return Model(adjusted(*table, how));
  return Model(AdjustedModel{std::make_shared<const Model>(std::move(model)), how});
}

Model mixed(Model base, Model other, double epsilon) {
  assert(base.vocab() == other.vocab());
  if (base.table() != nullptr && other.table() != nullptr) {
    return Model(mixed(*base.table(), *other.table(), epsilon));
  }
  return Model(MixtureModel{std::make_shared<const Model>(std::move(base)),
                            std::make_shared<const Model>(std::move(other)), epsilon});
}

}  // namespace speclab
