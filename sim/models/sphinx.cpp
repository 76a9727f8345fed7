#include "sim/models/sphinx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

constexpr std::string_view magic = "Trie Language Model";
constexpr std::size_t quantised = std::size_t{1}
                                  << 16U;  // values of each table; entries hold 16-bit numbers of them
/// What the format uses for zero is a logarithm far below that.
constexpr double least_log10 = -90;

int bits_for(std::uint32_t largest) { return static_cast<int>(std::bit_width(largest)); }

/// The n-grams of one length beyond 1, packed: last word first, so that the entries under a word or n-gram
/// are those which have one more word before it. Every entry has the word, the numbers of its back-off weight
/// and its probability, and where its own entries begin; those of the longest n-grams have a word and a
/// probability.
struct Layer {
  std::uint32_t count;
  int word_bits;
  int next_bits;  // 0 for the longest
  bool longest;
  std::vector<float> probabilities;
  std::vector<float> backoffs;
  std::string_view memory;

  int entry_bits() const { return word_bits + 16 + (longest ? 0 : 16 + next_bits); }
  /// One entry more than there are, for the last end, and room to read 64 bits at any place.
  std::size_t bytes() const {
    return ((std::size_t{1} + count) * static_cast<std::size_t>(entry_bits()) + 7) / 8 + 8;
  }

