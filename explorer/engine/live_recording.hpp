// Room 4 (the page's view of live decoding) for a recording: rounds over a text that a neural target
// generated, which need only its two columns of log-probabilities (sim/models/recorded_model.hpp), and the
// pair's schedules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/recording_file.hpp"
#include "explorer/engine/live_text.hpp"
#include "sim/models/recorded_model.hpp"

namespace speclab::explorer {

/// Decodes a recording: rounds from the sequence's first token on emit the recorded tokens. Writes for each
/// round `counts`, the number of drafted tokens, and `accepted`; one more token is a correction or a bonus.
/// `first` is the index of its first token in the text; the text's first token follows its last. `column`
/// names the drafter in a file of several. Ignores `task.prompt` and the models' orders.
inline void decode_recording(const LiveTask& task, const std::string& file, const std::string& column,
                             std::size_t sequence, Record& out) {
  const Recording recording = read_recording(file, "", nullptr, column).recording;
  const auto keep = std::make_shared<const std::vector<double>>(keep_probabilities(recording));
  const Model target{RecordedModel(keep, RecordedModel::Side::target)};
  const Model draft{RecordedModel(keep, RecordedModel::Side::draft)};
  const RecordedSequence& of = recording.sequences[sequence % recording.sequences.size()];
  const std::vector<Token> prompt = RecordedModel::prompt(static_cast<std::uint32_t>(of.first));
  const std::vector<RoundRecord> records = record_rounds(target, draft, TokenRule{}, task.gamma, prompt,
                                                         static_cast<std::size_t>(task.tokens), task.seed);
  out.number("first", static_cast<double>(of.first));
  out.number("text_tokens", static_cast<double>(recording.size()));
  out.number("sequences", static_cast<double>(recording.sequences.size()));
  out.text("task", of.task);
  out.list("counts", records, [](const RoundRecord& record) { return record.drafted.size(); });
  out.list("accepted", records, &RoundRecord::accepted);
  detail::describe_totals(records, task.c, out);
  detail::describe_schedules(task, target, draft, prompt, out);
}

}  // namespace speclab::explorer
