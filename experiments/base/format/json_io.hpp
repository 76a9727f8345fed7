// Reading a config file, and setting values in it by path.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// Parses JSON. Throws ConfigError with line and column for text that is not JSON, for an object that says
/// one key twice (of which a parser would silently keep the last), and for nesting beyond 100.
Json parse_json(const std::string& text);

/// One line of JSON Lines; discarded (`is_discarded`) when it is not JSON or nested beyond 100.
Json json_line(const std::string& text);

/// The whole file as text; ConfigError when it cannot be read.
std::string read_text(const std::filesystem::path& file);

/// Sets the value at a JSON pointer ("/models/draft/alpha"), making objects on the way. ConfigError at
/// `where` when the pointer is malformed, of more than 100 parts, or runs through something that is not an
/// object or list.
void set_at(Json& document, const std::string& pointer, const Json& value, const std::string& where);

/// "path=value" of --set: the path with or without a leading slash, dots or slashes between names, and a
/// key that is itself a path after an empty one ("sweep./gamma"); the value
/// as JSON, or as text when it is not JSON; null removes the key. Throws UsageError without "=".
void apply_assignment(Json& document, const std::string& assignment);

}  // namespace speclab
