// Reads one line per round, {"drafted": 5, "accepted": 3} or [5, 3]. Other keys are ignored.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/format/json_io.hpp"
#include "experiments/recording/json_document.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

/// Returns true for {"drafted": 5, "accepted": 3} and [5, 3].
bool is_round(const Json& value) {
  if (value.is_array()) return value.size() == 2 && value[0].is_number() && value[1].is_number();
  return value.is_object() && value.contains("drafted") && value.contains("accepted");
}

bool is_rounds_json(const LogSource& source) {
  const std::string& first = source.lines().front().text;
  const bool keys =
      first.find("\"drafted\"") != std::string::npos || first.find("\"accepted\"") != std::string::npos;
  const bool pair = first.front() == '[' && first.size() > 1 &&
                    first.find_first_not_of("[]0123456789,.-+ \t") == std::string::npos;
  return (first.front() == '{' && keys) || pair ||
         std::any_of(source.documents().begin(), source.documents().end(),
                     [](const JsonDocument& document) { return is_round(document.value); });
}

ModelLogs read_rounds_json(const LogSource& source) {
  ModelLog log;
  for (const TextLine& line : source.lines()) {
    const Json value = json_line(line.text, line.where);
    const bool pair = value.is_array() && value.size() == 2;
    if (!pair && !is_round(value)) {
      refuse_line(line, "{} is not {{\"drafted\": 5, \"accepted\": 3}} or [5, 3]", brief(line.text));
    }
    if (!pair && value.contains("rounds")) refuse_totals(line);
    const std::string drafted = (pair ? value[0] : value["drafted"]).dump();
    const std::string accepted = (pair ? value[1] : value["accepted"]).dump();
    // Read first, so that its error comes first.
    const std::uint64_t count = count_of(line, drafted, "drafted");
    log.add_round(line.where, count, count_of(line, accepted, "accepted"));
  }
  return {{"", log}};
}

}  // namespace

LogFormat rounds_json_log_format() {
  return {"rounds_json",
          "any",
          "A line of JSON for each round, {\"drafted\": 5, \"accepted\": 3} or [5, 3].",
          "{\"drafted\": 5, \"accepted\": 3}\n[5, 0]\n",
          "",
          is_rounds_json,
          read_rounds_json};
}

}  // namespace speclab
