#include "experiments/config/read_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"

namespace speclab {

namespace {

/// Throws ConfigError at `where` if the experiment does not read this key.
void require_read(const Experiment& experiment, const std::string& key, bool models,
                  const std::string& where) {
  if (reads_key(experiment, key, models)) return;
  std::string readers;
  for (const Experiment* other : experiments())
    if (reads_key(*other, key)) readers += (readers.empty() ? "" : ", ") + other->name;
  if (readers.empty()) return;  // it is unknown, which reading the cells reports
  const auto advice = experiment.instead.find(key.substr(0, key.find('/')));
  throw ConfigError(where, "{} does not read \"{}\"{}; leave it out{}", experiment.name, key,
                    reads_key(experiment, key) ? " without \"models\"" : "",
                    advice == experiment.instead.end() ? fmt::format(" (it is for {})", readers)
                                                       : ", and " + advice->second);
}

}  // namespace

std::string measured_column(const std::string& name) {
  std::string column = "measured";
  bool parted = false;
  for (const char letter : name) {
    // Bytes of letters outside ASCII stay unchanged.
    const auto byte = static_cast<unsigned char>(letter);
    const bool kept = std::isalnum(byte) != 0 || byte >= 0x80;
    if (kept && !parted) column += '_';
    if (kept) column += letter;
    parted = kept;
  }
  return column;
}

bool reads_key(const Experiment& experiment, const std::string& key, bool models) {
  static const std::vector<std::string> always{"title",      "about",        "source", "experiment", "seed",
                                               "confidence", "simultaneous", "cases",  "sweep"};
  const auto holds = [&](const std::vector<std::string>& keys) {
    return std::ranges::any_of(keys, [&](const std::string& one) {
      return key == one || key.starts_with(one + "/") || one.starts_with(key + "/");
    });
  };
  if (holds(always) || holds(experiment.sections) || holds(experiment.reads)) return true;
  if (!models || std::ranges::find(experiment.reads, "models") == experiment.reads.end()) return false;
  return holds(experiment.reads_with_models) ||
         std::ranges::any_of(section_kinds(), [&](const SectionKind& section) {
           return section.of_verb && holds({section.key});
         });
}

bool has_models(const Config& config) {
  const auto sets = [](const auto& set) { return set.first.starts_with("/models"); };
  const auto in_case = [&](const CaseConfig& one) { return std::ranges::any_of(one.set, sets); };
  return config.models || (config.sweep && std::ranges::any_of(*config.sweep, sets)) ||
         (config.cases && std::ranges::any_of(*config.cases, in_case));
}

Json read_part(const Experiment& experiment, Json config, bool models) {
  const auto leave_out = [&](Json& object, const std::string& before) {
    for (auto at = object.begin(); at != object.end();)
      at = reads_key(experiment, before + at.key(), models) ? std::next(at) : object.erase(at);
  };
  leave_out(config, "");
  for (const auto& [key, value] : config.items()) {
    if (value.is_object()) leave_out(value, key + "/");
  }
  return config;
}

void require_read_keys(const Config& config, const Json& input) {
  const Experiment& experiment = *config.experiment;
  const bool models = has_models(config);
  const auto require = [&](const std::string& path, const std::string& where) {
    require_read(experiment, path.substr(path.starts_with('/') ? 1 : 0), models, where);
  };
  for (const auto& [key, value] : input.items()) {
    require(key, "/" + key);
    if (!value.is_object()) continue;
    for (const auto& [part, inner] : value.items())
      require(key + "/" + part, fmt::format("/{}/{}", key, part));
  }
  if (config.sweep) {
    for (const auto& [path, axis] : *config.sweep) require(path, "/sweep/" + path);
  }
  std::map<std::string, std::string> columns{{"measured_note", "measured_note"}};
  for (std::size_t i = 0; config.cases && i < config.cases->size(); ++i) {
    const CaseConfig& one = (*config.cases)[i];
    for (const auto& [path, value] : one.set) require(path, fmt::format("/cases/{}/set", i));
    if (!one.measured.empty() && !reads_key(experiment, "measured_note"))
      throw ConfigError(fmt::format("/cases/{}/measured", i), "{} does not show them; leave them out",
                        experiment.name);
    for (const auto& [name, value] : one.measured) {
      const std::string column = measured_column(name);
      const std::string& other = columns.emplace(column, name).first->second;
      if (other != name)
        throw ConfigError(fmt::format("/cases/{}/measured/{}", i, name),
                          "has the column {} in tables, as has \"{}\"; give it another name", column, other);
    }
  }
}

}  // namespace speclab
