#include "serving/advisor/sweep_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "experiments/base/format/config_error.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

namespace {

constexpr std::array parts{"k", "rate", "acceptance", "length", "tpot"};
enum Part : std::size_t { k_part, rate_part, acceptance_part, length_part, tpot_part };

/// The usual names of the columns, in small letters and digits alone, without "average" or the like in front.
const std::array<std::vector<std::string_view>, parts.size()> usual_names{
    {{"k", "n", "γ", "gamma", "nmax", "depth", "mtpk", "draftmax", "draftn", "draftnmax", "drafttokens",
      "specdraftnmax", "numspeculativetokens", "numsteps", "speculativenumsteps"},
     {"toks", "tks", "ts", "tokenss", "tokssec", "tps", "tokenspersecond", "tokpersec", "throughput",
      "decode", "decodetps", "decodetoks", "outputthroughput", "outputtokenthroughputtoks"},
     {"acceptance", "acceptancerate", "acceptrate", "accept", "draftacceptance", "draftacceptancerate"},
     {"length", "acceptlen", "acceptlength", "alen", "acceptancelength", "acceptedlength", "len", "tau", "τ",
      "emittedperverify", "tokensperstep"},
     {"tpotms", "itlms", "mstok", "mstoken", "timeperoutputtokenms"}}};

constexpr double milli = 1e3;

std::string plain_name(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter > 127) plain += c;
    if (letter < 128 && std::isalnum(letter) != 0) plain += static_cast<char>(std::tolower(letter));
  }
  for (const std::string_view word : {"average", "avg", "mean", "aggregate"}) {
    if (plain.starts_with(word)) plain.erase(0, word.size());
  }
  return plain;
}

/// Returns a text, trimmed, without the marks of bold text and code.
std::string without_marks(std::string text) {
  std::erase_if(text, [](char c) { return c == '*' || c == '`'; });
  return trimmed(text);
}

/// Returns the cells of a line, which commas, tabs, two or more blanks, or the bars of Markdown separate.
std::vector<std::string> cells_of(std::string line) {
  line = without_marks(line);
  if (line.starts_with('|')) {
    line.erase(0, 1);
    if (line.ends_with('|')) line.pop_back();
    return split(line, '|');
  }
  if (line.find(',') != std::string::npos) return split(line, ',');
  if (line.find('\t') != std::string::npos) return split(line, '\t');
  for (std::size_t at = line.find("  "); at != std::string::npos; at = line.find("  ", at + 1))
    line.replace(at, line.find_first_not_of(' ', at) - at, "|");
  return split(line, '|');
}

bool is_rule(const std::string& line) {
  return line.starts_with('|') && line.find_first_not_of("|-: ") == std::string::npos;
}

bool is_absent(const std::string& cell) {
  static const std::vector<std::string> words{"", "-", "–", "—", "nan", "n/a", "N/A", "none"};
  return std::ranges::find(words, cell) != words.end();
}

/// Returns the number at the start of a cell, which a unit or an error may follow: "162.1 tok/s", "81.5%"
/// (0.815), "68.6 ± 1.2", "1,227.58"; empty for other texts, such as a range, "1.2k", and the unclear
/// "1,227".
std::optional<double> number_of_cell(const std::string& cell) {
  static const std::regex form(
      R"((\d{1,3}(?:,\d{3})+\.\d+|\d*\.?\d+(?:[eE][+-]?\d+)?) *(%?) *(?:(?![kKMG]\b)(?:[A-Za-z]|×)[^\d(]*)?(?:(?:\(|±|\+-|\+/-).*)?)");
  std::smatch parts_of;
  if (!std::regex_match(cell, parts_of, form)) return std::nullopt;
  std::string digits = parts_of[1];
  std::erase(digits, ',');
  const auto number = number_in(digits);
  constexpr double percent = 100;
  return number && parts_of[2].length() > 0 ? *number / percent : number;
}

/// Returns true for the name of a time, such as "E2E (ms)" or "latency".
bool names_time(const std::string& name) {
  const std::string plain = plain_name(name);
  const auto has = [&](const char* word) { return plain.find(word) != std::string::npos; };
  return (plain.ends_with("ms") || has("tpot") || has("latency") || has("time")) &&
         name.find("/s") == std::string::npos;
}

