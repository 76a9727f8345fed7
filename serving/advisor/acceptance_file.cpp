#include "serving/advisor/acceptance_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/recording/json_document.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

/// Rounds of a file that no server wrote may draft more tokens on average only if --drafted says so.
constexpr double usual_draft = 32;
/// A range of alpha that follows from rounded rates is mentioned if it is wider than this.
constexpr double noted_rounding = 1e-4;
/// Rounds differ in length at least because the last round of a text is cut. A share of undrafted positions
/// above `short_share` is mentioned; above `cut_share` no α follows.
constexpr double short_share = 0.01;
constexpr double cut_share = 0.1;

/// Returns a sentence about records that do not state the length of each round (empty if there is nothing to
/// say), and whether no α follows from them.
std::pair<std::string, bool> judge_lengths(const ModelLog& log) {
  const std::uint64_t rounds = log.summed_rounds + log.counts.rounds;
  const std::uint64_t drafted = log.summed_drafted + log.counted;
  const std::uint64_t accepted = log.summed_accepted + log.counts.total_accepted();
  const double share = static_cast<double>(log.short_by) / static_cast<double>(drafted + log.short_by);
  if (accepted == 0 || share <= short_share) return {};
  // In counts by position, undrafted positions may count as rejected. Means leave open whether one round or
  // all rounds had a rejection.
  const bool means = log.summed_rounds > 0;
  const std::uint64_t most =
      means ? std::min(drafted - accepted, rounds) : log.counts.total_examined() - accepted;
  const std::uint64_t least = means ? std::min<std::uint64_t>(most, 1) : most - std::min(log.short_by, most);
  const bool refused = share > cut_share && log.short_by >= log.lengths.rbegin()->first;
  const auto kept = static_cast<double>(accepted);
  return {
      fmt::format(
          "{} tokens were drafted in {} rounds, {:.1f}% fewer than if all rounds of a record drafted equally many: α is between {:.4g} and {:.4g}{}",
          drafted, rounds, 100 * share, kept / static_cast<double>(accepted + most),
          kept / static_cast<double>(accepted + least),
          refused
              ? ", so that no γ follows; give a log of single rounds, or let every round draft the same number of tokens"
              : "; a log of rounds would determine it"),
      refused};
}

/// Returns a warning if more rounds are short than the last ones of texts; empty if they are not.
std::string different_lengths(const ModelLog& log) {
  if (log.lengths.empty()) return "";
  const std::uint64_t longest = log.lengths.rbegin()->first;
  double all = 0;
  double undrafted = -static_cast<double>(log.short_by);
  for (const auto& [length, weight] : log.lengths) {
    all += weight * static_cast<double>(longest);
    undrafted += weight * static_cast<double>(longest - length);
  }
  if (undrafted <= short_share * all) return "";
  return fmt::format(
      "Rounds drafted {} to {} tokens. If a draft stops because it doubts a token (llama.cpp's --spec-draft-p-min), the rates hold only for the tokens that it drafted, and rounds of a fixed γ have lower rates; if the log is of servers with different settings, plan for each of them",
      log.lengths.begin()->first, longest);
}

