#include "experiments/corpora.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "sim/error.hpp"
#include "sim/text/documents.hpp"

namespace speclab {

namespace {

using TokenLists = std::vector<std::vector<Token>>;

Tokenization units_of(const Json& corpus) {
  const auto name = corpus.at("units").get<std::string>();
  return name == "bytes" ? Tokenization::bytes : name == "words" ? Tokenization::words : Tokenization::pieces;
}

/// Consecutive stretches of `length` tokens; the rest is left out.
TokenLists stretches(std::span<const Token> tokens, std::size_t length) {
  TokenLists all;
  for (std::size_t start = 0; start + length <= tokens.size(); start += length) {
    const auto part = tokens.subspan(start, length);
    all.emplace_back(part.begin(), part.end());
  }
  return all;
}

/// What follows the separator in each document.
TokenLists translations(const TokenLists& documents, Token separator) {
  TokenLists all;
  for (const auto& document : documents) {
    const auto start = static_cast<std::ptrdiff_t>(position_after(document, separator));
    all.emplace_back(document.begin() + start, document.end());
  }
  return all;
}

CorpusText load(const Json& corpus) {
  const std::string file = corpus.at("file");
  const auto cap = corpus.at("vocabulary").get<std::int32_t>();
  const auto every = corpus.at("hold_out").get<std::size_t>();
  const auto length = corpus.at("document_tokens").get<std::size_t>();
  const std::string translation = corpus.at("translation");
  if (every == 0 && translation.empty()) return {load_corpus(file, units_of(corpus), cap), {}, {}, {}};

  std::optional<Token> separator;
  Documents all = [&] {
    if (!translation.empty()) {
      ParallelDocuments pairs = load_parallel_documents(file, translation, cap);
      separator = pairs.separator;
      return Documents{std::move(pairs.vocabulary), std::move(pairs.documents)};
    }
    if (length == 0) return load_documents(file, units_of(corpus), cap);
    Corpus stream = load_corpus(file, units_of(corpus), cap);
    return Documents{std::move(stream.vocabulary), stretches(stream.tokens, length)};
  }();
  DocumentSplit split = every == 0 ? DocumentSplit{std::move(all.documents), {}}
                                   : split_documents(std::move(all.documents), every);
  std::vector<Token> tokens =
      separator ? separated(translations(split.train, *separator), *separator) : joined(split.train);
  return {{std::move(all.vocabulary), std::move(tokens)},
          std::move(split.train),
          std::move(split.held_out),
          separator};
}

void check(const Json& corpus, const std::string& path) {
  const bool translated = !corpus.at("translation").get<std::string>().empty();
  const bool cut = corpus.at("document_tokens") != 0;
  if (corpus.at("hold_out") == 1)
    throw ConfigError(path + "/hold_out", "1 holds out everything; give 2 or more");
  if (translated && corpus.at("units") != "words") {
    throw ConfigError(path + "/units", "texts with a translation are read as words");
  }
  if (cut && translated) {
    throw ConfigError(path + "/document_tokens",
                      "with a translation every line is a document; leave this out");
  }
  if (cut && corpus.at("hold_out") == 0) {
    throw ConfigError(path + "/hold_out", "missing; without it there are no documents to cut");
  }
}

}  // namespace

std::shared_ptr<const CorpusText> Corpora::text(const Json& corpus, const std::string& path) {
  auto& cached = texts_[corpus.dump()];
  if (cached) return cached;
  check(corpus, path);
  for (const char* key : {"file", "translation"}) {
    const std::string file = corpus.at(key);
    if (file.empty() || std::filesystem::exists(file)) continue;
    const bool standard = file == "data/austen.txt";
    const bool of_tasks = file.starts_with("data/") && !standard;
    throw ConfigError(
        fmt::format("{}/{}", path, key),
        fmt::format("{}: cannot be read{}", file,
                    standard   ? "; scripts/setup.sh makes the default corpus from the Debian package "
                                 "r-cran-janeaustenr"
                    : of_tasks ? "; scripts/setup.sh tasks makes the texts of tasks from Debian packages"
                               : ""));
  }
  try {
    cached = std::make_shared<const CorpusText>(load(corpus));
  } catch (const ModelError& error) {
    throw ConfigError(path + "/file", error.what());
  }
  return cached;
}

}  // namespace speclab
