// The native recording, token by token: sequence, position, token, logp, logq[, logq_depth2, ...], and
// optionally entropy and task. As CSV and as JSON lines.
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

/// One token's record. Texts view the file.
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
  /// Columns by depth, and which optional columns there are.
  RecordingBuilder(std::size_t depths, bool entropy);

  /// `where` says where the record stands, for errors. Throws UsageError for numbers that are no
  /// log-probabilities, positions that do not follow one another, and sequences that come again.
  void add(const TokenRecord& record, const std::function<std::string()>& where);
  /// Throws UsageError when nothing was added.
  Recording take(const std::string& file) &&;

 private:
  Recording recording_;
  bool entropy_;
  std::int64_t next_position_ = 0;
  std::unordered_set<std::string> seen_;
  StopCounter now_and_then_{1 << 10};
};

/// The depth, from 0, of "logq", "logq_depth2", ...; none of other names.
std::optional<std::size_t> depth_of(std::string_view column);

}  // namespace speclab
