// The numbers of the formats of files that speclab reads again. A change of what such a file may hold, which
// an earlier program cannot read or would understand otherwise, raises its number. Journals are read by the
// program that wrote them alone (experiments/results/journal_file.hpp).
#pragma once

#include "experiments/base/format/json.hpp"

namespace speclab {

inline constexpr int config_format = 1;
inline constexpr int result_format = 1;

/// Throws ConfigError at "/format" where a document states another format than `number`. `way_out` ends the
/// sentence, after what it is and what this program reads.
void require_format(const Json& document, int number, const char* way_out);

}  // namespace speclab
