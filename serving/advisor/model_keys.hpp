// Keys of a model's config.json, which have many names and often are null.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// An object of a config.json, with the file and where in it the object lies, for errors: "" or
/// "/dflash_config".
struct ModelKeys {
  const Json& object;
  std::string file;
  std::string within{};

  bool has(const char* key) const;
  /// The first of these keys that holds a number; none when each is missing or null. UsageError unless it is
  /// an integer of 0 or more.
  std::optional<int> dimension(std::initializer_list<const char*> keys) const;
  /// The same, above 0; UsageError without it.
  int required(std::initializer_list<const char*> keys) const;
  bool flag(const char* key, bool otherwise) const;
  /// "" where it is no text.
  std::string text(const char* key) const;
  /// "LlamaForCausalLMEagle3" and its like; empty unless there is exactly one.
  std::string architecture() const;
  /// UsageError "file: /key: value; remedy".
  [[noreturn]] void refuse(const char* key, const std::string& what) const;
};

}  // namespace speclab
