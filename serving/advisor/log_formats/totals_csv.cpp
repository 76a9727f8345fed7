// Reads columns "position,drafted,accepted": how many rounds drafted and how many accepted each position.
#include <algorithm>

#include "experiments/recording/named_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

bool is_totals_csv(const LogSource& source) {
  const std::vector<std::string> names = header_names(source.lines().front().text);
  return std::find(names.begin(), names.end(), "position") != names.end();
}

ModelLogs read_totals_csv(const LogSource& source) {
  const std::vector<TextLine>& lines = source.lines();
  const NamedColumns columns(lines[0], {"position", "drafted", "accepted"});
  std::vector<std::uint64_t> accepted;
  std::uint64_t rounds = 0;
  std::uint64_t start = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    const std::vector<std::string> words = columns.words(line);
    const std::uint64_t position = count_of(line, words[0], "position");
    const std::uint64_t drafted = count_of(line, words[1], "drafted");
    if (i == 1) {
      start = position;
      rounds = drafted;
    }
    if (start > 1 || position != start + i - 1) {
      refuse_line(line, "position {}; expected 1, 2, 3, ... or 0, 1, 2, ...", position);
    }
    if (drafted != rounds) {
      refuse_line(
          line,
          "position {} was drafted {} times, the first {} times; totals need rounds of one length, a log of rounds does not",
          position, drafted, rounds);
    }
    accepted.push_back(count_of(line, words[2], "accepted"));
  }
  ModelLog log;
  log.add_totals(lines[0].where, rounds, accepted, rounds * accepted.size());
  return {{"", log}};
}

}  // namespace

LogFormat totals_csv_log_format() {
  return {"totals_csv",
          "any",
          "How many rounds drafted and accepted each position: \"position,drafted,accepted\".",
          "position,drafted,accepted\n1,400,334\n2,400,268\n3,400,201\n",
          "",
          is_totals_csv,
          read_totals_csv};
}

}  // namespace speclab
