// Builds a recording in speclab's own format, token by token: sequence, position, token, logp, logq[,
// logq_depth2, ...], optionally entropy and task. It is stored as CSV or JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analysis/recorded/recording.hpp"
#include "core/stop.hpp"

namespace speclab {

struct JsonPlace;

/// One token. Its texts point into the file.
struct TokenRecord {
  std::string_view sequence;
  std::int64_t position = 0;
  double logp = 0;
  std::vector<double> logq;  ///< by depth
  double entropy = 0;
  std::string_view task;
};

class RecordingBuilder {
 public:
  /// `depths`: number of columns by depth; `entropy`: whether there is an entropy column.
  RecordingBuilder(std::size_t depths, bool entropy);

  /// Adds a record; `where` returns its place, for errors. Throws UsageError for values that are not
  /// log-probabilities, non-consecutive positions, and a sequence that appears again.
  void add(const TokenRecord& record, const std::function<std::string()>& where);
  /// Returns the recording. Throws UsageError if nothing was added.
  Recording take(const std::string& file) &&;

 private:
  Recording recording_;
  bool entropy_;
  std::int64_t next_position_ = 0;
  std::unordered_set<std::string> seen_;
  StopCounter now_and_then_{1 << 10};
};

/// Throws UsageError for keys of a JSON line, or of its rows, that this program does not know: as in CSV,
/// they may change the meaning of the others. Also throws for a logp or logq that is not that of its row.
void check_line(const JsonPlace& line);

/// Returns the depth, from 0, of "logq", "logq_depth2", ...; empty for other names.
std::optional<std::size_t> depth_of(std::string_view column);

}  // namespace speclab
