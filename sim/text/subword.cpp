#include "sim/text/subword.hpp"

#include <utility>

#include "sim/error.hpp"

#ifdef SPECLAB_HAS_SENTENCEPIECE
#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "sim/text/text_file.hpp"
#endif

namespace speclab {

Subword::Subword(std::shared_ptr<const sentencepiece::SentencePieceProcessor> coder)
    : coder_(std::move(coder)) {}

#ifdef SPECLAB_HAS_SENTENCEPIECE

namespace {

class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::string_view text) : rest_(text) { Next(); }

  bool done() const override { return done_; }
  void Next() override {  // NOLINT(readability-identifier-naming): the library's name
    done_ = rest_.empty();
    line_ = take_line(rest_);
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string_view rest_;
  std::string line_;
  bool done_ = false;
};

/// Throws for words that the library cannot hold: it keeps places within a word in 16 bits, loses one of
/// them, and crashes beyond. For the library a word reaches from one space to the next, whatever it contains,
/// and it puts one more character before each word.
void refuse_long_words(std::string_view text) {
  constexpr std::size_t longest = 32768;
  std::size_t begin = 0;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ' || text[at] == '\n') {
      begin = at + 1;
      characters = 0;
    } else if ((static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80 && ++characters > longest) {
      throw ModelError(fmt::format(
          "from byte {} on, no space occurs within {} characters, the most that SentencePiece accepts; use tokenization \"words\" or \"bytes\"",
          begin + 1, longest));
    }
  }
}

}  // namespace

Subword Subword::train(std::string_view text, std::int32_t vocabulary_cap) {
  refuse_long_words(text);
  const std::size_t longest =
      std::min<std::size_t>(text.size() + 1, std::numeric_limits<std::int32_t>::max());
  const std::unordered_map<std::string, std::string> options{
      {"minloglevel", "2"},  // errors are returned as a status
      {"model_type", "bpe"},
      {"vocab_size", fmt::format("{}", vocabulary_cap)},
      {"hard_vocab_limit", "false"},  // small texts have fewer pieces than requested
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"max_sentence_length", fmt::format("{}", longest)},  // longer lines would be skipped
      {"unk_id", "0"},
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      {"pad_id", "-1"}};
  Lines lines(text);
  std::string model;
  const auto trained = sentencepiece::SentencePieceTrainer::Train(options, &lines, &model);
  if (!trained.ok()) throw ModelError(fmt::format("SentencePiece could not train: {}", trained.ToString()));
  auto coder = std::make_shared<sentencepiece::SentencePieceProcessor>();
  const auto loaded = coder->LoadFromSerializedProto(model);
  if (!loaded.ok()) throw ModelError(fmt::format("SentencePiece model: {}", loaded.ToString()));
  return Subword(std::move(coder));
}

std::int32_t Subword::size() const { return coder_->GetPieceSize(); }

std::string Subword::text(Token token) const { return coder_->IdToPiece(token); }

std::vector<Token> Subword::tokens(std::string_view text) const {
  std::vector<Token> all;
  std::vector<int> ids;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!coder_->Encode({line.data(), line.size()}, &ids).ok())
      throw ModelError("SentencePiece could not code a line");
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

std::string Subword::join(std::span<const Token> tokens) const {
  std::string text;
  if (!coder_->Decode(std::vector<int>(tokens.begin(), tokens.end()), &text).ok())
    throw ModelError("SentencePiece could not decode the tokens");
  return text;
}

#else

namespace {
[[noreturn]] void missing() {
  throw ModelError(
      "units \"pieces\" need SentencePiece: install libsentencepiece-dev and build with -DSPECLAB_SENTENCEPIECE=ON, or use \"words\" or \"bytes\"");
}
}  // namespace

Subword Subword::train(std::string_view, std::int32_t) { missing(); }
std::int32_t Subword::size() const { missing(); }
std::string Subword::text(Token) const { missing(); }
std::vector<Token> Subword::tokens(std::string_view) const { missing(); }
std::string Subword::join(std::span<const Token>) const { missing(); }

#endif

}  // namespace speclab
