#include "experiments/plan/acceptance_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "experiments/config/config_error.hpp"
#include "experiments/config/fields.hpp"
#include "experiments/config/json_io.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

constexpr int longest_round = 100000;

/// UsageError that names the line.
template <class... Arguments>
[[noreturn]] void refuse(const TextLine& line, fmt::format_string<Arguments...> what,
                         Arguments&&... arguments) {
  throw UsageError(line.where + ": " + fmt::format(what, std::forward<Arguments>(arguments)...));
}

/// What somebody wrote, as it stands in a message.
std::string brief(std::string_view text) { return printable(text, 80); }

std::uint64_t count_of(const TextLine& line, const std::string& word, const char* what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value > (std::uint64_t{1} << 53U)) {
    refuse(line, "{} is \"{}\"; expected an integer of 0 or more", what, brief(word));
  }
  return value;
}

void add_round(AcceptanceFile& log, const TextLine& line, const std::string& drafted_word,
               const std::string& accepted_word) {
  const std::uint64_t drafted = count_of(line, drafted_word, "drafted");
  const std::uint64_t accepted = count_of(line, accepted_word, "accepted");
  if (drafted > longest_round) {
    refuse(line, "{} tokens drafted in one round; at most {}", drafted, longest_round);
  }
  if (accepted > drafted) {
    refuse(line,
           "{} tokens accepted of {} drafted; a log of emitted tokens counts one more a round than were "
           "accepted",
           accepted, drafted);
  }
  log.rounds.push_back({static_cast<int>(drafted), static_cast<int>(accepted)});
}

/// Lines of values below a header, which names some columns among others.
class NamedColumns {
 public:
  NamedColumns(const TextLine& header, const std::vector<std::string>& names) {
    const std::vector<std::string> fields = split(header.text, ',');
    for (const std::string& name : names) {
      const auto found = std::find(fields.begin(), fields.end(), name);
      if (found == fields.end()) {
        refuse(header,
               "no column \"{}\" in the header \"{}\"; expected \"drafted,accepted\" or "
               "\"position,drafted,accepted\"",
               name, header.text);
      }
      columns_.push_back(static_cast<std::size_t>(found - fields.begin()));
    }
  }

  /// The line's words in the order of the names.
  std::vector<std::string> words(const TextLine& line) const {
    const std::vector<std::string> fields = split(line.text, ',');
    std::vector<std::string> words;
    for (const std::size_t column : columns_) {
      if (column >= fields.size()) {
        refuse(line, "\"{}\" has {} values; the header has more", brief(line.text), fields.size());
      }
      words.push_back(fields[column]);
    }
    return words;
  }

 private:
  std::vector<std::size_t> columns_;
};

AcceptanceFile read_rounds_csv(const std::vector<TextLine>& lines) {
  AcceptanceFile log;
  const bool headed = lines[0].text.find_first_not_of("0123456789, \t-+.") != std::string::npos;
  const NamedColumns columns(headed ? lines[0] : TextLine{"", "drafted,accepted"}, {"drafted", "accepted"});
  for (std::size_t i = headed ? 1 : 0; i < lines.size(); ++i) {
    if (!headed && split(lines[i].text, ',').size() != 2) {
      refuse(lines[i], "\"{}\" is not \"drafted,accepted\", such as 5,3", brief(lines[i].text));
    }
    const std::vector<std::string> words = columns.words(lines[i]);
    add_round(log, lines[i], words[0], words[1]);
  }
  return log;
}

/// A line {"drafted": 5, "accepted": 3}; other keys are not read.
AcceptanceFile read_json_lines(const std::vector<TextLine>& lines) {
  AcceptanceFile log;
  for (const TextLine& line : lines) {
    const Json value = json_line(line.text);
    if (value.is_array() && value.size() == 2) {
      add_round(log, line, value[0].dump(), value[1].dump());
    } else if (value.is_object() && value.contains("drafted") && value.contains("accepted")) {
      add_round(log, line, value["drafted"].dump(), value["accepted"].dump());
    } else {
      refuse(line, "{} is not {{\"drafted\": 5, \"accepted\": 3}} or [5, 3]", brief(line.text));
    }
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

AcceptanceFile read_totals_csv(const std::vector<TextLine>& lines) {
  const NamedColumns columns(lines[0], {"position", "drafted", "accepted"});
  std::vector<std::uint64_t> accepted;
  std::uint64_t rounds = 0;
  std::uint64_t start = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    const std::vector<std::string> words = columns.words(line);
    const std::uint64_t position = count_of(line, words[0], "position");
    const std::uint64_t drafted = count_of(line, words[1], "drafted");
    if (i == 1) {
      start = position;
      rounds = drafted;
    }
    if (start > 1 || position != start + i - 1) {
      refuse(line, "position {}; expected 1, 2, 3, ... or 0, 1, 2, ...", position);
    }
    if (drafted != rounds) {
      refuse(
          line,
          "position {} was drafted {} times, the first {} times; totals need rounds of one length, a log of "
          "rounds does not",
          position, drafted, rounds);
    }
    accepted.push_back(count_of(line, words[2], "accepted"));
  }
  return from_totals(lines[0].where, rounds, accepted);
}

/// The metric's name, its labels and its value, of a Prometheus sample.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string value;
};

