// Reads JSON lines of the native fields: {"sequence": 0, "position": 0, "token": 12, "logp": -1.5, "logq":
// -2}.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/recording/columns.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"
#include "sim/text/text_file.hpp"

namespace speclab {

namespace {

std::string not_json_lines(const RecordingSource& source) {
  const std::string_view line = source.first_line();
  if (line.front() != '{') return "its first line is no JSON object";
  const Json first = json_line(std::string(line), source.name() + ":1");
  if (first.is_discarded()) return "its first line is not a whole JSON value";
  if (!first.contains("logp") || !first.contains("logq"))
    return "its first line has no \"logp\" and \"logq\"";
  return "";
}

std::string name_of(const JsonPlace& place) {
  return place.value->is_string() ? place.value->get<std::string>() : place.value->dump();
}

RecordingPart read_json_lines(const RecordingSource& source) {
  const Json first = json_line(std::string(source.first_line()), source.name() + ":1");
  std::size_t depths = 1;
  while (first.contains(fmt::format("logq_depth{}", depths + 1))) ++depths;
  const bool has_entropy = first.contains("entropy");
  const std::string deeper = fmt::format("logq_depth{}", depths + 1);
  RecordingBuilder builder(depths, has_entropy);
  std::string_view text = source.bytes();
  TokenRecord record;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string line(take_line(text));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", source.name(), number);
    const Json json = json_line(line, where);
    if (!json.is_object()) throw UsageError("{}: this line is no JSON object", where);
    const JsonPlace here{&json, where, true};
    check_line(here);
    const auto refuse_new = [&](const std::string& key) {
      if (json.contains(key)) throw UsageError("{}: /{}: the first line has no such value", where, key);
    };
    refuse_new(deeper);
    if (!has_entropy) refuse_new("entropy");
    const std::string sequence = name_of(here.at("sequence"));
    const std::string task = here.has("task") ? name_of(here.at("task")) : "";
    record.sequence = sequence;
    record.task = task;
    record.position = here.at("position").integer("an integer");
    record.logp = here.at("logp").logarithm();
    record.logq.clear();
    for (std::size_t depth = 0; depth < depths; ++depth) {
      record.logq.push_back(
          here.at(depth == 0 ? "logq" : fmt::format("logq_depth{}", depth + 1).c_str()).logarithm());
    }
    if (has_entropy) record.entropy = here.at("entropy").logarithm();
    builder.add(record, [&where] { return where; });
  }
  return std::move(builder).take(source.name());
}

}  // namespace

RecordingFormat json_lines_format() {
  return {"json-lines", "speclab's own: the fields of csv, one JSON object per line.", not_json_lines,
          read_json_lines};
}

}  // namespace speclab
