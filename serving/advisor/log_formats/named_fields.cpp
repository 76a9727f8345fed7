// Reads CSV or JSON lines whose names --fields gives: drafted=usage.draft, where a dot leads into an object.
#include <boost/algorithm/string/predicate.hpp>

#include "experiments/recording/named_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

/// The values of a record under speclab's names.
using Record = std::map<std::string, std::string>;

void add_record(ModelLogs& logs, const TextLine& line, const Record& record, const LogSource& source) {
  const auto at = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto found = record.find(name);
    if (found == record.end()) return std::nullopt;
    return count_of(line, found->second, name);
  };
  const auto rounds = at("rounds");
  const auto given = at("drafted");
  const std::uint64_t drafted = given ? *given : rounds.value_or(1) * drafted_option(source, "no field says");
  const auto emitted = at("emitted");
  const std::uint64_t accepted =
      emitted ? accepted_of(line.where, *emitted, rounds.value_or(1)) : at("accepted").value_or(0);
  const auto model = record.find("model");
  ModelLog& log = logs[model == record.end() ? "" : model->second];
  if (rounds) {
    log.add_sums(line.where, *rounds, drafted, accepted);
  } else {
    const auto field = source.options().fields.find("drafted");
    if (field != source.options().fields.end() && boost::algorithm::icontains(field->second, "total")) {
      refuse_line(
          line,
          "{} is {}: these are the totals of a request, not of one round; name the number of rounds, too (--fields rounds=...)",
          field->second, drafted);
    }
    log.add_round(line.where, drafted, accepted);
  }
}

ModelLogs read_named_fields(const LogSource& source) {
  const NamedFields& fields = source.options().fields;
  check_fields(fields, {"accepted", "emitted", "drafted", "rounds", "model"});
  if (fields.count("accepted") + fields.count("emitted") != 1) {
    throw UsageError("--fields: name one of accepted and emitted (accepted, and one more per round)");
  }
  ModelLogs logs;
  each_named_record(source.lines(), fields, [&](const TextLine& line, const Record& record) {
    add_record(logs, line, record, source);
  });
  return logs;
}

}  // namespace

LogFormat named_fields_log_format() {
  return {"named_fields",
          "any",
          "CSV or lines of JSON whose columns or keys --fields names.",
          "{\"model\": \"m\", \"usage\": {\"draft\": 5, \"kept\": 3}}\n",
          "",
          [](const LogSource& source) { return !source.options().fields.empty(); },
          read_named_fields};
}

}  // namespace speclab