/// name{label="value",...} value. Values of labels may hold any character; \\, \" and \n stand for themselves
/// (prometheus.io/docs/instrumenting/exposition_formats).
Sample sample_of(const TextLine& line) {
  const std::string& text = line.text;
  Sample sample;
  std::size_t at = text.find_first_of("{ \t");
  sample.name = text.substr(0, at);
  if (at != std::string::npos && text[at] == '{') {
    for (++at; at < text.size() && text[at] != '}';) {
      const auto equals = text.find("=\"", at);
      if (equals == std::string::npos)
        refuse(line, "\"{}\" is not name{{label=\"value\"}} value", brief(text));
      std::string& value = sample.labels[trimmed(text.substr(at, equals - at))];
      for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && ++at == text.size()) break;
        value += text[at];
      }
      at = text.find_first_not_of(", \t", at + 1);
    }
    if (at < text.size()) ++at;
  }
  if (at < text.size()) sample.value = trimmed(text.substr(at));
  return sample;
}

/// Counters are printed as floating-point numbers.
std::uint64_t counter_of(const TextLine& line, const std::string& word) {
  double value = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0) || value > 9e15 ||
      value != std::floor(value)) {
    refuse(line, "\"{}\" is not a count", brief(word));
  }
  return static_cast<std::uint64_t>(value);
}

/// What one model's counters say, summed over engines.
struct ModelCounters {
  std::uint64_t rounds = 0;
  std::map<std::uint64_t, std::uint64_t> by_position;
};

constexpr std::string_view drafts_metric = "vllm:spec_decode_num_drafts";
constexpr std::string_view per_position_metric = "vllm:spec_decode_num_accepted_tokens_per_pos";

AcceptanceFile totals_of(const ModelCounters& counters, const std::string& where) {
  std::vector<std::uint64_t> accepted;
  for (const auto& [position, count] : counters.by_position) {
    if (position != accepted.size()) {
      throw UsageError(fmt::format("{}: {} has no position {}", where, per_position_metric, accepted.size()));
    }
    accepted.push_back(count);
  }
  if (counters.rounds == 0 || accepted.empty()) {
    throw UsageError(
        fmt::format("{}: needs samples of {} and {}", where, drafts_metric, per_position_metric));
  }
  return from_totals(where, counters.rounds, accepted);
}

/// Of the model named, or of the only one. Acceptance differs between models, so several are never summed.
AcceptanceFile read_prometheus(const std::vector<TextLine>& lines, const std::string& file,
                               const std::string& model) {
  const auto is = [](const Sample& sample, std::string_view name) {
    return sample.name == name || sample.name == std::string(name) + "_total";
  };
  std::map<std::string, ModelCounters> models;
  for (const TextLine& line : lines) {
    if (line.text[0] == '#') continue;
    const Sample sample = sample_of(line);
    const bool position_sample = is(sample, per_position_metric);
    if (!position_sample && !is(sample, drafts_metric)) continue;
    const auto label = [&](const char* name) {
      const auto found = sample.labels.find(name);
      return found == sample.labels.end() ? std::string() : found->second;
    };
    ModelCounters& counters = models[label("model_name")];
    if (!position_sample) {
      counters.rounds += counter_of(line, sample.value);
      continue;
    }
    if (sample.labels.count("position") == 0) refuse(line, "no label \"position\"");
    counters.by_position[count_of(line, label("position"), "position")] += counter_of(line, sample.value);
  }
  if (!model.empty()) {
    const auto found = models.find(model);
    if (found != models.end()) return totals_of(found->second, file);
    std::vector<std::string> names;
    for (const auto& [name, counters] : models) names.push_back(name);
    throw UsageError(
        fmt::format("--model {}: {} has no such model_name{}", model, file, suggestion(model, names)));
  }
  if (models.size() <= 1) return totals_of(models.empty() ? ModelCounters{} : models.begin()->second, file);
  std::string each;
  for (const auto& [name, counters] : models) {
    const PositionCounts counts =
        totals_of(counters, fmt::format("{}, model_name \"{}\"", file, name)).counts;
    each += fmt::format(
        "\n  --model {}: {} rounds, {:.4g} of {} examined tokens accepted", shell_word(name), counts.rounds,
        static_cast<double>(counts.total_accepted()) / static_cast<double>(counts.total_examined()),
        counts.total_examined());
  }
  throw UsageError(fmt::format("{}: counters of {} models, whose acceptance is not one number; choose one:{}",
                               file, models.size(), each));
}

}  // namespace

AcceptanceFile acceptance_in(const std::string& text, const std::string& file, const std::string& model) {
  const std::vector<TextLine> lines = lines_of(text, file);
  if (lines.empty()) throw UsageError(fmt::format("{}: holds no rounds", file));
  const std::string& first = lines[0].text;
  AcceptanceFile log;
  const bool prometheus = first[0] == '#' || first.starts_with("vllm:");
  if (!model.empty() && !prometheus) {
    throw UsageError(
        fmt::format("--model {}: {} is not a page of vLLM's /metrics, which names models", model, file));
  }
  if (first[0] == '{' || first[0] == '[') {
    log = read_json_lines(lines);
  } else if (prometheus) {
    log = read_prometheus(lines, file, model);
  } else if (first.find("position") != std::string::npos) {
    log = read_totals_csv(lines);
  } else {
    log = read_rounds_csv(lines);
  }
  if (!log.rounds.empty()) log.counts = count_positions(log.rounds);
  if (log.counts.total_examined() == 0) throw UsageError(fmt::format("{}: no token was drafted", file));
  return log;
}

AcceptanceFile read_acceptance(const std::string& file, const std::string& model) {
  return acceptance_in(in_file(file, [&] { return read_text(file); }), file, model);
}

}  // namespace speclab
