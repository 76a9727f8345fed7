#include "experiments/recording/columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/log_probability.hpp"

namespace speclab {

namespace {

void refuse_unknown_keys(const JsonPlace& place, const std::vector<std::string>& known, bool depths) {
  constexpr std::size_t max_shown = 40;
  if (!place.value->is_object()) place.refuse("an object");
  for (const auto& [key, value] : place.value->items()) {
    if ((depths && depth_of(key)) || std::ranges::find(known, key) != known.end()) continue;
    throw UsageError("{}: the key \"{}\" is not known; expected {}{}; leave others out", place.where,
                     printable(key, max_shown), fmt::join(known, ", "),
                     depths ? " and logq_depth2, ..." : "");
  }
}

}  // namespace

RecordingBuilder::RecordingBuilder(std::size_t depths, bool entropy) : entropy_(entropy) {
  recording_.draft.resize(depths);
}

void RecordingBuilder::add(const TokenRecord& record, const std::function<std::string()>& where) {
  now_and_then_.step();
  std::vector<RecordedSequence>& sequences = recording_.sequences;
  if (sequences.empty() || sequences.back().name != record.sequence) {
    std::string name(record.sequence);
    if (!seen_.insert(name).second) {
      throw UsageError("{}: sequence {} comes again; the tokens of a sequence must be together", where(),
                       name);
    }
    sequences.push_back({std::move(name), std::string(record.task), recording_.size(), 0});
    next_position_ = record.position;
  } else if (record.position != next_position_) {
    throw UsageError(
        "{}: position {} after {} in sequence {}; a token is missing or out of order, and rounds need every token",
        where(), record.position, next_position_ - 1, sequences.back().name);
  }
  if (sequences.back().task != record.task)
    throw UsageError("{}: task {} in a sequence of task {}", where(), record.task, sequences.back().task);
  ++sequences.back().count;
  ++next_position_;
  // Errors are rare, so that their place is computed only then.
  const auto usual = [](double value) { return value <= 0 && value > -9999; };
  const double p = record.logp;
  recording_.target.push_back(
      usual(p) ? p : target_log(checked_log(p, where(), "logp"), where(), recording_.size()));
  for (std::size_t depth = 0; depth < record.logq.size(); ++depth) {
    const double q = record.logq[depth];
    const std::string name = usual(q) || depth == 0 ? "logq" : fmt::format("logq_depth{}", depth + 1);
    recording_.draft[depth].push_back(usual(q) ? q : checked_log(q, where(), name));
  }
  if (entropy_) {
    if (!(record.entropy >= -1e-4 && std::isfinite(record.entropy))) {
      throw UsageError("{}: entropy is {}; expected nats, 0 or more", where(), record.entropy);
    }
    recording_.entropy.push_back(record.entropy);
  }
}

Recording RecordingBuilder::take(const std::string& file) && {
  if (recording_.size() == 0) throw UsageError("{}: holds no tokens", file);
  return std::move(recording_);
}

void check_line(const JsonPlace& line) {
  refuse_unknown_keys(
      line, {"sequence", "position", "token", "logp", "logq", "entropy", "task", "target", "draft"}, true);
  constexpr double rounding = 1e-3;
  for (const auto& [row_key, key] : {std::pair{"target", "logp"}, std::pair{"draft", "logq"}}) {
    if (!line.has(row_key)) continue;
    const JsonPlace row = line.at(row_key);
    refuse_unknown_keys(row, {"ids", "logp", "tail"}, false);
    if (!row.has("ids") || !row.has("logp")) continue;
    const JsonPlace ids = row.at("ids");
    const JsonPlace logs = row.at("logp");
    for (std::size_t i = 0; i < std::min(ids.size(), logs.size()) && line.has("token") && line.has(key);
         ++i) {
      if (*ids.at(i).value != *line.at("token").value) continue;
      const double there = logs.at(i).number();
      if (std::abs(line.at(key).logarithm() - there) > rounding * (1 + std::abs(there)))
        line.at(key).refuse(fmt::format("{}, as in the row \"{}\"", there, row_key));
    }
  }
}

std::optional<std::size_t> depth_of(std::string_view column) {
  constexpr std::string_view prefix = "logq_depth";
  if (column == "logq") return 0;
  const auto depth = column.starts_with(prefix) ? integer_in(column.substr(prefix.size())) : std::nullopt;
  return depth && *depth >= 2 ? std::optional(static_cast<std::size_t>(*depth - 1)) : std::nullopt;
}

}  // namespace speclab
