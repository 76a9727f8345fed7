// Finds the entry of a list that has a given name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// Returns null if there is no such entry.
template <class Entry>
const Entry* find_named(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

template <class Entry>
const Entry* find_named(const std::vector<const Entry*>& entries, std::string_view name) {
  for (const Entry* entry : entries) {
    if (entry->name == name) return entry;
  }
  return nullptr;
}

/// Returns the names of entries, or of pointers to entries.
template <class Entries>
std::vector<std::string> entry_names(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if constexpr (requires { entry->name; }) {
      names.emplace_back(entry->name);
    } else {
      names.emplace_back(entry.name);
    }
  }
  return names;
}

/// Returns the entry with this name. If there is none, throws `unknown(text)`, where `text` suggests near
/// names (see suggestion).
template <class Entry, class Unknown>
const Entry& named_entry(const std::vector<Entry>& entries, const std::string& name, const Unknown& unknown) {
  if (const Entry* const found = find_named(entries, name)) return *found;
  throw unknown(suggestion(name, entry_names(entries)));
}

}  // namespace speclab
