#include "serving/advisor/log_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/recorded/recording_estimates.hpp"
#include "analysis/statistics/differences.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/support/mapped_file.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_file.hpp"
#include "serving/advisor/log_source.hpp"

namespace speclab {

SPECLAB_RESULT(ComparedNumber, "compared number", name, first, second, difference, p, found);
SPECLAB_RESULT(ComparedFile, "compared file", file, format, units, drafted);
SPECLAB_RESULT(LogComparison, "comparison", first, second, paired, confidence, power, numbers, positions,
               adjusted, warnings);

namespace {

/// A ratio of sums over the parts of a file. If the parts are not known, `alone` computes its interval.
struct SampleRatio {
  std::string name;
  bool of_position = false;
  std::vector<double> numerators = {};
  std::vector<double> denominators = {};
  Support support{0, 1};
  IntervalAt alone = {};

  IntervalAt interval() const {
    if (alone) return alone;
    return [this](double confidence) {
      return bounded_ratio_interval(numerators, denominators, support, confidence);
    };
  }
  bool neighbours_alike() const {
    const double all = std::accumulate(denominators.begin(), denominators.end(), 0.0);
    const double ratio = std::accumulate(numerators.begin(), numerators.end(), 0.0) / all;
    return all > 0 && speclab::neighbours_alike(numerators, denominators, ratio);
  }
};

struct Sample : ComparedFile {
  /// The number of independent parts; infinite for totals, whose rounds are taken as independent.
  double parts = std::numeric_limits<double>::infinity();
  bool in_order = false;  ///< parts are pieces of one text or log, whose neighbours may be alike
  std::vector<SampleRatio> ratios = {};
  std::vector<double> text = {};  ///< a recording's log-probabilities under the target
  std::string page = {};          ///< a log's text, if it has counters since a server's start
};

constexpr const char* alpha_name = "α, accepted / examined";
constexpr const char* tokens_name = "tokens per target step";

std::string position_name(std::size_t i) { return fmt::format("position {}, given those before", i + 1); }

/// Counts of one part of a log.
struct LogPart {
  double rounds = 0;
  double accepted = 0;
  std::optional<PositionCounts> counts = {};  ///< empty if only sums are known
};

LogPart part_of(const PositionCounts& counts) {
  return {static_cast<double>(counts.rounds), static_cast<double>(counts.total_accepted()), counts};
}

LogPart part_of(const AcceptanceFile& log) {
  if (!log.means) return part_of(log.counts);
  const auto rounds = static_cast<double>(log.means->rounds);
  return {rounds, rounds * log.means->accepted};
}

/// Parts of a log that its format can read one by one.
struct Records {
  std::string kind = {};  ///< "requests", "JSON objects" or "lines"
  std::vector<std::string> texts = {};
  std::vector<LogPart> parts = {};  ///< the counts of those texts that have drafts
};

/// Returns the texts of a log's records: of the rows or JSON documents of each request, or else of each JSON
/// document or line.
Records record_texts(const LogSource& source, const std::string& asked) {
  constexpr std::size_t most = 200'000;
  const auto is_request = [&](const std::string& name) {
    return asked.empty() ? name == "request" || name == "request_id" || name == "sequence" : name == asked;
  };
  Records records;
  std::map<std::string, std::size_t> places;
  const auto text_of = [&](const std::string& request, const std::string& start) -> std::string& {
    const auto [at, is_new] = places.emplace(request, records.texts.size());
    if (is_new) records.texts.push_back(start);
    return records.texts[at->second];
  };
  if (const auto& documents = source.documents(); !documents.empty()) {
    records.kind = "JSON objects";
    for (const JsonDocument& document : documents) {
      std::string request = document.where;
      for (const auto& [key, value] : document.value.items()) {
        if (!document.value.is_object() || !is_request(key)) continue;
        request = value.dump();
        records.kind = "requests";
      }
      text_of(request, "") += document.value.dump() + "\n";
    }
  } else if (const auto names = header_names(source.lines().front().text); !names.empty()) {
    records.kind = "requests";
    const auto column = std::find_if(names.begin(), names.end(), is_request);
    for (std::size_t i = 1; i < source.lines().size() && column != names.end(); ++i) {
      const TextLine& line = source.lines()[i];
      const std::vector<std::string> fields = split(line.text, ',');
      const auto place = static_cast<std::size_t>(column - names.begin());
      if (place >= fields.size()) refuse_line(line, "no value in the column \"{}\"", *column);
      text_of(fields[place], source.lines().front().text + "\n") += line.text + "\n";
    }
  } else if (asked.empty() && source.lines().size() <= most) {
    records.kind = "lines";
    for (const TextLine& line : source.lines()) records.texts.push_back(line.text + "\n");
  }
  if (!asked.empty() && places.size() < 2)
    throw UsageError("--request {}: {} has no such column or key with several values", asked, source.name());
  return records;
}

/// Returns a log's records. They have no parts if the counts of all parts do not add up to those of the log.
Records records_of(const std::string& text, const LogPart& whole, const ComparisonQuestion& question,
                   const std::string& file) {
  Records records = record_texts(LogSource(text, file, question.log), question.request);
  std::vector<LogPart>& parts = records.parts;
  LogPart sums;
  std::uint64_t examined = 0;
  LogOptions options = question.log;
  options.part = true;
  for (const std::string& record : records.texts) {
    try {
      parts.push_back(part_of(acceptance_in(record, file, options)));
    } catch (const UsageError&) {
      continue;  // a record without drafts, or a line of something else
    }
    sums.rounds += parts.back().rounds;
    sums.accepted += parts.back().accepted;
    if (parts.back().counts) examined += parts.back().counts->total_examined();
  }
  constexpr double rounding = 1e-9;
  const auto same = [](double a, double b) { return std::abs(a - b) <= rounding * std::max(a, b); };
  const bool one_round_each = std::all_of(
      parts.begin(), parts.end(), [](const LogPart& part) { return part.counts && part.rounds == 1; });
  const bool all =
      same(sums.accepted, whole.accepted) &&
      (whole.counts ? examined == whole.counts->total_examined() : same(sums.rounds, whole.rounds));
  if (all && parts.size() > 1 && (!one_round_each || records.kind == "requests")) return records;
  if (question.request.empty()) return {};
  throw UsageError("--request {}: {}: its requests alone do not give what the whole log does; leave it out",
                   question.request, file);
}

/// Returns 50 pieces of consecutive rounds, or each round of a short log.
std::vector<LogPart> pieces_of(const std::vector<LoggedRound>& rounds) {
  constexpr std::size_t most = 50;
  const std::size_t pieces = rounds.size() >= 2 * most ? most : rounds.size();
  std::vector<LogPart> parts;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t first = i * rounds.size() / pieces;
    const std::size_t last = (i + 1) * rounds.size() / pieces;
    parts.push_back(part_of(count_positions(std::span(rounds).subspan(first, last - first))));
  }
  return parts;
}

void add_parts(Sample& sample, const std::vector<LogPart>& parts, std::size_t longest) {
  sample.parts = static_cast<double>(parts.size());
  SampleRatio alpha{alpha_name};
  SampleRatio tokens{.name = tokens_name, .support = {1, static_cast<double>(longest) + 1}};
  std::vector<SampleRatio> positions;
  for (std::size_t i = 0; i < longest; ++i) positions.push_back({position_name(i), true});
  for (const LogPart& part : parts) {
    tokens.numerators.push_back(part.accepted + part.rounds);
    tokens.denominators.push_back(part.rounds);
    if (!part.counts) continue;
    alpha.numerators.push_back(part.accepted);
    alpha.denominators.push_back(static_cast<double>(part.counts->total_examined()));
    for (std::size_t i = 0; i < longest; ++i) {
      const bool there = i < part.counts->examined.size();
      positions[i].numerators.push_back(there ? static_cast<double>(part.counts->accepted[i]) : 0);
      positions[i].denominators.push_back(there ? static_cast<double>(part.counts->examined[i]) : 0);
    }
  }
  if (alpha.numerators.size() == parts.size()) {
    sample.ratios = std::move(positions);
    sample.ratios.insert(sample.ratios.begin(), std::move(alpha));
  }
  sample.ratios.push_back(std::move(tokens));
}

/// Adds the ratios of totals by position, whose rounds are taken as independent.
void add_totals(Sample& sample, const PositionCounts& counts) {
  const auto add = [&](std::string name, bool of_position, std::uint64_t accepted, std::uint64_t examined) {
    SampleRatio& ratio = sample.ratios.emplace_back(SampleRatio{std::move(name), of_position});
    ratio.alone = [=](double confidence) { return binomial_interval(accepted, examined, confidence); };
  };
  add(alpha_name, false, counts.total_accepted(), counts.total_examined());
  SampleRatio& tokens_per_step = sample.ratios.emplace_back(SampleRatio{tokens_name});
  tokens_per_step.alone = [counts](double confidence) {
    const PositionalTokens tokens = positional_tokens(counts, confidence);
    return Interval{tokens.tokens.back(), tokens.low.back(), tokens.high.back()};
  };
  for (std::size_t i = 0; i < counts.examined.size(); ++i)
    add(position_name(i), true, counts.accepted[i], counts.examined[i]);
}

Sample log_sample(const std::string& file, const ComparisonQuestion& question,
                  std::vector<std::string>& warnings) {
  const std::string text = read_log_text(file);
  const AcceptanceFile log = acceptance_in(text, file, question.log);
  for (const std::string& warning : log.warnings) warnings.push_back(file + ": " + warning);
  const LogPart whole = part_of(log);
  Sample sample{{.file = file, .format = log.format}};
  if (log.format.ends_with("_metrics")) sample.page = text;
  sample.drafted = log.means ? log.means->drafted : static_cast<double>(log.drafted) / whole.rounds;
  std::vector<LogPart> lines;
  for (std::size_t i = 0; log.means && i < log.means->weights.size(); ++i)
    lines.push_back({log.means->weights[i], log.means->weights[i] * log.means->accepted_by_line[i]});
  if (lines.size() > 1) {
    sample.units = fmt::format("{} lines of means, by their weight", lines.size());
    add_parts(sample, lines, log.longest());
  } else if (const Records records = records_of(text, whole, question, file); !records.parts.empty()) {
    sample.units = fmt::format("{} {}", records.parts.size(), records.kind);
    add_parts(sample, records.parts, log.longest());
  } else if (!log.rounds.empty()) {
    const std::vector<LogPart> pieces = pieces_of(log.rounds);
    sample.in_order = true;
    const bool single = pieces.size() == log.rounds.size();
    sample.units =
        fmt::format("{}{} rounds, for it names no requests",
                    single ? "" : fmt::format("{} pieces of its ", pieces.size()), log.rounds.size());
    add_parts(sample, pieces, log.longest());
  } else if (!log.means) {
    sample.units = fmt::format("{} rounds, for it has their totals alone", log.counts.rounds);
    add_totals(sample, log.counts);
  } else {
    throw UsageError(
        "{}: ({}) gives one mean, and nothing that says how much it varies; give a log whose requests or lines can be read one by one",
        file, log.format);
  }
  return sample;
}

Sample recording_sample(const std::string& file, const ComparisonQuestion& question) {
  const ReadRecording read = read_recording(file);
  const Recording& recording = read.recording;
  const IntervalUnits units = interval_units(recording.sequences);
  const std::size_t parts = units.stretches.size();
  Sample sample{{.file = file, .format = read.format}};
  sample.units = fmt::format("{} {}", parts, units.whole_sequences ? "sequences" : "stretches of text");
  sample.drafted = question.gamma;
  sample.parts = static_cast<double>(parts);
  sample.in_order = !units.whole_sequences;
  sample.text = recording.target;
  const std::vector<double> kept =
      recording.rows.empty() ? keep_probabilities(recording) : recording.rows.overlap;
  SampleRatio alpha{"α, mean overlap"};
  SampleRatio tokens{.name = tokens_name, .support = {1, question.gamma + 1.0}};
  const auto gamma = static_cast<std::size_t>(question.gamma);
  if (recording.by_depth() && recording.draft.size() < gamma)
    throw UsageError("--gamma {}: {} has columns for {} drafted tokens", gamma, file, recording.draft.size());
  if (recording.drawn)
    tokens.denominators = expected_rounds(recording, units.stretches, gamma)[gamma - 1].rounds;
  for (const Stretch& part : units.stretches) {
    const auto here = std::span(kept).subspan(part.first, part.last - part.first);
    alpha.numerators.push_back(std::accumulate(here.begin(), here.end(), 0.0));
    alpha.denominators.push_back(static_cast<double>(here.size()));
    tokens.numerators.push_back(static_cast<double>(here.size()));
  }
  sample.ratios.push_back(std::move(alpha));
  if (recording.drawn) sample.ratios.push_back(std::move(tokens));
  return sample;
}

std::optional<ComparedNumber> compared(const SampleRatio& first, const SampleRatio& second, double parts,
                                       const LogComparison& how) {
  IntervalAt difference = independent_difference(first.interval(), second.interval());
  if (how.paired) {
    difference = [&](double confidence) {
      return paired_difference({second.numerators, second.denominators},
                               {first.numerators, first.denominators}, confidence);
    };
  }
  const auto one = first.interval()(how.confidence);
  const auto other = second.interval()(how.confidence);
  const auto found = judged(difference, how.confidence, how.power, parts);
  if (!one || !other || !found) return std::nullopt;
  ComparedNumber number{first.name, one->estimate, other->estimate, found->value, std::nullopt, found->found};
  if (found->value.bounded()) number.p = found->p;
  return number;
}

void adjust(std::vector<ComparedNumber>& numbers) {
  std::vector<double> p_values;
  for (const ComparedNumber& one : numbers) p_values.push_back(one.p.value_or(1));
  p_values = holm_adjusted(p_values);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].p) numbers[i].p = p_values[i];
  }
}