/// Returns K of a cell such as 4, "n4", "k=3", "4 (default)" or "off"; empty if it has none or several.
std::optional<int> k_of_cell(const std::string& cell) {
  constexpr const char* digits = "0123456789";
  const std::size_t first = cell.find_first_of(digits);
  if (first == std::string::npos) {
    const std::string plain = plain_name(cell);
    const auto begins = [&](std::string_view word) { return plain.starts_with(word); };
    return begins("off") || begins("baseline") || begins("plain") || begins("no") || begins("nano") ||
                   begins("without") || begins("specoff") || plain == "na"
               ? std::optional(0)
               : std::nullopt;
  }
  const std::size_t end = std::min(cell.find_first_not_of(digits, first), cell.size());
  const bool alone = cell.find_first_of(digits, end) == std::string::npos &&
                     cell.find('.') == std::string::npos && !cell.starts_with('-');
  const auto whole = integer_in(cell.substr(first, end - first));
  constexpr int most = 1000;
  if (!alone || !whole || *whole > most) return std::nullopt;
  return static_cast<int>(*whole);
}

class SweepTable {
 public:
  SweepTable(const TextLine& header, const SweepQuestion& question) : question_(question) {
    names_ = cells_of(header.text);
    for (const auto& [field, column] : question.fields) {
      if (std::ranges::find(parts, field) == parts.end())
        throw UsageError("--fields: unknown \"{}\"; expected k, rate or tpot, acceptance or length", field);
      if (field == "rate" && names_time(column))
        throw UsageError(
            "--fields rate={}: this is the name of a time; if it is that of an output token in ms, write tpot={}",
            column, column);
    }
    if (question.fields.contains("rate") && question.fields.contains("tpot"))
      throw UsageError("--fields: rate and tpot both give the speed; name one");
    for (std::size_t part = 0; part < parts.size(); ++part) columns_.at(part) = column_of(header, part);
    // A table with both columns is read by the rate, unless --fields names the time.
    columns_.at(question.fields.contains("tpot") || !columns_[rate_part] ? rate_part : tpot_part).reset();
    speed_ = columns_[rate_part] ? rate_part : tpot_part;
    if (!columns_[k_part] || !columns_.at(speed_) || (!columns_[acceptance_part] && !columns_[length_part])) {
      refuse_line(
          header,
          "\"{}\" lacks a column of {}; expected a line for each K below names such as K,tok/s,acceptance (or accept length), or name them: --fields k=..,rate=..,acceptance=..",
          brief(header.text),
          !columns_[k_part]      ? "the drafted tokens K"
          : !columns_.at(speed_) ? "tokens a second, or of the time per output token, TPOT (ms)"
                                 : "acceptance or accepted length");
    }
    if (question.by.empty()) return;
    const auto at = std::ranges::find(names_, question.by);
    if (at == names_.end())
      throw UsageError("--by {}: {} has no such column: {}", question.by, question.file,
                       brief(fmt::format("{}", fmt::join(names_, ", "))));
    by_ = static_cast<std::size_t>(at - names_.begin());
  }

