#include "experiments/plan/acceptance_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"

namespace speclab {

namespace {

constexpr int longest_round = 100000;

struct Line {
  std::string where;  ///< "file:number"
  std::string text;   ///< without blanks at either end
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<Line> lines_of(const std::string& file) {
  std::istringstream text(in_file(file, [&] { return read_text(file); }));
  std::vector<Line> lines;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (const std::string kept = trimmed(line); !kept.empty()) {
      lines.push_back({fmt::format("{}:{}", file, number), kept});
    }
  }
  if (lines.empty()) throw UsageError(fmt::format("{}: holds no rounds", file));
  return lines;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, ',');) fields.push_back(trimmed(field));
  return fields;
}

std::uint64_t count_of(const Line& line, const std::string& word, const char* what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value > (std::uint64_t{1} << 53U)) {
    throw UsageError(
        fmt::format("{}: {} is \"{}\"; expected an integer of 0 or more", line.where, what, word));
  }
  return value;
}

void add_round(AcceptanceFile& log, const Line& line, std::uint64_t drafted, std::uint64_t accepted) {
  if (drafted > longest_round) {
    throw UsageError(
        fmt::format("{}: {} tokens drafted in one round; at most {}", line.where, drafted, longest_round));
  }
  if (accepted > drafted) {
    throw UsageError(
        fmt::format("{}: {} tokens accepted of {} drafted; a log of emitted tokens counts one "
                    "more a round than were accepted",
                    line.where, accepted, drafted));
  }
  log.rounds.push_back({static_cast<int>(drafted), static_cast<int>(accepted)});
}

/// Where each of these columns stands in a header.
std::vector<std::size_t> columns_of(const Line& header, const std::vector<std::string>& names) {
  const std::vector<std::string> fields = fields_of(header.text);
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto found = std::find(fields.begin(), fields.end(), name);
    if (found == fields.end()) {
      throw UsageError(
          fmt::format("{}: no column \"{}\" in the header \"{}\"; expected \"drafted,accepted\" "
                      "or \"position,drafted,accepted\"",
                      header.where, name, header.text));
    }
    columns.push_back(static_cast<std::size_t>(found - fields.begin()));
  }
  return columns;
}

const std::string& field_at(const Line& line, const std::vector<std::string>& fields, std::size_t column) {
  if (column >= fields.size()) {
    throw UsageError(
        fmt::format("{}: \"{}\" has {} values; the header has more", line.where, line.text, fields.size()));
  }
  return fields[column];
}

AcceptanceFile read_rounds_csv(const std::vector<Line>& lines) {
  AcceptanceFile log;
  std::vector<std::size_t> columns{0, 1};
  std::size_t first = 0;
  if (lines[0].text.find_first_not_of("0123456789, \t-+.") != std::string::npos) {
    columns = columns_of(lines[0], {"drafted", "accepted"});
    first = 1;
  }
  for (std::size_t i = first; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::vector<std::string> fields = fields_of(line.text);
    if (first == 0 && fields.size() != 2) {
      throw UsageError(
          fmt::format("{}: \"{}\" is not \"drafted,accepted\", such as 5,3", line.where, line.text));
    }
    add_round(log, line, count_of(line, field_at(line, fields, columns[0]), "drafted"),
              count_of(line, field_at(line, fields, columns[1]), "accepted"));
  }
  return log;
}

AcceptanceFile read_json_lines(const std::vector<Line>& lines) {
  AcceptanceFile log;
  for (const Line& line : lines) {
    const Json value = Json::parse(line.text, nullptr, false);
    const bool pair = value.is_array() && value.size() == 2;
    if (!pair && !(value.is_object() && value.contains("drafted") && value.contains("accepted"))) {
      throw UsageError(
          fmt::format("{}: {} is not {{\"drafted\": 5, \"accepted\": 3}} or [5, 3]", line.where, line.text));
    }
    const auto part = [&](const char* name, std::size_t index) {
      return count_of(line, (pair ? value[index] : value.at(name)).dump(), name);
    };
    add_round(log, line, part("drafted", 0), part("accepted", 1));
  }
  return log;
}

AcceptanceFile from_totals(const std::string& where, std::uint64_t rounds,
                           const std::vector<std::uint64_t>& accepted) {
  std::uint64_t before = rounds;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (accepted[i] > before) {
      throw UsageError(fmt::format("{}: position {} was accepted {} times, more than the {} before it", where,
                                   i + 1, accepted[i], before));
    }
    before = accepted[i];
  }
  return {{}, count_positions(rounds, accepted)};
}

