// Reads keys of a model's config.json, which have several names and often are null.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// An object in a config.json, with the file and its place in the file for errors: "" or "/dflash_config".
struct ModelKeys {
  const Json& object;
  std::string file;
  std::string within{};

  bool has(const char* key) const;
  /// Returns the first of these keys that holds a number; empty if each is missing or null. Throws UsageError
  /// unless the number is an integer of 0 or more.
  std::optional<int> dimension(std::initializer_list<const char*> keys) const;
  /// Does the same for a number above 0, and throws UsageError if there is none.
  int required(std::initializer_list<const char*> keys) const;
  bool flag(const char* key, bool otherwise) const;
  /// Returns a text; "" if the value is no text.
  std::string text(const char* key) const;
  /// Returns the architecture, such as "LlamaForCausalLMEagle3"; empty unless there is exactly one.
  std::string architecture() const;
  /// Throws UsageError "file: /key: value; remedy".
  [[noreturn]] void refuse(const char* key, const std::string& what) const;
};

}  // namespace speclab
