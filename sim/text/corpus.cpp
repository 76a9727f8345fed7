#include "sim/text/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "sim/error.hpp"
#include "sim/text/subword.hpp"
#include "sim/text/utf8.hpp"

namespace speclab {

namespace {

// These functions do not depend on the locale. They take all bytes of longer UTF-8 sequences for letters.
bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }
bool is_letter_or_digit(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
         static_cast<unsigned char>(c) >= 128;
}

/// Returns one past the last character of the word that starts at `at`.
std::size_t word_end(std::string_view text, std::size_t at) {
  if (!is_letter_or_digit(text[at])) return std::min(text.find_first_not_of(text[at], at), text.size());
  std::size_t end = at + 1;
  for (; end < text.size(); ++end) {
    const bool joined = (text[end] == '\'' || text[end] == '-') && is_letter_or_digit(text[end - 1]) &&
                        end + 1 < text.size() && is_letter_or_digit(text[end + 1]);
    if (!is_letter_or_digit(text[end]) && !joined) break;
  }
  return end;
}

bool only_white_space(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

/// Calls visit(chunk) for each part of the text without white space.
template <class Visit>
void for_each_chunk(std::string_view text, const Visit& visit) {
  StopCounter now_and_then(1 << 14);
  for (std::size_t at = 0; at < text.size();) {
    now_and_then.step();
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > at) visit(text.substr(at, end - at));
    at = end + 1;
  }
}

template <class Visit>
void for_each_word(std::string_view chunk, const Visit& visit) {
  for (std::size_t at = 0; at < chunk.size();) {
    const std::size_t end = word_end(chunk, at);
    visit(chunk.substr(at, end - at));
    at = end;
  }
}

std::string escape_invalid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// Joins words with the spacing of English print. A straight quote or an underscore (emphasis, in plain text
/// books) alternately opens and closes.
class WordJoiner {
 public:
  void add(const std::string& word) {
    const char c = word.front();
    const bool paired = word == "\"" || word == "_";
    bool& open = c == '_' ? emphasis_ : quote_;
    const bool closing = paired && open;
    const bool dash = c == '-' && word.size() > 1;
    const bool clings_left =
        closing || dash || std::string_view(",.;:!?)]}'").find(c) != std::string_view::npos;
    if (!out_.empty() && !clings_right_ && !clings_left) out_ += ' ';
    out_ += word;
    if (paired) open = !open;
    clings_right_ = dash || (paired && !closing) || std::string_view("([{").find(c) != std::string_view::npos;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  bool quote_ = false;
  bool emphasis_ = false;
  bool clings_right_ = false;
};

/// The distinct words of a text, numbered in order of appearance, with their counts. It has its own
/// open-addressing table, because look-ups in std::unordered_map would take most of the time of training a
/// model of order 2 or 3.
class WordCounter {
 public:
  struct Entry {
    std::string_view word;
    std::size_t count;
  };

  /// Counts the word and returns its number. Views stay those of the first appearance.
  std::uint32_t add(std::string_view word) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(word));
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].number != none; at = (at + 1) & (slots_.size() - 1)) {
      Entry& entry = entries_[slots_[at].number];
      if (slots_[at].hash != hash || entry.word != word) continue;
      ++entry.count;
      return slots_[at].number;
    }
    slots_[at] = {hash, static_cast<std::uint32_t>(entries_.size())};
    entries_.push_back({word, 1});
    return slots_[at].number;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Slot {
    std::uint32_t hash;
    std::uint32_t number = none;
  };

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(2 * slots_.size(), 1024));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == none) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].number != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
};

/// Makes one pass over the text: tokens are first indices of words, and become ids when the counts are known.
Corpus frequent_words(std::string_view text, std::int32_t cap) {
  if (cap != 0 && cap < 2) {
    throw ModelError(fmt::format(
        "a vocabulary of {} words has no room; it needs \"<unk>\" and one more, or 0 for all", cap));
  }
  constexpr Token unknown = -1;
  WordCounter counter;
  std::vector<Token> tokens;
  for_each_chunk(text, [&](std::string_view chunk) {
    // The three words of "<unk>" are counted, but the chunk is the unknown word, as in Vocabulary::tokens.
    const bool literal = chunk == "<unk>";
    for_each_word(chunk, [&](std::string_view word) {
      const std::uint32_t number = counter.add(word);
      if (!literal) tokens.push_back(static_cast<Token>(number));
    });
    if (literal) tokens.push_back(unknown);
  });

  const std::vector<WordCounter::Entry>& words = counter.entries();
  std::vector<std::uint32_t> by_rank(words.size());
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  std::sort(by_rank.begin(), by_rank.end(), [&](std::uint32_t a, std::uint32_t b) {
    return words[a].count > words[b].count ||
           (words[a].count == words[b].count && words[a].word < words[b].word);
  });
  if (cap > 0) by_rank.resize(std::min(by_rank.size(), static_cast<std::size_t>(cap) - 1));
  std::vector<std::string> list{"<unk>"};
  std::vector<Token> ids(words.size(), 0);
  for (const std::uint32_t number : by_rank) {
    ids[number] = static_cast<Token>(list.size());
    list.emplace_back(words[number].word);
  }
  for (Token& token : tokens) token = token == unknown ? 0 : ids[static_cast<std::size_t>(token)];
  return {Vocabulary::words(std::move(list)), std::move(tokens)};
}

}  // namespace