AcceptanceFile file_of(ModelLog log) {
  AcceptanceFile found;
  found.warnings = std::move(log.warnings);
  for (const std::string& warning : {judge_lengths(log).first, different_lengths(log)}) {
    if (!warning.empty()) found.warnings.push_back(warning);
  }
  if (!log.rounds.empty()) {
    found.counts = count_positions(log.rounds);
    for (const LoggedRound& round : log.rounds) found.drafted += static_cast<std::uint64_t>(round.drafted);
    found.rounds = std::move(log.rounds);
    return found;
  }
  if (log.summed_rounds > 0 || !log.weights.empty()) {
    LoggedMeans means;
    if (log.weights.empty()) {
      // If some records have no positions, only the sums of all records are used.
      means.rounds = log.summed_rounds + log.counts.rounds;
      const auto rounds = static_cast<double>(means.rounds);
      means.drafted = static_cast<double>(log.summed_drafted + log.counted) / rounds;
      means.accepted = static_cast<double>(log.summed_accepted + log.counts.total_accepted()) / rounds;
      means.lengths = std::move(log.lengths);
    } else {
      means.drafted = log.gamma;
      means.accepted =
          std::inner_product(log.weights.begin(), log.weights.end(), log.accepted_by_line.begin(), 0.0) /
          std::accumulate(log.weights.begin(), log.weights.end(), 0.0);
      means.accepted_by_line = std::move(log.accepted_by_line);
      means.weights = std::move(log.weights);
    }
    found.means = std::move(means);
    return found;
  }
  found.counts = log.counts;
  found.drafted = log.counted;
  const auto accepted = static_cast<double>(log.counts.total_accepted());
  const auto examined = static_cast<double>(log.counts.total_examined());
  const double low = accepted / (examined + static_cast<double>(log.full_fewer));
  const double high = accepted / std::max(examined - static_cast<double>(log.full_more), accepted);
  if (high - low > noted_rounding) {
    found.warnings.push_back(fmt::format(
        "The rates by position are rounded, and with them the number of rounds that accepted all drafted tokens: α is between {:.4g} and {:.4g}",
        low, high));
  }
  return found;
}

std::string summary(const AcceptanceFile& log) {
  if (log.means) {
    return fmt::format("{:.4g} of {:.4g} drafted tokens per round accepted", log.means->accepted,
                       log.means->drafted);
  }
  return fmt::format(
      "{} rounds, {:.4g} of {} examined tokens accepted", log.counts.rounds,
      static_cast<double>(log.counts.total_accepted()) / static_cast<double>(log.counts.total_examined()),
      log.counts.total_examined());
}

/// Returns the acceptance of each model that drafted something. Throws UsageError if none did.
std::map<std::string, AcceptanceFile> by_model(ModelLogs logs, const std::string& file) {
  std::map<std::string, AcceptanceFile> found;
  for (auto& [name, log] : logs) {
    AcceptanceFile one = file_of(std::move(log));
    one.model = name;
    const bool drafted = one.means ? one.means->drafted > 0 : one.counts.total_examined() > 0;
    if (drafted) found.emplace(name, std::move(one));
  }
  if (found.empty()) throw UsageError("{}: no token was drafted", file);
  return found;
}

/// Returns the acceptance of the named model, or of the only one. Models differ and are never summed.
AcceptanceFile of_model(ModelLogs logs, const std::string& file, const LogOptions& options) {
  const std::string& model = options.model;
  std::map<std::string, std::string> refusals;
  for (const auto& [name, log] : logs) {
    const auto [sentence, refused] = judge_lengths(log);
    const bool unequal = refused && log.refusal.empty() && !options.part;
    refusals[name] = unequal ? file + ": " + sentence : log.refusal;
  }
  const auto chosen = [&](std::pair<const std::string, AcceptanceFile>& one) {
    if (!refusals[one.first].empty()) throw UsageError(refusals[one.first]);
    return std::move(one.second);
  };
  std::map<std::string, AcceptanceFile> found = by_model(std::move(logs), file);
  if (!model.empty()) {
    const auto named = found.find(model);
    if (named != found.end()) return chosen(*named);
    if (found.size() == 1 && found.begin()->first.empty()) {
      throw UsageError("--model {}: {} names no models; leave it out", model, file);
    }
    std::vector<std::string> names;
    for (const auto& [name, log] : found) names.push_back(name);
    throw UsageError("--model {}: {} has no such model_name{}", model, file, suggestion(model, names));
  }
  if (found.size() == 1) return chosen(*found.begin());
  std::string each;
  for (const auto& [name, log] : found) {
    each += fmt::format("\n  --model {}: {}", shell_word(name), summary(log));
  }
  throw UsageError("{}: counters of {} models, whose acceptance is not one number; choose one:{}", file,
                   found.size(), each);
}

