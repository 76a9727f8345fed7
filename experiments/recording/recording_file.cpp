#include "experiments/recording/recording_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/named_records.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

struct ReadPart {
  RecordingPart part;
  std::string format;
};

/// Returns the first format that fits the file.
const RecordingFormat& recording_format_of(const RecordingSource& source) {
  std::string reasons;
  for (const RecordingFormat& format : recording_formats()) {
    const std::string reason = format.why_not(source);
    if (reason.empty()) return format;
    reasons += fmt::format("\n  {:<20}{}", format.name, reason);
  }
  if (const std::vector<std::string> columns = header_names(source.first_line()); !columns.empty()) {
    throw UsageError(
        "{}: no format of recordings has the columns {}; expected sequence,position,token,logp,logq, or --fields that say which they are",
        source.name(), printable(fmt::format("{}", fmt::join(columns, ", ")), 300));
  }
  throw UsageError("{}: in no known format of recordings:{}", source.name(), reasons);
}

ReadPart read_part(const std::string& file, const std::string& column, const NamedFields& fields) {
  const RecordingSource source(file, column, fields);
  const RecordingFormat& format = recording_format_of(source);
  if (!column.empty() && format.drafters == nullptr) {
    throw UsageError("{}: {} has one draft, and no column \"{}\"; leave the column out", file, format.name,
                     printable(column, 40));
  }
  return {format.read(source), format.name};
}

[[noreturn]] void refuse_second(const std::string& file, const std::string& format) {
  throw UsageError("{}: {} holds both models' columns; leave out --draft-recording", file, format);
}

/// Throws UsageError if all log-probabilities in a server's answers are 0, for several tokens: some write
/// that where they have none, and a plan from them would promise that every draft is accepted. In a file with
/// the columns of both models 0 means greedy decoding.
void refuse_zeros(const Recording& recording, const std::string& target, const std::string& draft) {
  const auto check = [](const std::vector<double>& logs, const std::string& file, const char* model) {
    if (logs.size() < 2 || std::any_of(logs.begin(), logs.end(), [](double log) { return log != 0; })) return;
    throw UsageError(
        "{}: all {} log-probabilities of the {} are 0, which servers write where they have none (llama-server under speculation); score the text with a server that does not speculate",
        file, logs.size(), model);
  };
  check(recording.target, target, "target");
  for (const std::vector<double>& logs : recording.draft) check(logs, draft, "draft");
}

ReadRecording recording_in(const std::string& file, const std::string& draft, const AnyRule* rate,
                           const std::string& column, const NamedFields& fields) {
  ReadPart first = read_part(file, column, fields);
  if (draft.empty()) {
    if (auto* whole = std::get_if<Recording>(&first.part)) return {std::move(*whole), first.format};
    if (const auto* rows = std::get_if<RowFile>(&first.part); rows != nullptr && rows->draft)
      return {measure_rows(*rows, rate), first.format};
    throw UsageError("{}: {} holds one model; give the draft's of the same tokens as --draft-recording", file,
                     first.format);
  }
  ReadPart second = read_part(draft, "", fields);
  if (std::holds_alternative<Recording>(first.part)) refuse_second(file, first.format);
  if (std::holds_alternative<Recording>(second.part)) refuse_second(draft, second.format);
  const std::string format =
      first.format == second.format ? first.format : first.format + ", with " + second.format;
  const auto* rows = std::get_if<RowFile>(&first.part);
  const auto* draft_rows = std::get_if<RowFile>(&second.part);
  if ((rows == nullptr) != (draft_rows == nullptr)) {
    throw UsageError("{}: {}, but {}: {}; give rows of both models, or log-probabilities of both", file,
                     first.format, draft, second.format);
  }
  if (rows != nullptr) return {measure_rows(join(*rows, *draft_rows), rate), format};
  Recording joined = join(std::get<ScoredText>(first.part), std::get<ScoredText>(second.part), file, draft);
  refuse_zeros(joined, file, draft);
  return {std::move(joined), format};
}

}  // namespace

bool is_recording(const std::string& file) {
  const RecordingSource source(file);
  const auto& formats = recording_formats();
  return std::any_of(formats.begin(), formats.end(),
                     [&](const RecordingFormat& format) { return format.why_not(source).empty(); });
}

std::vector<std::string> drafters_in(const std::string& file) {
  const RecordingSource source(file);
  const RecordingFormat& format = recording_format_of(source);
  return format.drafters == nullptr ? std::vector<std::string>{} : format.drafters(source);
}

ReadRecording read_recording(const std::string& file, const std::string& draft, const AnyRule* rate,
                             const std::string& column, const NamedFields& fields) {
  return read_in_memory(file, [&] { return recording_in(file, draft, rate, column, fields); });
}

}  // namespace speclab
