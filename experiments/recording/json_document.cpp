#include "experiments/recording/json_document.hpp"

#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"

namespace speclab {

std::vector<JsonDocument> json_documents(std::string_view text, const std::string& name,
                                         std::string& problem) {
  std::vector<JsonDocument> documents;
  constexpr std::string_view event_prefix = "data:";
  const std::string_view line = first_line_of(text);
  const bool stream = line.starts_with(event_prefix);
  if (!stream && (line.empty() || (line.front() != '{' && line.front() != '['))) {
    problem = "is not JSON, which begins with { or [";
    return documents;
  }
  const Json first = json_line(std::string(line), name + ":1");
  if (stream || (!first.is_discarded() && line.size() + 2 < text.size())) {
    for (TextLine& one : lines_of(text, name)) {
      if (stream && !one.text.starts_with(event_prefix)) continue;
      if (stream) one.text = trimmed(one.text.substr(event_prefix.size()));
      if (one.text == "[DONE]") continue;
      Json value = json_line(one.text, one.where);
      if (value.is_discarded()) {
        problem = fmt::format("{}: this line is not JSON, but the first is", one.where);
        return {};
      }
      documents.push_back({one.where, std::move(value)});
    }
    return documents;
  }
  try {
    Json whole = parse_json(std::string(text));
    if (!whole.is_array()) {
      documents.push_back({name, std::move(whole)});
      return documents;
    }
    for (std::size_t i = 0; i < whole.size(); ++i)
      documents.push_back({fmt::format("{}[{}]", name, i), std::move(whole[i])});
  } catch (const ConfigError& error) {
    problem = error.what();
  }
  return documents;
}

std::vector<JsonDocument> json_documents(std::string_view text, const std::string& name) {
  std::string problem;
  std::vector<JsonDocument> documents = json_documents(text, name, problem);
  // The problem of a line that is not JSON already names the file.
  if (!problem.empty()) throw UsageError(problem.starts_with(name) ? problem : name + ": " + problem);
  return documents;
}

}  // namespace speclab
