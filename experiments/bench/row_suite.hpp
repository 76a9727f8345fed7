// `speclab bench rows`: how fast the work on rows of large vocabularies is, beside the memory that it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/format/fields.hpp"

namespace speclab {

struct RowSuiteOptions {
  std::vector<std::int64_t> vocabs{49'152, 151'936};
  std::size_t rows = 64;  ///< that are worked on in turn
  int repetitions = 5;
};

struct RowSpeed {
  std::string what;
  std::int64_t vocab = 0;
  double seconds = 0;  ///< a row: median, processor time
  double spread = 0;   ///< of the repetitions; see interleaved_runs.hpp
  double bytes = 0;    ///< a row: that have to be read and written, each once
  double bytes_per_second = 0;
};

struct RowReport {
  std::string machine;
  std::size_t rows = 0;
  std::vector<RowSpeed> speeds;
};
template <>
const Typed<RowReport>& described();

/// Of each vocabulary first the memory alone, then what a position of decoding takes: from logits to a row
/// under several sampling options, as its definition has it and fused, overlap, correction, draw.
RowReport run_row_suite(const RowSuiteOptions& options);

std::string row_report_text(const RowReport& report);

}  // namespace speclab
