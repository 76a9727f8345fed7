#include "sim/models/arpa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/stop.hpp"
#include "sim/error.hpp"
#include "sim/text/input_stream.hpp"
#include "sim/text/text_file.hpp"
#include "sim/text/utf8.hpp"

namespace speclab {

namespace {

constexpr double log_of_zero = -99;  // the format's convention
constexpr std::array<std::string_view, 2> sentence_marks{"<s>", "</s>"};

double to_log(double value) { return value > 0 ? std::max(std::log10(value), log_of_zero) : log_of_zero; }
double from_log(double log) { return log <= log_of_zero ? 0 : std::pow(10.0, log); }

struct NumberedNgram {
  ListedNgram ngram;
  std::size_t line;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : name_(file.string()), in_(file) {
    std::error_code ignored;
    if (!in_ || std::filesystem::is_directory(file, ignored))
      throw ModelError(fmt::format("{}: cannot be read; expected an ARPA file", name_));
  }

  ArpaModel read(RowSums sums, std::size_t order, double row_error) {
    read_counts();
    read_unigrams();
    for (std::size_t n = 2; n <= std::min(order, counts_.size()); ++n) read_ngrams(n);
    if (order < counts_.size()) {
      // Only longer n-grams, which are not read, would use these back-off weights.
      for (ListedNgram& ngram : list_.levels.back()) ngram.backoff = 1;
    } else if (line_ != "\\end\\") {
      fail(fmt::format("found \"{}\"", line_), "expected \\end\\");
    }
    drop_added_marks();
    Vocabulary vocabulary = words_are_bytes() ? Vocabulary::bytes() : Vocabulary::words(std::move(words_));
    return naming(name_, [&]() -> ArpaModel {
      NgramModel model(list_, sums);
      refuse_damaged(model.worst_row(), vocabulary, row_error);
      return {std::move(model), std::move(vocabulary)};
    });
  }

 private:
  [[noreturn]] void fail(std::string_view what, std::string_view expected) const {
    fail_at(number_, what, expected);
  }
  [[noreturn]] void fail_at(std::size_t number, std::string_view what, std::string_view expected) const {
    throw ModelError(fmt::format("{}:{}: {}; {}", name_, number, what, expected));
  }

  /// Moves to the next line that is not blank and cuts it into fields.
  void advance(std::string_view expected) {
    do {
      ++number_;
      if (!std::getline(in_, line_)) fail("the file ends here", expected);
      const std::size_t last = line_.find_last_not_of(" \t\r");
      line_.resize(last == std::string::npos ? 0 : last + 1);
    } while (line_.empty());
    fields_.clear();
    const std::string_view line(line_);
    for (std::size_t at = line.find_first_not_of(" \t"); at < line.size();) {
      const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
      fields_.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(" \t", end);
    }
  }

  double logarithm(std::string_view field, std::string_view expected) const {
    const auto value = parsed<double>(field.front() == '+' ? field.substr(1) : field);
    // NaN fails the comparison; -inf, which some tools write for zero, passes. No probability is as large as
    // 10^99.
    if (!value || !(*value < -log_of_zero))
      fail(fmt::format("\"{}\" is not a base-10 logarithm", field), expected);
    return *value;
  }

  /// Reads \data\, then "ngram n=count" lines; leaves the reader on the line after them.
  void read_counts() {
    do {
      advance("expected \\data\\");
      if (line_.starts_with("\xef\xbb\xbf"))
        fail("begins with a byte order mark, the bytes EF BB BF", "leave them out (tail -c +4)");
    } while (line_ != "\\data\\");
    for (advance("expected \"ngram 1=COUNT\""); fields_[0] == "ngram"; advance("expected \\1-grams:")) {
      const std::string wanted = fmt::format("ngram {}=", counts_.size() + 1);
      const auto count = line_.starts_with(wanted)
                             ? parsed<std::size_t>(std::string_view(line_).substr(wanted.size()))
                             : std::nullopt;
      if (!count) fail(fmt::format("found \"{}\"", line_), fmt::format("expected \"{}COUNT\"", wanted));
      counts_.push_back(*count);
    }
    if (counts_.empty()) fail(fmt::format("found \"{}\"", line_), "expected \"ngram 1=COUNT\"");
    if (counts_.size() > max_ngram_order) {
      fail(fmt::format("the model has order {}", counts_.size()),
           fmt::format("orders up to {} are supported", max_ngram_order));
    }
    if (counts_[0] < 1 || counts_[0] > static_cast<std::size_t>(max_ngram_vocab)) {
      fail(fmt::format("the model has {} unigrams", counts_[0]),
           fmt::format("expected 1 to {}", max_ngram_vocab));
    }
    list_.vocab = static_cast<std::int32_t>(counts_[0]);
    packing_ = NgramPacking(list_.vocab);
  }

