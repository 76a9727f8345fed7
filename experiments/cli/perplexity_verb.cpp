#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/catalog/models/corpus_files.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/run/perplexity.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

using TextDocuments = std::vector<std::vector<Token>>;

std::optional<Token> unknown_of(const Vocabulary& vocabulary) {
  return vocabulary.size() > 0 && vocabulary.text(0) == "<unk>" ? std::optional<Token>(0) : std::nullopt;
}

/// Returns the documents of a file, which end at form feeds, or of a folder.
TextDocuments documents_in(const std::string& text, const Vocabulary& vocabulary) {
  try {
    const Encoding encoding = encoding_of(vocabulary.tokenization());
    return std::filesystem::is_directory(text)
               ? make_documents(text_of_folder(text, encoding), vocabulary).documents
               : load_documents(text, vocabulary).documents;
  } catch (const ModelError& error) {
    throw UsageError("--text: {}", error.what());
  }
}

std::string perplexity_text(const std::vector<Perplexity>& found) {
  Table table{"perplexity",
              "",
              {"model", "documents", "tokens", "<unk>, %", "of probability 0", "bits a token", "perplexity",
               "perplexity of the rest"},
              {},
              ""};
  for (const Perplexity& one : found) {
    const bool finite = one.impossible == 0;
    table.rows.push_back({text_cell(one.model), number_cell(static_cast<double>(one.documents)),
                          number_cell(static_cast<double>(one.tokens)),
                          one.unknown ? number_cell(100 * *one.unknown) : text_cell("–"),
                          number_cell(static_cast<double>(one.impossible)),
                          finite ? number_cell(one.bits_per_token) : text_cell("infinite"),
                          finite ? number_cell(one.perplexity) : text_cell("infinite"),
                          finite ? text_cell("–") : number_cell(one.possible_perplexity)});
  }
  return terminal(table);
}

[[noreturn]] void refuse_wordless(const std::string& file, const std::string& model) {
  throw UsageError("{}: the {} has no words; perplexity is of models of text", file, model);
}

struct NamedModel {
  std::string name;
  BuiltModel built;
};

int perplexity_main(const Values& values) {
  const auto file = values.text("model");
  const ThreadLimit limit(thread_option(values));
  const bool has_text = values.has("text");
  const bool arpa = std::filesystem::path(file).extension() == ".arpa";
  if (has_text && !std::filesystem::exists(values.text("text")))
    throw UsageError("--text {}: there is no such file or folder", values.text("text"));
  if (arpa && !has_text) throw UsageError("--text: missing; which text shall be predicted?");
  ModelFactory factory;
  std::vector<NamedModel> models;
  TextDocuments held_out;
  in_file(file, [&] {
    if (arpa) {
      models.push_back({file, model_from_file(file, factory)});
      return;
    }
    const auto config = load_config(file, values);
    for (const bool draft : {false, true}) {
      if (facts_of_model(*config, draft).words == false) refuse_wordless(file, draft ? "draft" : "target");
    }
    if (!has_text && (!config->corpus || config->corpus->hold_out == 0)) {
      throw ConfigError(
          "/corpus/hold_out",
          "missing; give --text, or hold out documents of the corpus with --set corpus.hold_out=10");
    }
    models.push_back({"target", model_of_config(*config, false, factory)});
    models.push_back({"draft", model_of_config(*config, true, factory)});
    if (!has_text) held_out = factory.text(*config->corpus, "/corpus")->held_out;
  });
  std::vector<Perplexity> found;
  for (const NamedModel& one : models) {
    const Vocabulary* vocabulary = one.built.vocabulary.get();
    if (vocabulary == nullptr) refuse_wordless(file, one.name);
    const TextDocuments documents = has_text ? documents_in(values.text("text"), *vocabulary) : held_out;
    std::uint64_t tokens = 0;
    for (const auto& document : documents) tokens += document.size();
    TerminalWatch watch("perplexity", false);
    auto measured = perplexity_of(one.built.model, documents, unknown_of(*vocabulary), watch.control(tokens));
    if (!measured) {
      fmt::print(stderr, "interrupted\n");
      return exit_interrupted;
    }
    measured->model = one.name;
    found.push_back(std::move(*measured));
  }
  print(found, list(described<Perplexity>()), values.has("json"), perplexity_text);
  return exit_ok;
}

}  // namespace

Verb perplexity_verb() {
  Verb verb{
      .name = "perplexity",
      .sentence = "how well a model predicts a text",
      .line = "speclab perplexity MODEL [--text FILE] [options]",
      .about =
          R"(How well a model predicts a text: bits a token, perplexity, the share of unknown words, and tokens that it holds
impossible. MODEL is a config, whose target and draft are both measured, or an ARPA file. The text is cut into the
model's tokens; form feeds end documents, and a folder has a document a file. Without --text, a config is measured on the documents
that its corpus holds out.)",
      .examples = R"(  speclab perplexity configs/austen_words.json --text letter.txt
  speclab perplexity configs/austen_words.json --set corpus.hold_out=10 --set corpus.document_tokens=1000
  speclab perplexity target.arpa --text letter.txt
)",
      .positional = "model",
      .run = perplexity_main};
  add_config_options(verb);
  verb.add<std::string>("text", "file or folder of texts");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