  /// Returns the columns that are not read, in words.
  std::string unread() const {
    std::string words;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto is = [i](const std::optional<std::size_t>& column) { return column == i; };
      if (!is(by_) && std::ranges::none_of(columns_, is)) words += (words.empty() ? "" : ", ") + names_[i];
    }
    return words;
  }

  bool has_length() const { return columns_[length_part].has_value(); }

  SweepRow row(const TextLine& line) const {
    const std::vector<std::string> cells = cells_of(line.text);
    if (cells.size() != names_.size())
      refuse_line(line, "{} cells; the header has {}", cells.size(), names_.size());
    const auto cell = [&](Part part) { return cells[*columns_.at(part)]; };
    const auto refuse = [&](Part part, const char* expected) {
      refuse_line(line, "{} is \"{}\"; expected {}", names_[*columns_.at(part)], brief(cell(part)), expected);
    };
    SweepRow row{by_ ? cells[*by_] : "", {}};
    const auto k = k_of_cell(cell(k_part));
    if (!k) refuse(k_part, "drafted tokens, such as 4, n4, or off");
    const auto speed = number_of_cell(cell(speed_));
    if (!speed || *speed <= 0) refuse(speed_, "one number above 0, such as 1227.5");
    const double rate = speed_ == rate_part ? *speed : milli * question_.batch / *speed;
    row.point = {
        .k = *k, .tokens_per_step = tokens_of(line, cells, *k), .tokens_per_second = rate, .fitted_ms = {}};
    row.point.step_ms = milli * question_.batch * row.point.tokens_per_step / rate;
    return row;
  }

 private:
  std::optional<std::size_t> column_of(const TextLine& header, std::size_t part) const {
    const auto given = question_.fields.find(parts.at(part));
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto& usual = usual_names.at(part);
      const bool fits =
          given != question_.fields.end()
              ? names_[i] == given->second
              : names_[i] != question_.by && std::ranges::find(usual, plain_name(names_[i])) != usual.end();
      if (!fits) continue;
      if (found)
        refuse_line(header, "\"{}\" and \"{}\" are both columns of {}; name one: --fields {}=...",
                    brief(names_[*found]), brief(names_[i]), parts.at(part), parts.at(part));
      found = i;
    }
    if (given != question_.fields.end() && !found)
      refuse_line(header, "no column \"{}\", which --fields names for {}", given->second, given->first);
    return found;
  }

  double tokens_of(const TextLine& line, const std::vector<std::string>& cells, int k) const {
    if (k == 0) return 1;
    const Part part =
        has_length() && !is_absent(cells[*columns_[length_part]]) ? length_part : acceptance_part;
    if (!columns_.at(part)) refuse_line(line, "no accepted length for K = {}", k);
    const std::string& cell = cells[*columns_.at(part)];
    auto number = number_of_cell(cell);
    constexpr double percent = 100;
    if (number && part == acceptance_part && names_[*columns_.at(part)].find('%') != std::string::npos &&
        !cell.ends_with('%'))
      *number /= percent;
    if (!number)
      refuse_line(line, "{} is \"{}\"; expected one number, such as 0.72 or 72%, or a length such as 3.1",
                  names_[*columns_.at(part)], brief(cell));
    const double tokens = part == length_part ? *number : 1 + k * *number;
    if (!(tokens >= 1 && tokens <= k + 1.0))
      refuse_line(line, "{} {} gives {:.4g} tokens a step, but K = {} gives 1 to {}",
                  names_[*columns_.at(part)], brief(cell), tokens, k, k + 1);
    return tokens;
  }

  const SweepQuestion& question_;
  std::vector<std::string> names_;
  std::array<std::optional<std::size_t>, parts.size()> columns_{};
  Part speed_ = rate_part;  ///< rate_part or tpot_part
  std::optional<std::size_t> by_;
};

}  // namespace

SweepRows read_sweep_table(const SweepQuestion& asked) {
  SweepQuestion question = asked;
  for (auto& [field, column] : question.fields) column = without_marks(column);
  question.by = without_marks(question.by);
  std::vector<TextLine> lines = lines_of(read_log_text(question.file), question.file);
  std::erase_if(lines, [](const TextLine& line) { return is_rule(line.text); });
  if (lines.size() < 3)
    throw UsageError("{}: {} lines; expected a header and two rows or more", question.file, lines.size());
  const SweepTable table(lines.front(), question);
  SweepRows found{{}, table.has_length()};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const SweepRow row = table.row(lines[i]);
    const bool again = std::ranges::any_of(found.rows, [&](const SweepRow& before) {
      return before.sweep == row.sweep && before.point.k == row.point.k;
    });
    if (again && question.by.empty() && !table.unread().empty()) {
      refuse_line(
          lines[i],
          "K = {} comes again; name the column that separates sweeps, --by with one of {}, or leave these out if the lines are runs of one sweep",
          row.point.k, brief(table.unread()));
    }
    found.rows.push_back(row);
  }
  return found;
}

}  // namespace speclab
