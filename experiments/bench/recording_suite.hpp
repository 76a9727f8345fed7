// `speclab bench recordings`: how fast recordings are read and planned.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/format/fields.hpp"

namespace speclab {

struct RecordingSuiteOptions {
  std::size_t tokens = 1'000'000;  ///< of the file of two columns
  std::size_t rows = 2'000;        ///< of the files of rows
  std::size_t vocab = 49'152;
  int repetitions = 5;
};

struct RecordingSpeed {
  std::string what;
  double bytes = 0;
  double seconds = 0;  ///< median, wall time
  double spread = 0;   ///< of the repetitions; see interleaved_runs.hpp
  double bytes_per_second = 0;
};

struct RecordingReport {
  std::string machine;
  int threads = 0;
  std::vector<RecordingSpeed> speeds;
};
template <>
const Typed<RecordingReport>& described();

/// Writes the files in a TemporaryFolder, measures, removes them. Throws
/// std::runtime_error when the disk is full.
RecordingReport run_recording_suite(const RecordingSuiteOptions& options);

std::string recording_report_text(const RecordingReport& report);

}  // namespace speclab
