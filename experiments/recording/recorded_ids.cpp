#include "experiments/recording/recorded_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/recording_source.hpp"

namespace speclab {

namespace {

/// Adds a token to its sequence.
using AddToken =
    std::function<void(const std::string& sequence, const std::string& token, const std::string& where)>;

std::size_t csv_column(const std::vector<std::string>& header, const char* name, const std::string& where) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw UsageError("{}: no column \"{}\"; token ids are read from a recording, which speclab record writes",
                     where, name);
  }
  if (std::count(header.begin(), header.end(), name) > 1)
    throw UsageError("{}: column \"{}\" occurs twice", where, name);
  return static_cast<std::size_t>(found - header.begin());
}

void read_csv_ids(const std::vector<TextLine>& lines, const AddToken& add) {
  const std::vector<std::string> header = split(lines.front().text, ',');
  const std::size_t name = csv_column(header, "sequence", lines.front().where);
  const std::size_t token = csv_column(header, "token", lines.front().where);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = split(lines[i].text, ',');
    if (words.size() != header.size()) {
      throw UsageError("{}: {} fields, but {} columns", lines[i].where, words.size(), header.size());
    }
    add(words[name], words[token], lines[i].where);
  }
}

void read_json_ids(const std::vector<TextLine>& lines, const AddToken& add) {
  for (const TextLine& line : lines) {
    const Json json = json_line(line.text, line.where);
    if (!json.is_object() || !json.contains("sequence") || !json.contains("token")) {
      throw UsageError("{}: expected a JSON object with \"sequence\" and \"token\"", line.where);
    }
    const Json& name = json["sequence"];
    add(name.is_string() ? name.get<std::string>() : name.dump(), json["token"].dump(), line.where);
  }
}

}  // namespace

std::vector<RecordedIds> read_recorded_ids(const std::string& file) {
  const RecordingSource source(file);
  const std::vector<TextLine> lines = lines_of(source.bytes(), file);
  std::vector<RecordedIds> all;
  std::map<std::string, std::size_t> places;
  const AddToken add = [&](const std::string& name, const std::string& token, const std::string& where) {
    constexpr std::size_t max_shown = 40;
    const auto id = integer_in(token);
    if (!id) {
      throw UsageError("{}: token \"{}\" is not an id", where, printable(token, max_shown));
    }
    const auto [found, fresh] = places.emplace(name, all.size());
    if (fresh) all.push_back({name, {}});
    all[found->second].ids.push_back(*id);
  };
  const bool is_json = lines.front().text.starts_with('{');  // the source has already refused an empty file
  (is_json ? read_json_ids : read_csv_ids)(lines, add);
  if (all.empty()) throw UsageError("{}: has no tokens", file);
  return all;
}

}  // namespace speclab
