#include "serving/advisor/sweep_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <regex>

#include "analysis/cost/speedup_curve.hpp"
#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/interval_fields.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

SPECLAB_RESULT(SweepPoint, "point", k, tokens_per_step, tokens_per_second, step_ms, fitted_ms);
SPECLAB_RESULT(SweepFit, "fit", base_ms, per_token_ms, scatter_percent);
SPECLAB_RESULT(Sweep, "sweep", name, points, fit, best_k, low_k, high_k);
SPECLAB_RESULT(SweepOther, "other", costs, acceptance, best_k, tokens_per_second);
SPECLAB_RESULT(SweepPlan, "sweeps", file, acceptance, confidence, sweeps, others, warnings);

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
  return std::find(words.begin(), words.end(), cell) != words.end();
}

/// Returns the number at the start of a cell, which a unit or an error may follow: "162.1 tok/s", "81.5%"
/// (0.815), "68.6 ± 1.2", "1,227.58"; empty for other texts, such as a range, "1.2k", and "1,227", which may
/// have a decimal comma.
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

/// A row of the table.
struct Measured {
  std::string sweep;
  SweepPoint point;
};

class SweepTable {
 public:
  SweepTable(const TextLine& header, const SweepQuestion& question) : question_(question) {
    names_ = cells_of(header.text);
    for (const auto& [field, column] : question.fields) {
      if (std::find(parts.begin(), parts.end(), field) == parts.end())
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
    const auto at = std::find(names_.begin(), names_.end(), question.by);
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
      if (!is(by_) && std::none_of(columns_.begin(), columns_.end(), is))
        words += (words.empty() ? "" : ", ") + names_[i];
    }
    return words;
  }

  bool has_length() const { return columns_[length_part].has_value(); }