void warn(const Sample& first, const Sample& second, LogComparison& comparison) {
  constexpr double same_length = 0.01;
  if (std::abs(first.drafted - second.drafted) > same_length * first.drafted) {
    comparison.warnings.push_back(fmt::format(
        "{} drafted {:.4g} tokens a round and {} {:.4g}: tokens per target step differ through that, too",
        first.file, first.drafted, second.file, second.drafted));
  }
  for (const Sample* sample : {&first, &second}) {
    if (sample->parts < min_skewed_batches) {
      comparison.warnings.push_back(fmt::format(
          "{} has {}: where fewer than {} differ much in length, 95% intervals miss the difference, and p is below 0.05 without one, in up to one case of ten",
          sample->file, sample->units, min_skewed_batches));
    }
    if (sample->in_order && sample->parts > 2 && sample->ratios.front().neighbours_alike()) {
      comparison.warnings.push_back(fmt::format(
          "{}: neighbouring pieces are alike (at level 0.05), so that intervals may be too narrow; a log with a column of requests has better ones",
          sample->file));
    }
  }
}

/// Warns if the second file may be a later page of the first one's server.
void warn_of_one_server(const Sample& first, const Sample& second, LogOptions since,
                        std::vector<std::string>& warnings) {
  if (first.page.empty() || first.format != second.format) return;
  since.earlier = first.page;
  since.earlier_file = first.file;
  try {
    acceptance_in(second.page, second.file, since);
  } catch (const UsageError&) {
    return;  // a counter fell, or the pages say that their servers are not the same
  }
  warnings.push_back(fmt::format(
      "Every counter of {0} is at least that of {1}: if these are pages of one server, one contains the rounds of the other, and they are not independent; plan log {2} --since {3} gives the rounds between them",
      second.file, first.file, shell_word(second.file), shell_word(first.file)));
}

