#include "experiments/catalog/models/corpus_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/corpus_config.hpp"
#include "experiments/catalog/models/corpus_files.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/recording/named_records.hpp"
#include "sim/error.hpp"
#include "sim/text/documents.hpp"

namespace speclab {

namespace {

using TokenLists = std::vector<std::vector<Token>>;

/// Cuts the text into documents of `length` tokens; drops the rest.
TokenLists stretches(std::span<const Token> tokens, std::size_t length) {
  TokenLists all;
  for (std::size_t start = 0; start + length <= tokens.size(); start += length) {
    const auto part = tokens.subspan(start, length);
    all.emplace_back(part.begin(), part.end());
  }
  return all;
}

/// Returns the part of each document after the separator.
TokenLists translations(const TokenLists& documents, Token separator) {
  TokenLists all;
  for (const auto& document : documents) {
    const auto start = static_cast<std::ptrdiff_t>(position_after(document, separator));
    all.emplace_back(document.begin() + start, document.end());
  }
  return all;
}

/// Returns a recording's sequences as documents. Throws ModelError for ids that the coder lacks.
Documents recorded_documents(const CorpusConfig& corpus, const std::shared_ptr<const TokenCoder>& coder) {
  Documents all{Vocabulary::coded(Tokenization::gguf, coder), {}};
  for (const RecordedIds& sequence : read_recorded_ids(corpus.file)) {
    auto& document = all.documents.emplace_back();
    for (const std::int64_t id : sequence.ids) {
      if (id < 0 || id >= coder->size()) {
        throw ModelError(fmt::format("{}: sequence {} has the token {}, outside the {} tokens of {}",
                                     corpus.file, sequence.name, id, coder->size(), corpus.tokenizer));
      }
      document.push_back(static_cast<Token>(id));
    }
  }
  return all;
}

/// Loads a corpus. `coder` is null if the text determines the tokens.
CorpusText load(const CorpusConfig& corpus, const std::shared_ptr<const TokenCoder>& coder) {
  const bool folder = std::filesystem::is_directory(corpus.file);
  const auto folder_text = [&] { return text_of_folder(corpus.file, encoding_of(corpus.tokenization)); };
  const auto in_tokens = [&](const auto& make) {
    return coder ? make(Vocabulary::coded(corpus.tokenization, coder))
                 : make(corpus.tokenization, corpus.vocabulary);
  };
  const auto whole_text = [&] {
    if (!folder) return in_tokens([&](auto... by) { return load_corpus(corpus.file, std::move(by)...); });
    std::string text = folder_text();
    std::replace(text.begin(), text.end(), '\f', '\n');
    return in_tokens([&](auto... by) { return make_corpus(text, std::move(by)...); });
  };
  const bool ids = corpus.tokenization == Tokenization::ids;
  if (corpus.hold_out == 0 && !corpus.in_pairs() && !ids) return {whole_text(), {}, {}, {}};
  std::optional<Token> separator;
  Documents all = [&] {
    if (ids) return recorded_documents(corpus, coder);
    if (corpus.in_pairs()) {
      ParallelDocuments pairs =
          corpus.translation.empty()
              ? prompt_output_documents(corpus.file, corpus.prompt_field, corpus.output_field,
                                        corpus.vocabulary)
              : load_parallel_documents(corpus.file, corpus.translation, corpus.vocabulary);
      separator = pairs.separator;
      return Documents{std::move(pairs.vocabulary), std::move(pairs.documents)};
    }
    if (corpus.document_tokens == 0) {
      return in_tokens([&](auto... by) {
        return folder ? make_documents(folder_text(), std::move(by)...)
                      : load_documents(corpus.file, std::move(by)...);
      });
    }
    Corpus whole = whole_text();
    return Documents{std::move(whole.vocabulary),
                     stretches(whole.tokens, static_cast<std::size_t>(corpus.document_tokens))};
  }();
  DocumentSplit split = corpus.hold_out == 0 ? DocumentSplit{std::move(all.documents), {}}
                                             : split_documents(std::move(all.documents),
                                                               static_cast<std::size_t>(corpus.hold_out));
  std::vector<Token> tokens =
      separator ? separated(translations(split.train, *separator), *separator) : joined(split.train);
  return {{std::move(all.vocabulary), std::move(tokens)},
          std::move(split.train),
          std::move(split.held_out),
          separator};
}

void check_corpus_options(const CorpusConfig& corpus, const std::string& path) {
  const bool pairs = corpus.in_pairs();
  const bool cut = corpus.document_tokens != 0;
  const bool ids = corpus.tokenization == Tokenization::ids;
  const bool coded = ids || corpus.tokenization == Tokenization::gguf;
  const struct {
    bool wrong;
    const char* key;
    const char* problem;
  } checks[] = {
      {corpus.hold_out == 1, "hold_out", "1 holds out everything; give 2 or more"},
      {pairs && corpus.tokenization != Tokenization::words, "tokenization",
       "pairs of texts (a translation, prompts and outputs) are read as words"},
      {corpus.prompt_field.empty() != corpus.output_field.empty(),
       corpus.prompt_field.empty() ? "prompt_field" : "output_field",
       "missing; prompt_field and output_field go together"},
      {!corpus.output_field.empty() && !corpus.translation.empty(), "translation",
       "goes with two files of lines, not with prompt_field and output_field"},
      {coded && corpus.tokenizer.empty(), "tokenizer",
       "missing; tokenizations \"gguf\" and \"ids\" need the GGUF file that has the tokenizer"},
      {!coded && !corpus.tokenizer.empty(), "tokenizer",
       "goes with tokenizations \"gguf\" and \"ids\" alone"},
      {ids && cut, "document_tokens", "in a recording every sequence is a document; leave this out"},
      {cut && pairs, "document_tokens", "in pairs of texts every line is a document; leave this out"},
      {cut && corpus.hold_out == 0, "hold_out", "missing; without it there are no documents to cut"}};
  for (const auto& [wrong, key, problem] : checks) {
    if (wrong) throw ConfigError(fmt::format("{}/{}", path, key), problem);
  }
}

void check_readable(const std::string& file, const std::string& path) {
  if (file.empty() || std::filesystem::exists(file)) return;
  const char* remedy = "";
  if (file == "data/austen.txt") {
    remedy = "; scripts/setup.sh makes the default corpus from the Debian package r-cran-janeaustenr";
  } else if (file.starts_with("data/")) {
    remedy = "; scripts/setup.sh tasks makes the texts of tasks from Debian packages";
  }
  throw ConfigError(path, "{}: cannot be read{}", file, remedy);
}

}  // namespace

void check_corpus(const CorpusConfig* corpus, const std::string& path) {
  if (corpus == nullptr) {
    throw ConfigError(
        path,
        "missing; n-gram models are trained on a text, from which \"simulation.prompt_tokens\" takes prompts: {\"file\": ..., \"tokenization\": \"words\"}");
  }
  check_corpus_options(*corpus, path);
  check_readable(corpus->file, path + "/file");
  check_readable(corpus->translation, path + "/translation");
}

CorpusText load_corpus_text(const CorpusConfig& corpus, const std::string& path, ModelFactory& factory) {
  check_corpus(&corpus, path);
  std::shared_ptr<const TokenCoder> coder;
  if (!corpus.tokenizer.empty()) coder = gguf_tokenizer(corpus.tokenizer, path + "/tokenizer", factory);
  try {
    return load(corpus, coder);
  } catch (const ModelError& error) {
    throw ConfigError(path + "/file", error.what());
  } catch (const UsageError& error) {
    throw ConfigError(path + "/file", error.what());
  }
}

}  // namespace speclab