  Measured row(const TextLine& line) const {
    const std::vector<std::string> cells = cells_of(line.text);
    if (cells.size() != names_.size())
      refuse_line(line, "{} cells; the header has {}", cells.size(), names_.size());
    const auto cell = [&](Part part) { return cells[*columns_.at(part)]; };
    const auto refuse = [&](Part part, const char* expected) {
      refuse_line(line, "{} is \"{}\"; expected {}", names_[*columns_.at(part)], brief(cell(part)), expected);
    };
    Measured row{by_ ? cells[*by_] : "", {}};
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
      const bool fits = given != question_.fields.end()
                            ? names_[i] == given->second
                            : names_[i] != question_.by &&
                                  std::find(usual.begin(), usual.end(), plain_name(names_[i])) != usual.end();
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

/// Returns rows of one sweep, those of equal K averaged, by increasing K.
std::vector<SweepPoint> points_of(const std::vector<Measured>& rows, const std::string& name) {
  std::map<int, std::pair<SweepPoint, int>> by_k;
  for (const Measured& row : rows) {
    if (row.sweep != name) continue;
    auto& [sum, count] =
        by_k.try_emplace(row.point.k, SweepPoint{.k = row.point.k, .tokens_per_step = 0, .fitted_ms = {}}, 0)
            .first->second;
    sum.tokens_per_step += row.point.tokens_per_step;
    sum.tokens_per_second += row.point.tokens_per_second;
    sum.step_ms += row.point.step_ms;
    ++count;
  }
  std::vector<SweepPoint> points;
  for (auto& [k, sums] : by_k) {
    auto& [sum, count] = sums;
    points.push_back(
        {k, sum.tokens_per_step / count, sum.tokens_per_second / count, sum.step_ms / count, {}});
  }
  return points;
}

/// Fits the line, and marks the Ks that chance does not tell from the best.
void fit(Sweep& sweep, double confidence) {
  double n = 0, mean_k = 0, mean_ms = 0, squares = 0, products = 0, errors = 0;
  const auto each = [&](auto&& visit) {
    for (SweepPoint& point : sweep.points) {
      if (point.k > 0) visit(point);
    }
  };
  each([&](SweepPoint& point) { ++n, mean_k += point.k, mean_ms += point.step_ms; });
  if (n < 2) return;
  mean_k /= n, mean_ms /= n;
  each([&](SweepPoint& point) {
    squares += (point.k - mean_k) * (point.k - mean_k);
    products += (point.k - mean_k) * (point.step_ms - mean_ms);
  });
  const double slope = products / squares;
  const double base = mean_ms - slope * mean_k;
  each([&](SweepPoint& point) {
    point.fitted_ms = base + slope * point.k;
    errors += std::pow(point.step_ms - *point.fitted_ms, 2);
  });
  sweep.fit = SweepFit{unbounded(base), unbounded(slope), 0};
  if (n < 3) return;
  const double scatter = std::sqrt(errors / (n - 2));
  const double quantile = student_quantile(n - 2, confidence);
  const auto around = [&](double estimate, double deviation) {
    return Interval{estimate, estimate - quantile * deviation, estimate + quantile * deviation};
  };
  sweep.fit = SweepFit{around(base, scatter * std::sqrt(1 / n + mean_k * mean_k / squares)),
                       around(slope, scatter / std::sqrt(squares)), 100 * scatter / mean_ms};
  if (n < 4 || sweep.best_k == 0) return;
  const auto best = std::find_if(sweep.points.begin(), sweep.points.end(),
                                 [&](const SweepPoint& point) { return point.k == sweep.best_k; });
  const double least = best->tokens_per_second * (1 - quantile * std::sqrt(2.0) * scatter / mean_ms);
  auto low = best;
  auto high = best;
  while (low != sweep.points.begin() && (low - 1)->k > 0 && (low - 1)->tokens_per_second >= least) --low;
  while (high + 1 != sweep.points.end() && (high + 1)->tokens_per_second >= least) ++high;
  sweep.low_k = low->k;
  sweep.high_k = high->k;
}

/// Returns the best K with a sweep's step times, if `tokens(k)` are emitted in a step; empty for unknown
/// ones.
template <class Tokens>
SweepOther best_with(const Sweep& costs, const std::string& acceptance, double batch, const Tokens& tokens) {
  SweepOther other{costs.name, acceptance};
  for (const SweepPoint& point : costs.points) {
    const std::optional<double> emitted = tokens(point.k);
    const double rate = emitted ? milli * batch * *emitted / point.step_ms : 0;
    if (rate > other.tokens_per_second) {
      other.best_k = point.k;
      other.tokens_per_second = rate;
    }
  }
  return other;
}

void add_others(const SweepQuestion& question, SweepPlan& plan) {
  for (const Sweep& costs : plan.sweeps) {
    for (const Sweep& acceptance : plan.sweeps) {
      if (&costs == &acceptance) continue;
      plan.others.push_back(
          best_with(costs, acceptance.name, question.batch, [&](int k) -> std::optional<double> {
            for (const SweepPoint& point : acceptance.points) {
              if (point.k == k) return point.tokens_per_step;
            }
            return std::nullopt;
          }));
    }
    for (const double alpha : question.alphas) {
      plan.others.push_back(best_with(costs, fmt::format("α = {:g}", alpha), question.batch, [&](int k) {
        return std::optional(iid_tokens(alpha, k)[static_cast<std::size_t>(k)]);
      }));
    }
  }
}

/// Adds what the step times of a sweep cannot be, if the columns mean what they were taken for.
void add_doubts(const Sweep& sweep, SweepPlan& plan) {
  const std::string of = sweep.name.empty() ? "" : sweep.name + ": ";
  constexpr double noise = 0.95;
  const SweepPoint& plain = sweep.points.front();
  for (const SweepPoint& point : sweep.points) {
    if (plain.k > 0 || point.step_ms >= noise * plain.step_ms) continue;
    plan.warnings.push_back(fmt::format(
        "{}a step at K = {} would take {:.4g} ms, less than the {:.4g} ms without drafts, which cannot be: check the columns, and that all rows had one load",
        of, point.k, point.step_ms, plain.step_ms));
    break;
  }
  if (!sweep.fit) return;
  const Interval& slope = sweep.fit->per_token_ms;
  if ((slope.bounded() ? slope.high : slope.estimate) < 0) {
    plan.warnings.push_back(fmt::format(
        "{}the line falls by {:.4g} ms for each drafted token, which cannot be: check the columns, and that all rows had one load",
        of, -slope.estimate));
  }
}

}  // namespace

SweepPlan plan_sweep(const SweepQuestion& asked) {
  SweepQuestion question = asked;
  for (auto& [field, column] : question.fields) column = without_marks(column);
  question.by = without_marks(question.by);
  const std::string text = read_log_text(question.file);
  std::vector<TextLine> lines = lines_of(text, question.file);
  std::erase_if(lines, [](const TextLine& line) { return is_rule(line.text); });
  if (lines.size() < 3)
    throw UsageError("{}: {} lines; expected a header and two rows or more", question.file, lines.size());
  const SweepTable table(lines.front(), question);
  std::vector<Measured> rows;
  std::vector<std::string> names;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    rows.push_back(table.row(lines[i]));
    const Measured& row = rows.back();
    const bool again = std::any_of(rows.begin(), rows.end() - 1, [&](const Measured& before) {
      return before.sweep == row.sweep && before.point.k == row.point.k;
    });
    if (again && question.by.empty() && !table.unread().empty()) {
      refuse_line(
          lines[i],
          "K = {} comes again; name the column that separates sweeps, --by with one of {}, or leave these out if the lines are runs of one sweep",
          row.point.k, brief(table.unread()));
    }
    if (std::find(names.begin(), names.end(), rows.back().sweep) == names.end())
      names.push_back(rows.back().sweep);
  }
  SweepPlan plan{.file = question.file};
  plan.acceptance = table.has_length()
                        ? "accepted lengths, with the correction or bonus"
                        : "1 + K times the acceptance, taken as accepted / drafted of rounds of K tokens";
  plan.confidence = question.confidence;
  for (const std::string& name : names) {
    Sweep sweep{.name = name, .points = points_of(rows, name)};
    const auto best = std::max_element(
        sweep.points.begin(), sweep.points.end(),
        [](const SweepPoint& a, const SweepPoint& b) { return a.tokens_per_second < b.tokens_per_second; });
    sweep.best_k = best->k;
    fit(sweep, question.confidence);
    if (best + 1 == sweep.points.end() && best->k > 0) {
      plan.warnings.push_back(fmt::format("{}the best K, {}, is the largest of the table: more may be better",
                                          name.empty() ? "" : name + ": ", best->k));
    }
    add_doubts(sweep, plan);
    plan.sweeps.push_back(std::move(sweep));
  }
  add_others(question, plan);
  return plan;
}

}  // namespace speclab