bool is_json(const TextLine& line) {
  return (line.text.front() == '{' || line.text.front() == '[') &&
         !json_line(line.text, line.where).is_discarded();
}

bool is_numbers(const TextLine& line) {
  return line.text.find_first_not_of("0123456789, \t") == std::string::npos &&
         line.text.find(',') < line.text.size() - 1;
}

/// Adds the formats that fit the lines of one kind, when these are read without the others.
void add_formats_of(const LogSource& source, bool (*is_kind)(const TextLine&),
                    std::vector<const LogFormat*>& fitting) {
  std::string text;
  for (const TextLine& line : source.lines()) {
    if (is_kind(line)) text += line.text + "\n";
  }
  if (text.empty()) return;
  const LogSource part(text, source.name(), source.options());
  for (const LogFormat& format : log_formats()) {
    if (format.fits(part) && std::find(fitting.begin(), fitting.end(), &format) == fitting.end())
      fitting.push_back(&format);
  }
}

/// Adds the paths of an object's numbers and lists.
void add_keys(const Json& value, const std::string& path, std::vector<std::string>& names) {
  if (value.is_number() || value.is_array()) names.push_back(path);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items())
    add_keys(inner, path.empty() ? key : path + "." + key, names);
}

/// Returns an example of --fields with those of these columns or keys whose names are those of counts, and
/// with the word COLUMN for others.
std::string fields_for(const std::vector<std::string>& names) {
  using boost::algorithm::icontains;
  std::string drafted = "COLUMN";
  std::string accepted = "COLUMN";
  for (const std::string& name : names) {
    if (icontains(name, "rate") || icontains(name, "len")) continue;
    const bool kept = icontains(name, "acc");
    std::string& field = kept ? accepted : drafted;
    if (field == "COLUMN" && (kept || icontains(name, "draft"))) field = name;
  }
  return fmt::format("--fields drafted={},accepted={},rounds=COLUMN", drafted, accepted);
}

/// Throws UsageError that names the keys, the columns or the line which come nearest to a log.
[[noreturn]] void refuse_unknown(const LogSource& source, const std::string& file) {
  std::string header = source.lines().front().text;
  const bool json = header.front() == '{' || header == "[" || header.starts_with("[{");
  if (json && source.documents().empty())
    throw UsageError("{}: in no known format of logs: {}", file, source.json_problem());
  std::string where = file;
  std::string nearest;
  std::vector<std::string> names;
  if (json) {
    add_keys(source.documents().front().value, "", names);
  } else {
    std::replace_if(
        header.begin(), header.end(), [](char one) { return one == ';' || one == '\t'; }, ',');
    names = header_names(header);
    if (!names.empty()) where = source.lines().front().where;
    if (!names.empty() && header != source.lines().front().text)
      nearest = "; columns must be separated by commas";
  }
  if (!names.empty()) nearest = fmt::format(", though it has {}{}", fmt::join(names, ", "), nearest);
  for (const TextLine& line : source.lines()) {
    using boost::algorithm::icontains;
    if (!names.empty() || !(icontains(line.text, "draft") || icontains(line.text, "accept"))) continue;
    where = line.where;
    nearest = fmt::format(": \"{}\"", brief(line.text));
    break;
  }
  throw UsageError(
      "{}: in no known format of logs{}; speclab plan list logs shows a sample of each; else write a line \"drafted,accepted\" for each round, or name columns of totals with {} (speclab plan log --help)",
      where, printable(nearest, 300), fields_for(names));
}

