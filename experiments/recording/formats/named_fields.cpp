// Reads CSV or JSON lines whose columns or keys --fields names. Other columns are passed over. Without a
// field for it, the file is one sequence, and its tokens are in order.
#include <cstdlib>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/columns.hpp"
#include "experiments/recording/named_records.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

RecordingPart read_recording_fields(const RecordingSource& source) {
  const NamedFields& fields = source.fields();
  check_fields(fields, {"logp", "logq", "sequence", "position", "entropy", "task"});
  for (const char* needed : {"logp", "logq"}) {
    if (fields.count(needed) == 0) throw UsageError("--fields: name {}, too", needed);
  }
  const bool entropy = fields.count("entropy") > 0;
  RecordingBuilder builder(1, entropy);
  std::string sequence_before;
  std::int64_t next = 0;
  const auto add = [&](const TextLine& line, const std::map<std::string, std::string>& values) {
    const auto text = [&](const char* name, const char* otherwise) {
      const auto found = values.find(name);
      return found == values.end() ? std::string(otherwise) : found->second;
    };
    const auto number = [&](const char* name) {
      const std::string word = text(name, "");
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (word.empty() || *end != '\0')
        throw UsageError("{}: {} is \"{}\"; expected a number", line.where, fields.at(name), word);
      return value;
    };
    const std::string sequence = text("sequence", "0");
    const std::string task = text("task", "");
    if (sequence != sequence_before) next = 0;
    sequence_before = sequence;
    const auto position = integer_in(text("position", std::to_string(next++).c_str()));
    if (!position)
      throw UsageError("{}: {} is \"{}\"; expected an integer", line.where, fields.at("position"),
                       values.at("position"));
    builder.add({.sequence = sequence,
                 .position = *position,
                 .logp = number("logp"),
                 .logq = {number("logq")},
                 .entropy = entropy ? number("entropy") : 0,
                 .task = task},
                [&] { return line.where; });
  };
  each_named_record(lines_of(source.bytes(), source.name()), fields, add);
  return std::move(builder).take(source.name());
}

}  // namespace

RecordingFormat named_fields_format() {
  return {"named-fields", "CSV or JSON lines whose columns or keys --fields names.",
          [](const RecordingSource& source) -> std::string {
            return source.fields().empty() ? "no --fields say which columns or keys to read" : "";
          },
          read_recording_fields};
}

}  // namespace speclab
