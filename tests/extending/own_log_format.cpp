// A format of server logs: one JSON object per request.
#include <nlohmann/json.hpp>

#include "serving/advisor/json_records.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

constexpr const char* rounds_key = "rounds";
constexpr const char* accepted_key = "accepted_at";

ModelLogs read_request_lines(const LogSource& source) {
  ModelLogs logs;
  for (const JsonRecord& record : records_with(source, {accepted_key})) {
    const JsonPlace& request = record.place;
    for (const auto& [key, value] : request.value->items()) {
      if (key != rounds_key && key != accepted_key)
        throw UsageError("{}: not known; known are {} and {}", request.below(key), rounds_key, accepted_key);
    }
    const std::vector<std::uint64_t> accepted = counts_in(request.at(accepted_key));
    const std::uint64_t rounds = count_in(request.at(rounds_key));
    logs[record.model].add_totals(request.where, rounds, accepted, rounds * accepted.size());
  }
  return logs;
}

}  // namespace

LogFormat request_lines_log_format() {
  return {.name = "request_lines",
          .server = "an own server",
          .sentence = "A line per request: its rounds, and how many of them accepted each position.",
          .sample = "{\"model\": \"m\", \"draft\": {\"rounds\": 40, \"accepted_at\": [31, 22, 14]}}\n",
          .source = "",
          .fits = [](const LogSource& source) { return has_record_with(source, {accepted_key}); },
          .read = read_request_lines};
}

}  // namespace speclab
