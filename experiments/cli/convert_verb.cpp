#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/model_file.hpp"

namespace speclab {

namespace {

/// Returns true if a .json file is a config, and false if it is a table, which is a list.
bool is_config(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".json") return false;
  return in_file(file, [&] { return parse_json(read_text(file)); }).is_object();
}

int convert_main(const Values& values) {
  const auto file = values.text("model");
  const ThreadLimit limit(thread_option(values));
  const std::filesystem::path out = values.text("out");
  if (std::filesystem::exists(out) && !values.has("force")) {
    throw UsageError("{} exists; give another --out, or --force to overwrite", out.string());
  }
  if (out.extension() != ".arpa") table_text(out);  // throws for other extensions
  const bool draft = values.has("draft");
  ModelFactory factory;
  const BuiltModel built = in_file(file, [&] {
    if (is_config(file)) return model_of_config(*load_config(file, values), draft, factory);
    if (draft) throw UsageError("--draft goes with a config");
    return model_from_file(file, factory);
  });
  write_model(built, out);
  fmt::print("{}: {} tokens, {}\n", out.string(), built.model.vocab(),
             built.model.memory() ? fmt::format("contexts of {}", *built.model.memory()) : "whole contexts");
  return exit_ok;
}

}  // namespace

Verb convert_verb() {
  Verb verb{
      .name = "convert",
      .sentence = "write a model as an ARPA file or as a table",
      .line = "speclab convert MODEL --out FILE [--draft]",
      .about =
          R"(Writes a model in another format. MODEL is an ARPA file, a table (.csv: one row per line; .json: a list of
rows; .npy or .npz: an array [contexts, V]), or a config, whose target (with --draft the draft) is written.
For example, an n-gram model that a config trains on a text becomes an ARPA file. FILE ends with .arpa, .csv,
.json or .npy. Numbers keep all their digits. A table has a row for every context, so it suits only small
vocabularies and short contexts.)",
      .examples = R"(  speclab convert configs/austen_words.json --out target.arpa
  speclab convert table.csv --out table.npy
  speclab convert target.arpa --out target.csv
)",
      .positional = "model",
      .run = convert_main};
  add_config_options(verb);
  verb.add_value("out FILE", po::value<std::string>()->required(), "file to write");
  verb.add("draft", "write the config's draft instead of its target");
  verb.add("force", "overwrite the file");
  return verb;
}

}  // namespace speclab
