// Reads keys of a model's config.json, which have several names and are often null.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// An object of a config.json, with file and place for errors. `within` is "" or "/dflash_config".
struct ModelKeys {
  const Json& object;
  std::string file;
  std::string within{};

  bool has(const char* key) const;
  /// Returns the first of these keys that is neither missing nor null; empty if there is none. Throws
  /// UsageError unless it is an integer of 0 or more.
  std::optional<int> dimension(std::initializer_list<const char*> keys) const;
  /// Does the same for an integer above 0; throws UsageError if there is none.
  int required(std::initializer_list<const char*> keys) const;
  bool flag(const char* key, bool otherwise) const;
  /// Returns the value if it is text, else "".
  std::string text(const char* key) const;
  /// Returns the architecture ("LlamaForCausalLMEagle3"); empty unless there is exactly one.
  std::string architecture() const;
  /// Throws UsageError "file: /key: value; remedy".
  [[noreturn]] void refuse(const char* key, const std::string& what) const;
};

}  // namespace speclab
