#include "sim/models/sphinx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/models/arpa.hpp"
#include "sim/models/kneser_ney.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

constexpr std::int32_t vocab = 11;

NgramModel trained(int order) { return train_kneser_ney(random_tokens(3, 400, vocab), vocab, order); }

Vocabulary letters() {
  std::vector<std::string> list;
  for (char c = 'a'; c < 'a' + vocab; ++c) list.emplace_back(1, c);
  return Vocabulary::words(std::move(list));
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

float logarithm(double value) {
  return value > 0 ? static_cast<float>(std::log(value) / std::log(1.0001)) : -2279559.0F;
}

/// A binary file of the model, written from the description of the format. N-grams are filed from their last
/// word on; the i-th value of a table belongs to the i-th entry.
std::string binary(const NgramModel& model, const Vocabulary& words) {
  const NgramList list = model.listed();
  const NgramPacking packing(list.vocab);
  struct Entry {
    std::vector<Token> reversed;
    float probability;
    float backoff;
  };
  std::vector<std::vector<Entry>> levels;
  for (std::size_t n = 1; n <= list.levels.size(); ++n) {
    std::vector<Entry>& level = levels.emplace_back();
    for (const ListedNgram& ngram : list.levels[n - 1]) {
      const auto tokens = packing.unpack(ngram.key, static_cast<int>(n));
      std::vector<Token> reversed(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n));
      std::reverse(reversed.begin(), reversed.end());
      level.push_back({std::move(reversed), logarithm(ngram.probability), logarithm(ngram.backoff)});
    }
    std::sort(level.begin(), level.end(),
              [](const auto& a, const auto& b) { return a.reversed < b.reversed; });
  }
  const auto first_below = [&](std::size_t n, const std::vector<Token>& reversed) {
    if (n == levels.size()) return std::uint32_t{0};
    const auto found =
        std::lower_bound(levels[n].begin(), levels[n].end(), reversed,
                         [](const Entry& entry, const auto& key) { return entry.reversed < key; });
    return static_cast<std::uint32_t>(found - levels[n].begin());
  };
  const auto count = [&](std::size_t n) { return static_cast<std::uint32_t>(levels[n - 1].size()); };

  std::string bytes = "Trie Language Model";
  append(bytes, static_cast<std::uint8_t>(levels.size()));
  for (std::size_t n = 1; n <= levels.size(); ++n) append(bytes, count(n));
  if (levels.size() > 1) append(bytes, std::int32_t{1});
  for (std::size_t n = 2; n <= levels.size(); ++n) {
    for (const bool backoffs : {false, true}) {
      if (backoffs && n == levels.size()) continue;
      std::vector<float> table(65536);
      for (std::size_t i = 0; i < levels[n - 1].size(); ++i)
        table[i] = backoffs ? levels[n - 1][i].backoff : levels[n - 1][i].probability;
      for (const float value : table) append(bytes, value);
    }
  }
  for (std::size_t id = 0; id <= levels[0].size(); ++id) {
    const bool end = id == levels[0].size();
    append(bytes, end ? 0.0F : levels[0][id].probability);
    append(bytes, end ? 0.0F : levels[0][id].backoff);
    append(bytes, end ? (levels.size() > 1 ? count(2) : 0) : first_below(1, levels[0][id].reversed));
  }
  for (std::size_t n = 2; n <= levels.size(); ++n) {
    const bool longest = n == levels.size();
    const int word_bits = std::bit_width(count(1));
    const int next_bits = longest ? 0 : static_cast<int>(std::bit_width(count(n + 1)));
    const int entry_bits = word_bits + 16 + (longest ? 0 : 16 + next_bits);
    const std::size_t entries = levels[n - 1].size();
    std::string packed(((entries + 1) * static_cast<std::size_t>(entry_bits) + 7) / 8 + 8, '\0');
    std::size_t bit = 0;
    const auto put = [&](std::uint64_t value, int bits) {
      for (int i = 0; i < bits; ++i, ++bit) {
        if (((value >> static_cast<unsigned>(i)) & 1U) != 0)
          packed[bit / 8] =
              static_cast<char>(static_cast<unsigned char>(packed[bit / 8]) | (1U << (bit % 8)));
      }
    };
    for (std::size_t i = 0; i <= entries; ++i) {
      const bool end = i == entries;
      put(end ? 0 : static_cast<std::uint64_t>(levels[n - 1][i].reversed.back()), word_bits);
      if (!longest) put(i, 16);
      put(i, 16);
      if (!longest) put(end ? count(n + 1) : first_below(n, levels[n - 1][i].reversed), next_bits);
    }
    bytes += packed;
  }
  std::string text;
  for (Token id = 0; id < words.size(); ++id) text += words.text(id) + '\0';
  append(bytes, static_cast<std::uint32_t>(text.size()));
  return bytes + text;
}

/// Largest relative difference between the probabilities of two models after every context of up to `length`
/// tokens.
double worst_difference(const NgramModel& a, const NgramModel& b, int length) {
  double worst = 0;
  std::vector<double> scratch_a;
  std::vector<double> scratch_b;
  for (int k = 0; k <= length; ++k) {
    for (const auto& context : all_contexts(vocab, k)) {
      const Row left = a.next(context, scratch_a);
      const Row right = b.next(context, scratch_b);
      for (Token id = 0; id < vocab; ++id) worst = std::max(worst, std::abs(left[id] / right[id] - 1));
    }
  }
  return worst;
}

