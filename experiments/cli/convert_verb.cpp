#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/model_file.hpp"

namespace speclab {

namespace {

int convert_main(const Values& values) {
  const auto file = values.text("config");
  const ThreadLimit limit(thread_option(values));
  const std::filesystem::path out = values.text("out");
  if (out.extension() != ".arpa")
    throw UsageError("--out {}: expected a name that ends in .arpa", out.string());
  if (std::filesystem::exists(out) && !values.has("force")) {
    throw UsageError("{} exists; give another --out, or --force to overwrite", out.string());
  }
  ModelFactory factory;
  const BuiltModel built = in_file(
      file, [&] { return model_of_config(*load_config(file, values), values.has("draft"), factory); });
  write_arpa_file(built, out);
  fmt::print("{}: {} tokens, contexts of {}\n", out.string(), built.model.vocab(), *built.model.memory());
  return exit_ok;
}

}  // namespace

Verb convert_verb() {
  Verb verb{
      .name = "convert",
      .sentence = "write an n-gram model as an ARPA file",
      .line = "speclab convert CONFIG.json --out FILE.arpa [--draft]",
      .about =
          R"(Writes the n-gram model that a config trains on a text, its target or with --draft its draft, as an ARPA
file, which KenLM and SRILM read. Numbers keep all their digits. speclab.models in Python gives the rows of
any model.)",
      .examples = R"(  speclab convert configs/austen_words.json --set sweep=null --out target.arpa
)",
      .positional = "config",
      .run = convert_main};
  add_config_options(verb);
  verb.add_value("out FILE", po::value<std::string>()->required(), "file to write");
  verb.add("draft", "write the config's draft instead of its target");
  verb.add("force", "overwrite the file");
  return verb;
}

}  // namespace speclab