/// Throws UsageError if the rounds of a file that no server wrote may be totals of requests.
void refuse_totals(const AcceptanceFile& found, const LogSource& source, const std::string& file) {
  const auto mean = static_cast<double>(found.drafted) / static_cast<double>(found.rounds.size());
  if (mean <= usual_draft) return;
  if (source.drafted() && static_cast<std::size_t>(*source.drafted()) == found.longest()) return;
  throw UsageError(
      "{}: the mean of {} records drafted {:.4g} tokens, more than servers draft in a round: if these are totals of requests, name their number of rounds, too (--fields rounds=...); if each is one round, say so by --drafted {}",
      file, found.rounds.size(), mean, found.longest());
}

/// Throws UsageError if the second half of a file repeats the first, whose lines all differ.
void refuse_doubled(const std::vector<TextLine>& lines) {
  const std::size_t half = lines.size() / 2;
  constexpr std::size_t fewest = 4;
  if (half < fewest || lines.size() % 2 != 0) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < half; ++i) {
    if (lines[i].text != lines[i + half].text || !seen.insert(lines[i].text).second) return;
  }
  refuse_line(lines[half], "from here on the log is repeated; keep it once");
}

/// Returns the format that fits. Throws UsageError if there is none, or if the file has lines of another.
const LogFormat& format_of(const LogSource& source, const std::string& file) {
  if (source.lines().empty()) throw UsageError("{}: holds no rounds", file);
  std::vector<const LogFormat*> fitting;
  for (const LogFormat& format : log_formats()) {
    if (format.fits(source)) fitting.push_back(&format);
    if (!source.options().fields.empty() && !fitting.empty()) return *fitting.front();
  }
  if (!fitting.empty()) {
    // Every line of JSON, and every row below a header, is read or refused.
    if (source.documents().empty() && header_names(source.lines().front().text).empty()) {
      add_formats_of(source, is_json, fitting);
      add_formats_of(source, is_numbers, fitting);
    }
    if (fitting.size() == 1) return *fitting.front();
    throw UsageError("{}: has records of {} and of {}, which may count the same rounds; keep one of them",
                     file, fitting[0]->name, fitting[1]->name);
  }
  refuse_unknown(source, file);
}

}  // namespace

std::size_t AcceptanceFile::longest() const {
  std::size_t most = means ? static_cast<std::size_t>(std::ceil(means->drafted)) : counts.examined.size();
  if (means && !means->lengths.empty()) most = means->lengths.rbegin()->first;
  for (const LoggedRound& round : rounds) most = std::max(most, static_cast<std::size_t>(round.drafted));
  return most;
}

AcceptanceFile acceptance_in(const std::string& text, const std::string& file, const LogOptions& options) {
  const LogSource source(text, file, options);
  const LogFormat& format = format_of(source, file);
  if (!options.earlier_file.empty() && !std::string_view(format.name).ends_with("_metrics")) {
    throw UsageError("--since {}: {} is {}, whose records are not counters; leave it out",
                     options.earlier_file, file, format.name);
  }
  AcceptanceFile found = of_model(format.read(source), file, options);
  refuse_doubled(source.lines());
  if (!found.rounds.empty() && std::string_view(format.server) == "any") refuse_totals(found, source, file);
  if (options.drafted && !source.drafted_read())
    throw UsageError("--drafted {}: {} ({}) says itself how many were drafted; leave it out",
                     *options.drafted, file, format.name);
  found.format = format.name;
  const auto drafting = std::count_if(found.rounds.begin(), found.rounds.end(),
                                      [](const LoggedRound& round) { return round.drafted > 0; });
  check_drafting(file, static_cast<std::uint64_t>(drafting), found.rounds.size(),
                 found.rounds.empty() ? 0 : found.counts.total_accepted());
  return found;
}

std::vector<std::string> models_in(const std::string& text, const std::string& file) {
  const LogOptions options;
  const LogSource source(text, file, options);
  std::vector<std::string> names;
  for (const auto& [name, log] : by_model(format_of(source, file).read(source), file)) names.push_back(name);
  if (names.size() == 1) names.clear();
  return names;
}

}  // namespace speclab
