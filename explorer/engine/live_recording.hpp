// Room 4 for a recording: rounds over a text that a neural target generated, which only need its two columns
// (sim/models/recorded_model.hpp), and the pair's schedules.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "experiments/recording/recording_file.hpp"
#include "explorer/engine/live_text.hpp"
#include "sim/models/recorded_model.hpp"

namespace speclab::explorer {

/// Decodes a recording: rounds from the sequence's first token on emit the recorded tokens. For each round,
/// `counts` is the number of drafted tokens and `accepted` of kept ones; one more token is a correction or a
/// bonus. `first` is the index of its first token in the text; after the text's last token the first follows.
/// `column` is the drafter in a file of several. `task.prompt` and orders do not matter.
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
