// Reads keys of a model's config.json, which have several names and are often null.
#pragma once

#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/json.hpp"

namespace speclab {

/// The end of a sentence that refuses a model: what to give instead.
constexpr const char* way_out =
    "give --parameters total,active and --kv-bytes-per-token, or --c, or measured times (--target-times, --draft-times)";

/// An object in a config.json, with the file and its place in the file for errors: "" or "/dflash_config".
/// Every function notes the keys that it was asked for, so that keys which nothing reads can be refused.
struct ModelKeys {
  const Json& object;
  std::string file;
  std::string within{};
  std::shared_ptr<std::set<std::string>> asked = std::make_shared<std::set<std::string>>();

  bool has(const char* key) const;
  /// Returns the first of these keys that is neither missing nor null; empty if there is none. Throws
  /// UsageError unless it is an integer of 0 or more, or a list that repeats one for each layer.
  std::optional<int> dimension(std::initializer_list<const char*> keys) const;
  /// Returns the first of these keys that is neither missing nor null. Throws UsageError unless it is an
  /// integer above 0.
  int required(std::initializer_list<const char*> keys) const;
  bool flag(const char* key, bool otherwise) const;
  /// Returns a list; empty if it is missing or null. Throws UsageError for another type, for entries of
  /// another type, and unless a list that is not empty has an entry for each of `layers` layers (0: any).
  std::vector<int> numbers(const char* key, int layers = 0) const;
  std::vector<std::string> texts(const char* key, int layers = 0) const;
  /// Returns a text; "" if the value is no text.
  std::string text(const char* key) const;
  /// Returns the architecture ("LlamaForCausalLMEagle3"); empty unless there is exactly one.
  std::string architecture() const;
  /// Returns the object at a key; empty if it is missing or null. Throws UsageError for another type.
  std::optional<ModelKeys> within_object(const char* key) const;
  /// Throws UsageError for the first key that was not asked for, unless it is known to change neither
  /// parameters nor attention nor cache, or its value is null, false, 0 or empty.
  void refuse_unknown() const;
  /// Throws UsageError "file: /key: value; remedy".
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;
};

}  // namespace speclab
