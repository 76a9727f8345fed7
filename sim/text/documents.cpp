#include "sim/text/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/error.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

/// Returns the parts between the separators: one more than there are separators.
std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    all.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return all;
    at = end + 1;
  }
}

/// Returns the lines of `text`; a line break at the end opens no line.
std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> all = parts(text, '\n');
  if (all.back().empty()) all.pop_back();
  return all;
}

bool blank(std::string_view text) { return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos; }

}  // namespace

Documents make_documents(std::string_view text, Vocabulary vocabulary) {
  Documents made{std::move(vocabulary), {}};
  for (const std::string_view part : parts(text, '\f')) {
    if (!blank(part)) made.documents.push_back(made.vocabulary.tokens(part));
  }
  return made;
}

Documents make_documents(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap) {
  // Form feeds separate documents and must not become a piece.
  std::string whole(text);
  std::replace(whole.begin(), whole.end(), '\f', '\n');
  return make_documents(text, make_corpus(whole, tokenization, vocabulary_cap).vocabulary);
}

Documents load_documents(const std::filesystem::path& file, Tokenization tokenization,
                         std::int32_t vocabulary_cap) {
  const std::string text = load_text(file, encoding_of(tokenization));
  return naming(file.string(), [&] { return make_documents(text, tokenization, vocabulary_cap); });
}

Documents load_documents(const std::filesystem::path& file, Vocabulary vocabulary) {
  const std::string text = load_text(file, encoding_of(vocabulary.tokenization()));
  return naming(file.string(), [&] { return make_documents(text, std::move(vocabulary)); });
}

ParallelDocuments make_parallel_documents(std::string_view source, std::string_view target,
                                          std::int32_t vocabulary_cap) {
  const std::vector<std::string_view> sources = lines(source);
  const std::vector<std::string_view> targets = lines(target);
  if (sources.size() != targets.size()) {
    throw ModelError(fmt::format(
        "the source has {} lines and the target {}; expected line i of one to translate line i of the other",
        sources.size(), targets.size()));
  }
  const Vocabulary words =
      make_corpus(fmt::format("{}\n{}", source, target), Tokenization::words, vocabulary_cap).vocabulary;
  std::vector<std::string> list;
  for (Token id = 0; id < words.size(); ++id) list.push_back(words.text(id));
  list.emplace_back("<sep>");

  ParallelDocuments made{Vocabulary::words(std::move(list)), {}, words.size()};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (blank(sources[i]) || blank(targets[i])) continue;
    // `words` lacks "<sep>", so that a text which contains it cannot break its document in two.
    std::vector<Token> document = words.tokens(sources[i]);
    document.push_back(made.separator);
    const std::vector<Token> translation = words.tokens(targets[i]);
    document.insert(document.end(), translation.begin(), translation.end());
    made.documents.push_back(std::move(document));
  }
  return made;
}

ParallelDocuments load_parallel_documents(const std::filesystem::path& source,
                                          const std::filesystem::path& target, std::int32_t vocabulary_cap) {
  const std::string source_text = load_text(source, Encoding::utf8);
  const std::string target_text = load_text(target, Encoding::utf8);
  return naming(fmt::format("{} and {}", source.string(), target.string()),
                [&] { return make_parallel_documents(source_text, target_text, vocabulary_cap); });
}

std::size_t position_after(std::span<const Token> document, Token token) {
  const auto found = std::find(document.begin(), document.end(), token);
  const auto before = static_cast<std::size_t>(found - document.begin());
  return found == document.end() ? before : before + 1;
}

DocumentSplit split_documents(std::vector<std::vector<Token>> documents, std::size_t every) {
  if (every < 2 || every > documents.size()) {
    throw ModelError(fmt::format("every {}th of {} documents cannot be held out; expected 2 to {}", every,
                                 documents.size(), documents.size()));
  }
  DocumentSplit split;
  for (std::size_t i = 0; i < documents.size(); ++i)
    (i % every == every - 1 ? split.held_out : split.train).push_back(std::move(documents[i]));
  return split;
}

std::vector<Token> separated(std::span<const std::vector<Token>> documents, Token separator) {
  std::vector<Token> stream;
  for (const std::vector<Token>& document : documents) {
    stream.push_back(separator);
    stream.insert(stream.end(), document.begin(), document.end());
  }
  return stream;
}

std::vector<Token> joined(std::span<const std::vector<Token>> documents) {
  std::vector<Token> stream;
  for (const std::vector<Token>& document : documents)
    stream.insert(stream.end(), document.begin(), document.end());
  return stream;
}

}  // namespace speclab