Vocabulary Vocabulary::bytes() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) {
    const bool visible = '!' <= byte && byte <= '~';
    texts.push_back(visible ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte));
  }
  return {Tokenization::bytes, std::move(texts)};
}

Vocabulary Vocabulary::words(std::vector<std::string> list) {
  Vocabulary vocabulary(Tokenization::words, std::move(list));
  for (Token id = 0; id < vocabulary.size(); ++id) vocabulary.ids_.emplace(vocabulary.text(id), id);
  assert(vocabulary.ids_.size() == vocabulary.texts_.size());
  return vocabulary;
}

Vocabulary Vocabulary::coded(Tokenization tokenization, std::shared_ptr<const TokenCoder> coder) {
  std::vector<std::string> texts;
  for (Token id = 0; id < coder->size(); ++id) texts.push_back(coder->text(id));
  Vocabulary vocabulary(tokenization, std::move(texts));
  vocabulary.coder_ = std::move(coder);
  return vocabulary;
}

std::optional<Token> Vocabulary::find(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Token> Vocabulary::tokens(std::string_view text) const {
  if (coder_) return coder_->tokens(text);
  std::vector<Token> tokens;
  if (tokenization_ == Tokenization::bytes) {
    tokens.reserve(text.size());
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
  }
  const std::optional<Token> unknown = find("<unk>");
  for_each_chunk(text, [&](std::string_view chunk) {
    // Word lists of other programs have entries such as "<s>", which splitting into words would break.
    if (const auto whole = find(chunk)) return tokens.push_back(*whole);
    for_each_word(chunk, [&](std::string_view word) {
      const std::optional<Token> token = find(word);
      if (!token && !unknown) {
        throw ModelError(
            fmt::format("the word \"{}\" is not in the vocabulary, which has no \"<unk>\"", word));
      }
      tokens.push_back(token ? *token : *unknown);
    });
  });
  return tokens;
}

std::string Vocabulary::join(std::span<const Token> tokens) const {
  if (coder_) return escape_invalid_utf8(coder_->join(tokens));
  if (tokenization_ == Tokenization::bytes) {
    std::string raw;
    for (const Token token : tokens) raw += static_cast<char>(token);
    return escape_invalid_utf8(raw);
  }
  WordJoiner joiner;
  for (const Token token : tokens) joiner.add(text(token));
  return joiner.take();
}

Corpus make_corpus(std::string_view text, Vocabulary vocabulary) {
  if (only_white_space(text)) throw ModelError("the text is empty; expected words");
  std::vector<Token> tokens = vocabulary.tokens(text);
  return {std::move(vocabulary), std::move(tokens)};
}

Corpus make_corpus(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap) {
  if (only_white_space(text)) throw ModelError("the text is empty; expected words");
  switch (tokenization) {
    case Tokenization::words:
      return frequent_words(text, vocabulary_cap);
    case Tokenization::pieces: {
      auto coder = std::make_shared<const Subword>(Subword::train(text, vocabulary_cap));
      return make_corpus(text, Vocabulary::coded(tokenization, std::move(coder)));
    }
    case Tokenization::bytes:
      return make_corpus(text, Vocabulary::bytes());
    case Tokenization::gguf:
    case Tokenization::ids:
      break;
  }
  throw ModelError("the tokens of a neural model come from its file, not from the text");
}

Corpus load_corpus(const std::filesystem::path& file, Tokenization tokenization,
                   std::int32_t vocabulary_cap) {
  const std::string text = load_text(file, encoding_of(tokenization));
  return naming(file.string(), [&] { return make_corpus(text, tokenization, vocabulary_cap); });
}

Corpus load_corpus(const std::filesystem::path& file, Vocabulary vocabulary) {
  const std::string text = load_text(file, encoding_of(vocabulary.tokenization()));
  return naming(file.string(), [&] { return make_corpus(text, std::move(vocabulary)); });
}

}  // namespace speclab
