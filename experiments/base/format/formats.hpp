// The format numbers of files that speclab writes and reads. A change that an earlier program cannot read, or
// would misread, increments the number. Journals have no number, because only the program that wrote them
// reads them (experiments/results/journal_file.hpp).
#pragma once

#include "experiments/base/format/json.hpp"

namespace speclab {

inline constexpr int config_format = 1;
inline constexpr int result_format = 1;

/// Throws ConfigError at "/format" if a document states a format other than `number`. The message names both
/// formats, and ends with the remedy `way_out`.
void require_format(const Json& document, int number, const char* way_out);

}  // namespace speclab
