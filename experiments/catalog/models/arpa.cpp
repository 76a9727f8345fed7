#include <filesystem>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/error.hpp"
#include "sim/models/arpa.hpp"

namespace speclab {

ModelKind arpa_model() {
  struct P {
    std::string file;
    int order = max_ngram_order;
    double row_error = usual_arpa_row_error;
  };
  return kind_entry<ModelKind, P>(
      "arpa", "An n-gram model read from an ARPA file (KenLM, SRILM, or speclab's own).",
      {required(field("file", &P::file, input_file(), "Path of the file.")),
       with_unit(
           integer_field("order", &P::order, 1, max_ngram_order, "Longer n-grams than this are left out."),
           "tokens"),
       field("row_error", &P::row_error, number(0, 1e6),
             "Rows are renormalised; a file with a row whose sum is further from 1 is refused as damaged.")},
      [](const P& own, const std::string& path, const ModelRequest& request) -> BuiltModel {
        try {
          const auto read = request.factory.shared(
              [](const std::string& file, int order, double row_error, const SharedPlace&) {
                return read_arpa(file, RowSums::renormalised, order, row_error);
              },
              path, own.file, own.order, own.row_error);
          return {Model(std::shared_ptr<const NgramModel>(read, &read->model)),
                  std::shared_ptr<const Vocabulary>(read, &read->vocabulary)};
        } catch (const ModelError& error) {
          const bool from_setup = own.file == "data/en-us.arpa" && !std::filesystem::exists(own.file);
          const char* const remedy =
              from_setup ? "; scripts/setup.sh pocketsphinx makes it from a Debian package" : "";
          throw ConfigError(path + "/file", std::string(error.what()) + remedy);
        }
      });
}

}  // namespace speclab
