#include "sim/models/request_model.hpp"

#include <algorithm>
#include <utility>

namespace speclab {

Row RequestModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  return filtered_row(base, law, prompt, context, scratch, scratches.local());
}

Row filtered_row(const Model& model, const RequestLaw& law, std::size_t prompt,
                 std::span<const Token> context, std::vector<double>& scratch, RequestScratch& memory) {
  const Row given = model.next(context, scratch);
  if (given.probabilities != scratch.data())
    scratch.assign(given.probabilities, given.probabilities + given.size);
  const std::size_t asked = std::min(prompt, context.size());
  filter_row(std::span(scratch).first(static_cast<std::size_t>(given.size)), law,
             {context.first(asked), context.subspan(asked)}, memory);
  return {scratch.data(), given.size};
}

Model requested(Model model, const RequestLaw& law, std::size_t prompt) {
  if (const std::optional<Adjustment> how = law.adjustment()) return adjusted(std::move(model), *how);
  const TableModel* table = model.table();
  if (table == nullptr || law.remembers()) return RequestModel{std::move(model), law, prompt};
  RequestScratch memory;
  std::vector<double> rows;
  for (std::size_t context = 0; context < table->contexts(); ++context) {
    const Row row = table->row(context);
    rows.insert(rows.end(), row.probabilities, row.probabilities + row.size);
    filter_row(std::span(rows).last(static_cast<std::size_t>(row.size)), law, {}, memory);
  }
  return TableModel(table->vocab(), table->order(), std::move(rows));
}

}  // namespace speclab
