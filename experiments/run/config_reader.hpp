// What is built from a config, kept for every config that says the same in all that its builder read. No list
// of what a builder depends on is kept by hand, so that none can be forgotten.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "experiments/run/config.hpp"

namespace speclab {

/// Parts of a config, by their place in its description (config_type).
using ConfigParts = std::set<std::size_t>;
/// What a config says in these parts.
std::string text_of(const Config& config, const ConfigParts& parts);

/// A config that notes which of its parts are read. Where a config is taken as one, any config will do.
class ConfigReader {
 public:
  ConfigReader(const Config& config) : config_(&config) {}
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;

  /// A part of the config: reader[&Config::seed].
  template <class T>
  const T& operator[](T Config::*part) const {
    const T& value = config_->*part;
    note(reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(config_), sizeof value);
    return value;
  }

  const ConfigParts& parts() const { return parts_; }

 private:
  void note(std::ptrdiff_t offset, std::size_t size) const;

  const Config* config_;
  mutable ConfigParts parts_;
};

/// Things that were built from configs.
template <class T>
class BuiltFromConfigs {
 public:
  /// `build(reader)`, or what it returned for another config that said the same in the parts that it read
  /// there. `more` stands for everything else that `build` depends on. Nothing is kept when it throws.
  template <class Build>
  std::shared_ptr<const T> get(const Config& config, const Build& build, const std::string& more = {}) {
    for (const auto& [parts, kept] : kept_) {
      const auto found = kept.find(more + text_of(config, parts));
      if (found != kept.end()) return found->second;
    }
    const ConfigReader reader(config);
    auto built = std::make_shared<const T>(build(reader));
    kept_[reader.parts()].emplace(more + text_of(config, reader.parts()), built);
    return built;
  }

  void clear() { kept_.clear(); }

 private:
  std::map<ConfigParts, std::map<std::string, std::shared_ptr<const T>>> kept_;
};

}  // namespace speclab
