// Caches objects built from configs. The cache records which parts of a config a builder reads, and reuses
// the object for every config that agrees in these parts; so no dependency can be forgotten.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/shown_config.hpp"

namespace speclab {

/// Parts of a config, by their index in its description (config_type).
using ConfigParts = std::set<std::size_t>;
/// Returns the contents of these parts of a config as text.
std::string text_of(const Config& config, const ConfigParts& parts);
/// Returns a value as text.
std::string text_of(const Type& type, const void* value);

/// A config that records which of its parts are read. Config converts to it implicitly.
class ConfigReader {
 public:
  ConfigReader(const Config& config) : config_(&config), shown_(shown_part(config)) {}
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;

  /// Returns a part of the config: reader[&Config::seed].
  template <class T, class Part>
  const T& operator[](T Part::*part) const {
    const T& value = config_->*part;
    note(reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(config_), sizeof value);
    return value;
  }

  /// Returns the section whose struct is T.
  template <class T>
  const T& section() const {
    note_section(section_key<T>());
    return shown_.section<T>();
  }

  const ConfigParts& parts() const { return parts_; }

 private:
  void note(std::ptrdiff_t offset, std::size_t size) const;
  void note_section(const std::string& key) const;

  const Config* config_;
  const ShownConfig& shown_;
  mutable ConfigParts parts_;
};

/// An argument of a builder besides the config.
template <class T>
struct Given {
  const Typed<T>& type;
  const T& value;
};

/// The objects of type T that were built from configs.
template <class T>
class BuiltFromConfigs {
 public:
  /// Returns `build(reader, place, given values...)`, or the earlier result for equal given values and a
  /// config that agrees in all parts that the builder read. `build` must capture nothing, so that its result
  /// depends on these alone; it uses `place` for errors and for shared objects of its own. If `build` throws,
  /// nothing is kept.
  template <class Build, class... More>
  std::shared_ptr<const T> get(const Config& config, const SharedPlace& place, Build build,
                               const Given<More>&... given) {
    static_assert(std::is_empty_v<Build>,
                  "`build` must be a lambda without captures: pass what it needs as Given");
    std::string more;
    (add_text(given, more), ...);
    for (const auto& [parts, kept] : kept_) {
      const auto found = kept.find(more + text_of(config, parts));
      if (found != kept.end()) return found->second;
    }
    const ConfigReader reader(config);
    auto built = std::make_shared<const T>(build(reader, place, given.value...));
    kept_[reader.parts()].emplace(more + text_of(config, reader.parts()), built);
    return built;
  }

  void clear() { kept_.clear(); }

 private:
  template <class More>
  static void add_text(const Given<More>& given, std::string& text) {
    text += text_of(*given.type.type, &given.value) + "\n";
  }

  std::map<ConfigParts, std::map<std::string, std::shared_ptr<const T>>> kept_;
};

}  // namespace speclab