/// The model with its longer n-grams gone, and its rows made to sum to 1.
NgramModel truncated(const NgramModel& model, std::size_t order) {
  NgramList list = model.listed();
  list.levels.resize(order);
  for (ListedNgram& ngram : list.levels.back()) ngram.backoff = 1;
  return NgramModel(list, RowSums::renormalised);
}

// The format keeps logarithms to the base 1.0001 as floats. Those here are below 2^17 (a probability of
// 2e-6), kept to 2^-8: a relative error of 4e-7 for each of up to five factors, and as much again for a row's
// sum.
constexpr double rounding = 4e-6;

}  // namespace

TEST_CASE("sphinx: a file says what the model was, at every order") {
  for (const int order : {1, 2, 3, 4}) {
    const NgramModel model = trained(order);
    const TempFile file(binary(model, letters()));
    const SphinxModel read = read_sphinx(file.path());
    CHECK(read.model.order() == order);
    CHECK(read.vocabulary.text(2) == "c");
    CHECK(worst_difference(read.model, model, order - 1) < rounding);
    CHECK(read.model.max_row_error(1000) < 1e-12);
    CHECK(read.row_error < rounding);
    CHECK(read.row_error > 0);
  }
}

TEST_CASE("sphinx: read to a lower order") {
  const NgramModel model = trained(4);
  const TempFile file(binary(model, letters()));
  for (const int order : {1, 2, 3}) {
    const SphinxModel read = read_sphinx(file.path(), order);
    CHECK(read.model.order() == order);
    CHECK(worst_difference(read.model, truncated(model, static_cast<std::size_t>(order)), order) < rounding);
  }
  CHECK(worst_difference(read_sphinx(file.path(), 2).model, truncated(model, 3), 2) > 0.1);
}

TEST_CASE("sphinx: \"<s>\" is never emitted") {
  const TempFile file(
      binary(trained(2), Vocabulary::words({"a", "<s>", "c", "d", "e", "f", "g", "h", "i", "j", "k"})));
  const SphinxModel read = read_sphinx(file.path());
  CHECK(read.model.probability({}, 1) == 0);
  CHECK(read.model.probability({}, 0) > 0);
}

TEST_CASE("sphinx: other files and invalid ones are refused") {
  const std::string good = binary(trained(3), letters());
  const auto complaint = [](const std::string& bytes) -> std::string {
    const TempFile file(bytes);
    try {
      read_sphinx(file.path());
    } catch (const ModelError& error) {
      CHECK(std::string(error.what()).find(file.path().string()) == 0);
      return error.what();
    }
    return {};
  };
  REQUIRE(complaint(good).empty());
  CHECK(complaint("\\data\\\nngram 1=2\n").find("sphinx_lm_convert") != std::string::npos);
  for (const std::size_t length : {std::size_t{19}, std::size_t{22}, std::size_t{40}, good.size() / 2,
                                   good.size() - 30, good.size() - 1}) {
    CHECK(complaint(good.substr(0, length)).find("ends too early") != std::string::npos);
  }
  std::string order = good;
  order[19] = 9;
  CHECK(complaint(order).find("n-grams of 9 tokens") != std::string::npos);
  std::string twice = good;
  twice[good.size() - 2] = 'a';  // the last word is the first one again
  CHECK(complaint(twice).find("10 words") != std::string::npos);
  std::string pointer = good;
  const std::size_t unigrams = 19 + 1 + 12 + 4 + 3 * 65536 * 4;
  pointer[unigrams + 8 + 3] = 1;  // the first word's bigrams begin beyond all
  CHECK(complaint(pointer).find("out of order") != std::string::npos);
  std::string number = good;
  number[unigrams + 3] = 0x7f;  // its logarithm is about 1e38, or not a number
  CHECK(complaint(number).find("logarithm") != std::string::npos);
}

TEST_CASE("sphinx: reads what sphinx_lm_convert writes") {
  if (std::system("command -v sphinx_lm_convert >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: sphinx_lm_convert (package sphinxbase-utils) is not installed");
    return;
  }
  const NgramModel model = trained(3);
  const TempFile text("");
  std::ofstream out(text.path());
  write_arpa(model, letters(), out);
  out.close();
  const TempFile file("");
  const std::string command = "sphinx_lm_convert -ifmt arpa -ofmt bin -i " + text.path().string() + " -o " +
                              file.path().string() + " >/dev/null 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  const SphinxModel read = read_sphinx(file.path());
  REQUIRE(read.model.order() == 3);
  CHECK(worst_difference(read.model, model, 2) < rounding);
}

TEST_CASE("sphinx: the English trigram of pocketsphinx-en-us") {
  const std::filesystem::path file = SPECLAB_SOURCE_DIR "/data/en-us.lm.bin";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: no data/en-us.lm.bin (scripts/setup.sh pocketsphinx)");
    return;
  }
  const SphinxModel read = read_sphinx(file, 2);
  CHECK(read.model.vocab() == 72547);
  CHECK(read.row_error < 0.01);
  CHECK(read.model.max_row_error(20) < 1e-9);
  const Token of = read.vocabulary.tokens("of")[0];
  const Token the = read.vocabulary.tokens("the")[0];
  const std::vector<Token> context{of};
  CHECK(read.model.probability(context, the) > 3 * read.model.probability({}, the));
}
