// Reads lines "drafted,accepted", with or without that header; with it, columns may be in any order.
#include <algorithm>

#include "experiments/recording/named_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

bool has_words(const std::string& line) {
  return line.find_first_not_of("0123456789, \t-+.") != std::string::npos;
}

bool is_rounds_csv(const LogSource& source) {
  const std::string& first = source.lines().front().text;
  const std::vector<std::string> names = header_names(first);
  const auto named = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool headed = (named("drafted") || named("accepted")) && !named("position");
  return headed || (!has_words(first) && first.find(',') != std::string::npos);
}

ModelLogs read_rounds_csv(const LogSource& source) {
  const std::vector<TextLine>& lines = source.lines();
  const bool headed = has_words(lines[0].text);
  if (const auto names = header_names(lines[0].text);
      std::find(names.begin(), names.end(), "rounds") != names.end()) {
    refuse_totals(lines[0]);
  }
  const NamedColumns columns(headed ? lines[0] : TextLine{"", "drafted,accepted"}, {"drafted", "accepted"});
  ModelLog log;
  for (std::size_t i = headed ? 1 : 0; i < lines.size(); ++i) {
    if (!headed && split(lines[i].text, ',').size() != 2) {
      refuse_line(lines[i], "\"{}\" is not \"drafted,accepted\", such as 5,3", brief(lines[i].text));
    }
    const std::vector<std::string> words = columns.words(lines[i]);
    // Read first, so that its error comes first.
    const std::uint64_t drafted = count_of(lines[i], words[0], "drafted");
    log.add_round(lines[i].where, drafted, count_of(lines[i], words[1], "accepted"));
  }
  return {{"", log}};
}

}  // namespace

LogFormat rounds_csv_log_format() {
  return {"rounds_csv",
          "any",
          "A line \"drafted,accepted\" for each round.",
          "drafted,accepted\n5,3\n5,0\n5,5\n",
          "",
          is_rounds_csv,
          read_rounds_csv};
}

}  // namespace speclab
