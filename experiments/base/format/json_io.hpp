// Reads JSON files and sets values in them by path.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// The format numbers of files that speclab writes and reads. A change that an earlier program cannot read,
/// or would misread, increments the number. Journals have no number, because only the program that wrote them
/// reads them (experiments/results/journal_file.hpp).
inline constexpr int config_format = 1;
inline constexpr int result_format = 1;
/// Throws ConfigError at "/format" if a document states a format other than `number`. The message names both
/// formats, and ends with the remedy `way_out`.
void require_format(const Json& document, int number, const char* way_out);

/// Parses JSON. Throws ConfigError with line and column for text that is not JSON, for an object that repeats
/// a key (a parser would silently keep the last), and for nesting deeper than 100.
Json parse_json(const std::string& text);

/// Parses one line of JSON Lines. The result is discarded (`is_discarded`) if the line is not JSON or is
/// nested deeper than 100. Throws UsageError, naming `where`, if an object has a key twice.
Json json_line(const std::string& text, const std::string& where);

/// Returns the whole file as text. Throws ConfigError if it cannot be read.
std::string read_text(const std::filesystem::path& file);

/// Sets the value at a JSON pointer ("/models/draft/alpha") and creates missing objects along it. Throws
/// ConfigError at `where` if the pointer is malformed, has more than 100 parts, or passes through something
/// that is neither an object nor a list.
void set_at(Json& document, const std::string& pointer, const Json& value, const std::string& where);

/// Applies "path=value" of --set. The path may begin with a slash and has dots or slashes between names; a
/// key that is itself a path follows an empty name ("sweep./gamma"). The value is JSON, else text; null
/// removes the key. Throws UsageError without "=".
void apply_assignment(Json& document, const std::string& assignment);

}  // namespace speclab
