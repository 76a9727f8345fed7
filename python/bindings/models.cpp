// Binds models as handles: tables of rows, and functions.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "analysis/exact/context_rows.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/python_model.hpp"
#include "sim/models/model.hpp"

namespace speclab::python {

namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Model table(const Rows& rows) {
  const auto vocab = static_cast<std::int32_t>(rows.shape(1));
  std::vector<double> probabilities(rows.data(), rows.data() + rows.size());
  const std::int32_t order = table_order(rows.shape(0), rows.shape(1));
  return TableModel(vocab, order, std::move(probabilities));
}

/// A model that reads a Python function or another model, which may do so.
struct FunctionModel : Model {
  FunctionModel(Model model, const HeldObject& read) : Model(std::move(model)), functions{read} {}

  std::vector<HeldObject> functions;
};

FunctionModel model_of_function(nb::object function, std::int32_t vocab) {
  const HeldObject held(std::move(function));
  return {PythonModel<double>(held, vocab), held};
}

/// Wraps a model so that its rows depend on the last token.
class LastTokenModel {
 public:
  explicit LastTokenModel(Model model) : model_(std::move(model)) {}
  std::int32_t vocab() const { return model_.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    const Row row = model_.next(context, scratch);
    if (context.empty() || context.back() == 0) return row;
    scratch = row_after(row, context.back());
    return {scratch.data(), row.size};
  }

 private:
  Model model_;
};

FunctionModel made_by_context(nb::handle_t<Model> model) {
  return {LastTokenModel(nb::cast<const Model&>(model)), HeldObject(nb::borrow(model))};
}

/// Returns a model of the catalogue, described as in a config; `target` is a Model or None.
FunctionModel of_config(const std::string& text, nb::object target) {
  const Typed<ModelConfig> type = kind_of(model_family());
  const auto config = read(type, parse_json(text), "");
  ModelFactory factory;
  const ModelRequest request{factory, nullptr, "/corpus", nb::cast<const Model*>(target), std::nullopt};
  return {factory.model(config, request, RequestLaw{}).model, HeldObject(target)};
}

nb::object row(const Model& model, const std::vector<Token>& context) {
  std::vector<double> scratch;
  return python_row(model.next(context, scratch));
}

}  // namespace

void bind_models(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_prop_ro("vocab", &Model::vocab)
      .def_prop_ro("memory", &Model::memory)
      .def("row", &row, nb::arg("context"));
  nb::class_<FunctionModel, Model>(module, "FunctionModel", nb::type_slots(collected_slots<FunctionModel>));
  module.def("table_model", &table, nb::arg("rows"));
  module.def("function_model", &model_of_function, nb::arg("function"), nb::arg("vocab"));
  module.def("made_by_context", &made_by_context, nb::arg("model"));
  module.def("config_model", &of_config, nb::arg("text"), nb::arg("target").none());
}

}  // namespace speclab::python