bool hold_the_same(const std::string& first, const std::string& second) {
  std::error_code error;
  return std::filesystem::file_size(first, error) == std::filesystem::file_size(second, error) && !error &&
         MappedFile(first).bytes() == MappedFile(second).bytes();
}

}  // namespace

LogComparison compare_logs(const ComparisonQuestion& question) {
  LogComparison comparison{.confidence = question.confidence, .power = question.power};
  const bool recordings = is_recording(question.first);
  if (recordings != is_recording(question.second)) {
    throw UsageError("{} is a {} and {} a {}; give two of a kind", question.first,
                     recordings ? "recording" : "log", question.second, recordings ? "log" : "recording");
  }
  const auto sample_of = [&](const std::string& file) {
    return recordings ? recording_sample(file, question) : log_sample(file, question, comparison.warnings);
  };
  const Sample first = sample_of(question.first);
  const Sample second = sample_of(question.second);
  if (hold_the_same(question.first, question.second))
    throw UsageError("{} and {} hold the same; give two logs", question.first, question.second);
  warn_of_one_server(first, second, question.log, comparison.warnings);
  warn_of_one_server(second, first, question.log, comparison.warnings);
  comparison.first = first;
  comparison.second = second;
  const bool same_text = recordings && first.parts == second.parts && first.text == second.text;
  comparison.paired = question.paired || same_text;
  if (comparison.paired && (first.parts != second.parts || std::isinf(first.parts))) {
    throw UsageError("--paired: {} has {}, and {} has {}; requests of both must stand in the same order",
                     question.first, first.units, question.second, second.units);
  }
  for (const SampleRatio& one : first.ratios) {
    const auto other = std::find_if(second.ratios.begin(), second.ratios.end(),
                                    [&](const SampleRatio& two) { return two.name == one.name; });
    if (other == second.ratios.end()) continue;
    auto number = compared(one, *other, std::min(first.parts, second.parts), comparison);
    if (number) (one.of_position ? comparison.positions : comparison.numbers).push_back(std::move(*number));
  }
  adjust(comparison.positions);
  warn(first, second, comparison);
  return comparison;
}

}  // namespace speclab