AcceptanceFile read_totals_csv(const std::vector<Line>& lines) {
  const auto columns = columns_of(lines[0], {"position", "drafted", "accepted"});
  std::vector<std::uint64_t> accepted;
  std::uint64_t rounds = 0;
  std::uint64_t start = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::vector<std::string> fields = fields_of(line.text);
    const std::uint64_t position = count_of(line, field_at(line, fields, columns[0]), "position");
    const std::uint64_t drafted = count_of(line, field_at(line, fields, columns[1]), "drafted");
    if (i == 1) {
      start = position;
      rounds = drafted;
    }
    if (start > 1 || position != start + i - 1) {
      throw UsageError(
          fmt::format("{}: position {}; expected 1, 2, 3, ... or 0, 1, 2, ...", line.where, position));
    }
    if (drafted != rounds) {
      throw UsageError(
          fmt::format("{}: position {} was drafted {} times, the first {} times; totals need "
                      "rounds of one length, a log of rounds does not",
                      line.where, position, drafted, rounds));
    }
    accepted.push_back(count_of(line, field_at(line, fields, columns[2]), "accepted"));
  }
  return from_totals(lines[0].where, rounds, accepted);
}

/// The metric's name, its labels and its value, of a Prometheus sample.
struct Sample {
  std::string name;
  std::string labels;
  std::string value;
};

Sample sample_of(const std::string& line) {
  const auto brace = line.find('{');
  const auto close = line.find('}');
  if (brace != std::string::npos && close != std::string::npos) {
    return {line.substr(0, brace), line.substr(brace + 1, close - brace - 1),
            trimmed(line.substr(close + 1))};
  }
  const auto blank = line.find(' ');
  return {line.substr(0, blank), "", blank == std::string::npos ? "" : trimmed(line.substr(blank))};
}

/// Counters are printed as floating-point numbers.
std::uint64_t counter_of(const Line& line, const std::string& word) {
  double value = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0) || value > 9e15 ||
      value != std::floor(value)) {
    throw UsageError(fmt::format("{}: \"{}\" is not a count", line.where, word));
  }
  return static_cast<std::uint64_t>(value);
}

AcceptanceFile read_prometheus(const std::vector<Line>& lines, const std::string& file) {
  constexpr std::string_view drafts = "vllm:spec_decode_num_drafts";
  constexpr std::string_view per_position = "vllm:spec_decode_num_accepted_tokens_per_pos";
  const auto is = [](const Sample& sample, std::string_view name) {
    return sample.name == name || sample.name == std::string(name) + "_total";
  };
  std::uint64_t rounds = 0;
  std::map<std::uint64_t, std::uint64_t> by_position;
  for (const Line& line : lines) {
    if (line.text[0] == '#') continue;
    const Sample sample = sample_of(line.text);
    if (is(sample, drafts)) rounds += counter_of(line, sample.value);
    if (!is(sample, per_position)) continue;
    constexpr std::string_view label = "position=\"";
    const auto at = sample.labels.find(label);
    if (at == std::string::npos) throw UsageError(fmt::format("{}: no label \"position\"", line.where));
    const auto from = at + label.size();
    const std::string position = sample.labels.substr(from, sample.labels.find('"', from) - from);
    by_position[count_of(line, position, "position")] += counter_of(line, sample.value);
  }
  std::vector<std::uint64_t> accepted;
  for (const auto& [position, count] : by_position) {
    if (position != accepted.size()) {
      throw UsageError(fmt::format("{}: {} has no position {}", file, per_position, accepted.size()));
    }
    accepted.push_back(count);
  }
  if (rounds == 0 || accepted.empty()) {
    throw UsageError(fmt::format("{}: needs samples of {} and {}", file, drafts, per_position));
  }
  return from_totals(file, rounds, accepted);
}

}  // namespace

AcceptanceFile read_acceptance(const std::string& file) {
  const std::vector<Line> lines = lines_of(file);
  const std::string& first = lines[0].text;
  AcceptanceFile log;
  if (first[0] == '{' || first[0] == '[') {
    log = read_json_lines(lines);
  } else if (first[0] == '#' || first.starts_with("vllm:")) {
    log = read_prometheus(lines, file);
  } else if (first.find("position") != std::string::npos) {
    log = read_totals_csv(lines);
  } else {
    log = read_rounds_csv(lines);
  }
  if (!log.rounds.empty()) log.counts = count_positions(log.rounds);
  if (log.counts.total_examined() == 0) throw UsageError(fmt::format("{}: no token was drafted", file));
  return log;
}

}  // namespace speclab
