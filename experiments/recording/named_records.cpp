#include "experiments/recording/named_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/recording_source.hpp"

namespace speclab {

namespace {

/// The values of a record under speclab's names.
using NamedValues = std::map<std::string, std::string>;

NamedValues values_in(const Json& value, const TextLine& line, const NamedFields& fields,
                      const char* remedy) {
  NamedValues values;
  for (const auto& [name, path] : fields) {
    const Json* place = &value;
    for (const std::string& part : split(path, '.')) {
      if (!place->is_object() || !place->contains(part))
        throw UsageError("{}: no \"{}\" for {}; {}", line.where, path, name, remedy);
      place = &(*place)[part];
    }
    values[name] = place->is_string() ? place->get<std::string>() : place->dump();
  }
  return values;
}

}  // namespace

NamedColumns::NamedColumns(const TextLine& header, const std::vector<std::string>& names,
                           const char* remedy) {
  const std::vector<std::string> fields = split(header.text, ',');
  count_ = fields.size();
  for (const std::string& name : names) {
    const auto found = std::find(fields.begin(), fields.end(), name);
    if (found == fields.end()) {
      throw UsageError("{}: no column \"{}\" in the header \"{}\"; {}", header.where, name,
                       brief(header.text), remedy);
    }
    if (std::count(fields.begin(), fields.end(), name) > 1)
      throw UsageError("{}: column \"{}\" occurs twice in the header \"{}\"", header.where, name,
                       brief(header.text));
    columns_.push_back(static_cast<std::size_t>(found - fields.begin()));
  }
}

std::vector<std::string> NamedColumns::words(const TextLine& line) const {
  const std::vector<std::string> fields = split(line.text, ',');
  if (fields.size() != count_)
    throw UsageError("{}: \"{}\" has {} values; the header has {}", line.where, brief(line.text),
                     fields.size(), count_);
  std::vector<std::string> words;
  for (const std::size_t column : columns_) words.push_back(fields[column]);
  return words;
}

NamedFields parse_fields(const std::string& text) {
  NamedFields fields;
  for (const std::string& pair : split(text, ',')) {
    const auto equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size()) {
      throw UsageError("--fields: \"{}\"; expected name=column, such as accepted=acc_tokens", pair);
    }
    if (const auto [one, fresh] =
            fields.emplace(trimmed(pair.substr(0, equals)), trimmed(pair.substr(equals + 1)));
        !fresh)
      throw UsageError("--fields: \"{}\" is given twice", one->first);
  }
  return fields;
}

void check_fields(const NamedFields& fields, std::initializer_list<const char*> known) {
  std::map<std::string, std::string> names;  // by column
  for (const auto& [name, column] : fields) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError("--fields: unknown \"{}\"; expected {}", name, fmt::join(known, ", "));
    if (const auto [other, fresh] = names.emplace(column, name); !fresh)
      throw UsageError("--fields: \"{}\" is both {} and {}", column, other->second, name);
  }
}

void each_named_record(
    const std::vector<TextLine>& lines, const NamedFields& fields,
    const std::function<void(const TextLine&, const std::map<std::string, std::string>&)>& visit,
    const char* remedy) {
  if (lines.front().text.front() == '{') {
    // An object may be spread over the lines.
    const bool spread = json_line(lines.front().text, lines.front().where).is_discarded();
    TextLine whole{lines.front().where, ""};
    for (std::size_t i = 0; spread && i < lines.size(); ++i) whole.text += lines[i].text + "\n";
    for (const TextLine& line : spread ? std::vector{whole} : lines) {
      const Json value = json_line(line.text, line.where);
      if (!value.is_object())
        throw UsageError("{}: {} is not an object of JSON", line.where, brief(line.text));
      visit(line, values_in(value, line, fields, remedy));
    }
    return;
  }
  std::vector<std::string> columns;
  for (const auto& [name, column] : fields) columns.push_back(column);
  const NamedColumns header(lines.front(), columns, remedy);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = header.words(lines[i]);
    NamedValues values;
    std::size_t column = 0;
    for (const auto& field : fields) values[field.first] = words[column++];
    visit(lines[i], values);
  }
}

std::vector<RecordedIds> read_recorded_ids(const std::string& file) {
  const RecordingSource source(file);
  std::vector<RecordedIds> all;
  std::map<std::string, std::size_t> places;
  each_named_record(
      lines_of(source.bytes(), file), {{"sequence", "sequence"}, {"token", "token"}},
      [&](const TextLine& line, const std::map<std::string, std::string>& values) {
        const std::string& token = values.at("token");
        const auto id = integer_in(token);
        if (!id) throw UsageError("{}: token \"{}\" is not an id", line.where, printable(token, 40));
        const auto [found, fresh] = places.emplace(values.at("sequence"), all.size());
        if (fresh) all.push_back({values.at("sequence"), {}});
        all[found->second].ids.push_back(*id);
      },
      "token ids are read from a recording, which speclab record writes");
  if (all.empty()) throw UsageError("{}: has no tokens", file);
  return all;
}

}  // namespace speclab