  /// Reads the lines of section n, calling entry(words) -> key for each; leaves the reader on the line after
  /// it.
  template <class Entry>
  std::vector<NumberedNgram> read_section(std::size_t n, const Entry& entry) {
    const std::string header = fmt::format("\\{}-grams:", n);
    if (line_ != header) fail(fmt::format("found \"{}\"", line_), fmt::format("expected {}", header));
    std::vector<NumberedNgram> ngrams;
    const std::string expected =
        fmt::format("expected {} {}-grams, then the next section", counts_[n - 1], n);
    for (advance(expected); fields_[0].front() != '\\'; advance(expected)) {
      if (fields_.size() < n + 1 || fields_.size() > n + 2) {
        fail(fmt::format("{} fields", fields_.size()),
             fmt::format("expected a log10 probability, {} word{}, and perhaps a log10 back-off weight", n,
                         n == 1 ? "" : "s"));
      }
      const double log = logarithm(fields_[0], "expected a probability");
      if (log > 0) fail(fmt::format("log10 probability {}", fields_[0]), "expected 0 or less");
      double weight = 0;
      if (fields_.size() == n + 2) weight = logarithm(fields_.back(), "expected a back-off weight");
      if (n == counts_.size() && weight != 0) {
        fail(fmt::format("back-off weight {}", fields_.back()),
             "expected none, as this is the highest order");
      }
      const PackedNgram key = entry(std::span(fields_).subspan(1, n));
      ngrams.push_back({{key, from_log(log), from_log(weight)}, number_});
    }
    if (ngrams.size() != counts_[n - 1]) {
      fail(fmt::format("section {} ends after {} n-grams", header, ngrams.size()),
           fmt::format("its count above is {}", counts_[n - 1]));
    }
    return ngrams;
  }

  void read_unigrams() {
    const auto ngrams = read_section(1, [&](std::span<const std::string_view> words) {
      const auto id = static_cast<Token>(words_.size());
      if (first_not_utf8(words[0]))
        fail(fmt::format("the word \"{}\" is not UTF-8", words[0]), "convert the file, as by iconv");
      if (!ids_.emplace(words[0], id).second)
        fail(fmt::format("the word \"{}\" is listed twice", words[0]), "expected each word once");
      words_.emplace_back(words[0]);
      return PackedNgram{static_cast<std::uint32_t>(id)};
    });
    list_.levels.emplace_back();
    for (const NumberedNgram& numbered : ngrams) list_.levels[0].push_back(numbered.ngram);
    if (const auto start = ids_.find("<s>"); start != ids_.end())
      list_.levels[0][static_cast<std::size_t>(start->second)].probability = 0;
  }

  void read_ngrams(std::size_t n) {
    auto ngrams = read_section(n, [&](std::span<const std::string_view> words) {
      PackedNgram key = 0;
      for (const std::string_view word : words) {
        const auto found = ids_.find(std::string(word));
        if (found == ids_.end())
          fail(fmt::format("the word \"{}\" is not among the unigrams", word), "expected words listed there");
        key = packing_.append(key, found->second);
      }
      return key;
    });
    std::ranges::stable_sort(ngrams, [](const auto& a, const auto& b) { return a.ngram.key < b.ngram.key; });
    std::vector<ListedNgram>& level = list_.levels.emplace_back();
    level.reserve(ngrams.size());
    for (const NumberedNgram& numbered : ngrams) {
      if (!level.empty() && level.back().key == numbered.ngram.key)
        fail_at(numbered.line, fmt::format("this {}-gram is listed twice", n), "expected each n-gram once");
      level.push_back(numbered.ngram);
    }
  }

  static void refuse_damaged(const NgramModel::WorstRow& worst, const Vocabulary& vocabulary,
                             double row_error) {
    if (std::abs(worst.sum - 1) <= row_error) return;
    std::string context;
    for (const Token token : worst.context) context += (context.empty() ? "" : " ") + vocabulary.text(token);
    throw ModelError(fmt::format(
        "probabilities {} sum to {:.6g}; expected 1 to within {}: the file is damaged, not a back-off model, or needs a larger row_error",
        context.empty() ? "of the unigrams" : fmt::format("after \"{}\"", context), worst.sum, row_error));
  }

