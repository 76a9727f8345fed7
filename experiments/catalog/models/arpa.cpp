#include <fmt/format.h>

#include <filesystem>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/error.hpp"
#include "sim/models/arpa.hpp"

namespace speclab {

namespace {

struct ArpaParameters {
  std::string file;
  int order = max_ngram_order;
  double row_error = usual_arpa_row_error;
};

BuiltModel make_arpa(const ArpaParameters& parameters, const std::string& path, const ModelRequest& request) {
  try {
    const auto read = request.factory.shared(
        [](const std::string& file, int order, double row_error, const SharedPlace&) {
          return read_arpa(file, RowSums::renormalised, order, row_error);
        },
        path, parameters.file, parameters.order, parameters.row_error);
    return {Model(std::shared_ptr<const NgramModel>(read, &read->model)),
            std::shared_ptr<const Vocabulary>(read, &read->vocabulary)};
  } catch (const ModelError& error) {
    const bool from_setup = parameters.file == "data/en-us.arpa" && !std::filesystem::exists(parameters.file);
    throw ConfigError(
        path + "/file",
        fmt::format("{}{}", error.what(),
                    from_setup ? "; scripts/setup.sh pocketsphinx makes it from a Debian package" : ""));
  }
}

}  // namespace

ModelKind arpa_model() {
  return kind_entry<ModelKind, ArpaParameters>(
      "arpa", "An n-gram model read from an ARPA file (KenLM, SRILM, or speclab's own).",
      {required(field("file", &ArpaParameters::file, input_file(), "Path of the file.")),
       with_unit(integer_field("order", &ArpaParameters::order, 1, max_ngram_order,
                               "Longer n-grams than this are left out."),
                 "tokens"),
       field("row_error", &ArpaParameters::row_error, number(0, 1e6),
             "Rows are renormalised; a file with a row whose sum is further from 1 is refused as damaged.")},
      make_arpa);
}

}  // namespace speclab