  std::uint32_t number(std::uint32_t entry, int offset, int bits) const {
    const std::size_t at =
        std::size_t{entry} * static_cast<std::size_t>(entry_bits()) + static_cast<std::size_t>(offset);
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + at / 8, sizeof word);
    return static_cast<std::uint32_t>((word >> (at % 8)) &
                                      ((std::uint64_t{1} << static_cast<unsigned>(bits)) - 1));
  }
  std::uint32_t word(std::uint32_t entry) const { return number(entry, 0, word_bits); }
  float backoff(std::uint32_t entry) const { return longest ? 0 : backoffs[number(entry, word_bits, 16)]; }
  float probability(std::uint32_t entry) const {
    return probabilities[number(entry, word_bits + (longest ? 0 : 16), 16)];
  }
  std::uint32_t first(std::uint32_t entry) const { return number(entry, word_bits + 32, next_bits); }
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file)
      : name_(file.string()), data_(load_text(file)), rest_(data_) {
    static_assert(std::endian::native == std::endian::little);
    if (rest_.substr(0, magic.size()) != magic) {
      fail(fmt::format(
          "does not begin with \"{}\"; expected a binary model of CMU Sphinx, as sphinx_lm_convert "
          "(package sphinxbase-utils) writes with -ofmt bin",
          magic));
    }
    rest_.remove_prefix(magic.size());
  }

  SphinxModel read(int order) {
    read_layers();
    std::vector<std::string> words = read_words();
    NgramList list{static_cast<std::int32_t>(unigrams_.size() - 1), {}};
    const NgramPacking packing(list.vocab);
    list.levels.emplace_back();
    for (std::size_t id = 0; id + 1 < unigrams_.size(); ++id) {
      const double probability = words[id] == "<s>" ? 0 : power(unigrams_[id].probability);
      list.levels[0].push_back({PackedNgram{id}, probability, power(unigrams_[id].backoff)});
    }
    const std::size_t levels = std::min(layers_.size() + 1, static_cast<std::size_t>(order));
    list.levels.resize(levels);
    for (std::size_t id = 0; levels > 1 && id + 1 < unigrams_.size(); ++id)
      list_below(list, packing, PackedNgram{id}, 1, unigrams_[id].next, unigrams_[id + 1].next);
    for (std::vector<ListedNgram>& level : list.levels) {
      std::sort(level.begin(), level.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
      const auto same = std::adjacent_find(level.begin(), level.end(),
                                           [](const auto& a, const auto& b) { return a.key == b.key; });
      if (same != level.end()) fail("lists an n-gram twice");
    }
    // Weights that only longer n-grams use.
    for (ListedNgram& ngram : list.levels.back()) ngram.backoff = 1;
    try {
      const double error = NgramModel(list).max_row_error(64);
      return {NgramModel(list, RowSums::renormalised), Vocabulary::words(std::move(words)), error};
    } catch (const ModelError& error) {
      fail(error.what());
    }
  }

 private:
  struct Unigram {
    float probability;
    float backoff;
    std::uint32_t next;
  };

  [[noreturn]] void fail(std::string_view what) const {
    throw ModelError(fmt::format("{}: {}", name_, what));
  }

  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) fail("ends too early; expected a complete file");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  template <class T>
  std::vector<T> take_values(std::size_t count) {
    const std::string_view bytes = take(count * sizeof(T));
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  void read_layers() {
    const int order = take_values<std::uint8_t>(1)[0];
    if (order < 1 || order > max_ngram_order)
      fail(fmt::format("has n-grams of {} tokens; expected 1 to {}", order, max_ngram_order));
    const auto counts = take_values<std::uint32_t>(static_cast<std::size_t>(order));
    if (counts[0] < 1 || counts[0] > static_cast<std::uint32_t>(max_ngram_vocab))
      fail(fmt::format("has {} words; expected 1 to {}", counts[0], max_ngram_vocab));
    if (order > 1) take(4);  // a type of quantisation, of which there is one
    for (std::size_t n = 1; n < counts.size(); ++n) {
      const bool longest = n + 1 == counts.size();
      Layer& layer = layers_.emplace_back();
      layer.count = counts[n];
      layer.word_bits = bits_for(counts[0]);
      layer.next_bits = longest ? 0 : bits_for(counts[n + 1]);
      layer.longest = longest;
      layer.probabilities = take_values<float>(quantised);
      if (!longest) layer.backoffs = take_values<float>(quantised);
    }
    unigrams_ = take_values<Unigram>(std::size_t{1} + counts[0]);
    for (Layer& layer : layers_) layer.memory = take(layer.bytes());
  }

  std::vector<std::string> read_words() {
    std::string_view text = take(take_values<std::uint32_t>(1)[0]);
    std::vector<std::string> words;
    while (!text.empty()) {
      const std::size_t end = text.find('\0');
      if (end == 0 || end == std::string_view::npos) fail("has an empty or unfinished word");
      words.emplace_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    const std::unordered_set<std::string_view> distinct(words.begin(), words.end());
    if (words.size() + 1 != unigrams_.size() || distinct.size() != words.size())
      fail(fmt::format("names {} words; expected {} distinct ones", distinct.size(), unigrams_.size() - 1));
    return words;
  }

  /// Lists the entries first..end-1, which have one word before `ngram` of `length` tokens.
  void list_below(NgramList& list, const NgramPacking& packing, PackedNgram ngram, int length,
                  std::uint32_t first, std::uint32_t end) const {
    const auto at = static_cast<std::size_t>(length);
    const Layer& layer = layers_[at - 1];
    if (first > end || end > layer.count) fail("has entries out of order");
    for (std::uint32_t entry = first; entry < end; ++entry) {
      const std::uint32_t word = layer.word(entry);
      if (word >= static_cast<std::uint32_t>(list.vocab)) fail("has a token that is no word");
      const PackedNgram longer = (PackedNgram{word} << packing.bits(length)) | ngram;
      list.levels[at].push_back({longer, power(layer.probability(entry)), power(layer.backoff(entry))});
      if (at + 1 < list.levels.size())
        list_below(list, packing, longer, length + 1, layer.first(entry), layer.first(entry + 1));
    }
  }

  double power(float logarithm) const {
    const double natural = static_cast<double>(logarithm) * std::log(1.0001);
    if (!(natural < 700)) fail("has a logarithm that is not a number, or far too large");
    return natural < least_log10 * std::log(10.0) ? 0 : std::exp(natural);
  }

  std::string name_;
  std::string data_;
  std::string_view rest_;
  std::vector<Layer> layers_;  // of bigrams, trigrams, ...
  std::vector<Unigram> unigrams_;
};

}  // namespace

SphinxModel read_sphinx(const std::filesystem::path& file, int order) {
  assert(1 <= order && order <= max_ngram_order);
  return Reader(file).read(order);
}

}  // namespace speclab