  /// Removes marks that `write_arpa` added (see `read_arpa`). Keys depend on the size of the vocabulary.
  void drop_added_marks() {
    const std::size_t marks = sentence_marks.size();
    if (words_.size() <= marks) return;
    const std::size_t kept = words_.size() - marks;
    for (std::size_t i = 0; i < marks; ++i) {
      const ListedNgram& mark = list_.levels[0][kept + i];
      if (words_[kept + i] != sentence_marks[i] || mark.probability != 0 || mark.backoff != 1) return;
    }
    const auto used = [&](const std::vector<ListedNgram>& level, int length) {
      return std::ranges::any_of(level, [&](const ListedNgram& ngram) {
        const auto tokens = packing_.unpack(ngram.key, length);
        return std::any_of(tokens.begin(), tokens.begin() + length,
                           [&](Token token) { return static_cast<std::size_t>(token) >= kept; });
      });
    };
    for (std::size_t n = 2; n <= list_.levels.size(); ++n) {
      if (used(list_.levels[n - 1], static_cast<int>(n))) return;
    }
    words_.resize(kept);
    list_.vocab = static_cast<std::int32_t>(kept);
    list_.levels[0].resize(kept);
    const NgramPacking packing(list_.vocab);
    for (std::size_t n = 2; n <= list_.levels.size(); ++n) {
      for (ListedNgram& ngram : list_.levels[n - 1]) {
        const auto tokens = packing_.unpack(ngram.key, static_cast<int>(n));
        PackedNgram key = 0;
        for (std::size_t i = 0; i < n; ++i) key = packing.append(key, tokens[i]);
        ngram.key = key;
      }
    }
  }

  bool words_are_bytes() const {
    const Vocabulary bytes = Vocabulary::bytes();
    if (list_.vocab != bytes.size()) return false;
    for (Token id = 0; id < bytes.size(); ++id) {
      if (words_[static_cast<std::size_t>(id)] != bytes.text(id)) return false;
    }
    return true;
  }

  std::string name_;
  InputStream in_;
  std::size_t number_ = 0;
  std::string line_;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> counts_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, Token> ids_;
  NgramPacking packing_{1};
  NgramList list_;
};

}  // namespace

void write_arpa(const NgramModel& model, const Vocabulary& vocabulary, std::ostream& out) {
  assert(model.vocab() == vocabulary.size());
  const NgramPacking packing(model.vocab());
  const NgramList list = model.listed();
  std::vector<std::string_view> added;
  for (const std::string_view mark : sentence_marks) {
    bool there = false;
    for (Token id = 0; id < vocabulary.size(); ++id) there = there || vocabulary.text(id) == mark;
    if (!there) added.push_back(mark);
  }
  out << "\\data\\\n";
  for (std::size_t n = 1; n <= list.levels.size(); ++n)
    out << fmt::format("ngram {}={}\n", n, list.levels[n - 1].size() + (n == 1 ? added.size() : 0));
  std::string line;
  StopCounter now_and_then(1 << 12);
  for (std::size_t n = 1; n <= list.levels.size(); ++n) {
    out << fmt::format("\n\\{}-grams:\n", n);
    for (const ListedNgram& ngram : list.levels[n - 1]) {
      now_and_then.step();
      line = fmt::format("{:.17g}\t", to_log(ngram.probability));
      const auto tokens = packing.unpack(ngram.key, static_cast<int>(n));
      for (std::size_t i = 0; i < n; ++i) line.append(i > 0 ? " " : "").append(vocabulary.text(tokens[i]));
      if (ngram.backoff != 1) line += fmt::format("\t{:.17g}", to_log(ngram.backoff));
      out << line << '\n';
    }
    for (const std::string_view mark : added) {
      if (n == 1) out << fmt::format("{}\t{}\n", log_of_zero, mark);
    }
  }
  out << "\n\\end\\\n";
}

ArpaModel read_arpa(const std::filesystem::path& file, RowSums sums, int order, double row_error) {
  assert(1 <= order && order <= max_ngram_order);
  return Reader(file).read(sums, static_cast<std::size_t>(order), row_error);
}

}  // namespace speclab
