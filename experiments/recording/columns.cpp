#include "experiments/recording/columns.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/recording/log_probability.hpp"

namespace speclab {

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
  if (!(record.logp <= 0 && record.logp > -9999)) {
    recording_.target.push_back(
        target_log(checked_log(record.logp, where(), "logp"), where(), recording_.size()));
  } else {
    recording_.target.push_back(record.logp);
  }
  for (std::size_t depth = 0; depth < record.logq.size(); ++depth) {
    const double value = record.logq[depth];
    recording_.draft[depth].push_back(
        value <= 0 && value > -9999
            ? value
            : checked_log(value, where(),
                          depth == 0 ? std::string("logq") : fmt::format("logq_depth{}", depth + 1)));
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

std::optional<std::size_t> depth_of(std::string_view column) {
  constexpr std::string_view prefix = "logq_depth";
  if (column == "logq") return 0;
  const auto depth = column.starts_with(prefix) ? integer_in(column.substr(prefix.size())) : std::nullopt;
  return depth && *depth >= 2 ? std::optional(static_cast<std::size_t>(*depth - 1)) : std::nullopt;
}

}  // namespace speclab
