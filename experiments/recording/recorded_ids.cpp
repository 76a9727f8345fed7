#include "experiments/recording/recorded_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/recording/recording_source.hpp"
#include "experiments/support/csv_reader.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

/// Puts tokens to their sequences.
class SequencesById {
 public:
  void add(const std::string& name, std::string_view token, const std::string& where) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
    if (error != std::errc{} || end != token.data() + token.size()) {
      constexpr std::size_t max_shown = 40;
      throw UsageError(
          fmt::format("{}: token \"{}\" is not an id", where, printable(std::string(token), max_shown)));
    }
    const auto [found, fresh] = places_.emplace(name, all_.size());
    if (fresh) all_.push_back({name, {}});
    all_[found->second].ids.push_back(id);
  }
  std::vector<RecordedIds> all() && { return std::move(all_); }

 private:
  std::vector<RecordedIds> all_;
  std::map<std::string, std::size_t> places_;
};

std::size_t csv_column(const std::vector<std::string>& header, const char* name, const std::string& where) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw UsageError(
        fmt::format("{}: no column \"{}\"; token ids are read from a recording, which speclab record writes",
                    where, name));
  }
  return static_cast<std::size_t>(found - header.begin());
}

void read_csv_ids(const std::vector<TextLine>& lines, SequencesById& sequences) {
  const std::vector<std::string> header = split(lines.front().text, ',');
  const std::size_t name = csv_column(header, "sequence", lines.front().where);
  const std::size_t token = csv_column(header, "token", lines.front().where);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = split(lines[i].text, ',');
    if (words.size() != header.size()) {
      throw UsageError(
          fmt::format("{}: {} fields, but {} columns", lines[i].where, words.size(), header.size()));
    }
    sequences.add(words[name], words[token], lines[i].where);
  }
}

void read_json_ids(const std::vector<TextLine>& lines, SequencesById& sequences) {
  for (const TextLine& line : lines) {
    const Json json = json_line(line.text);
    if (!json.is_object() || !json.contains("sequence") || !json.contains("token")) {
      throw UsageError(fmt::format("{}: expected a JSON object with \"sequence\" and \"token\"", line.where));
    }
    const Json& name = json["sequence"];
    sequences.add(name.is_string() ? name.get<std::string>() : name.dump(), json["token"].dump(), line.where);
  }
}

}  // namespace

std::vector<RecordedIds> read_recorded_ids(const std::string& file) {
  const RecordingSource source(file);
  const std::vector<TextLine> lines = lines_of(source.bytes(), file);
  SequencesById sequences;
  if (!lines.empty() && lines.front().text.starts_with('{')) {
    read_json_ids(lines, sequences);
  } else if (!lines.empty()) {
    read_csv_ids(lines, sequences);
  }
  std::vector<RecordedIds> all = std::move(sequences).all();
  if (all.empty()) throw UsageError(fmt::format("{}: has no tokens", file));
  return all;
}

}  // namespace speclab
