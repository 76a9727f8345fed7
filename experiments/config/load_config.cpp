#include "experiments/config/load_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/type.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/read_keys.hpp"

namespace speclab {

namespace {

/// Returns the keys that an assignment changes: "simulation/trials".
std::string keys_of(const std::string& assignment) {
  std::string path = assignment.substr(assignment.front() == '/' ? 1 : 0);
  path.resize(std::min(path.find('='), path.size()));
  std::ranges::replace(path, '.', '/');
  return path;
}

/// Returns the --set options, as typed, that change what is decoded; empty if there are none, or if one sets
/// the title. A title does not mention a run's size or how it is shown.
std::string changes_of(const Words& assignments) {
  static const std::set<std::string> elsewhere{"about",      "source",       "seed",    "simulation",
                                               "confidence", "simultaneous", "engine",  "sweep",
                                               "cases",      "metrics",      "figures", "input_rounding"};
  std::string changed;
  for (const std::string& assignment : assignments) {
    const std::string keys = keys_of(assignment);
    const std::string section = keys.substr(0, keys.find('/'));
    if (section == "title") return "";
    if (!elsewhere.contains(section)) changed += (changed.empty() ? "" : ", ") + assignment;
  }
  return changed;
}

/// Returns the path from the working folder, or the shipped name, of a file that a config names.
std::string place_of(const std::string& named, const std::filesystem::path& config_folder) {
  std::error_code ignored;
  if (named.empty() || std::filesystem::exists(named, ignored)) return named;
  const std::filesystem::path beside = (config_folder / named).lexically_normal();
  return std::filesystem::exists(beside, ignored) ? shipped_name(beside.string()) : named;
}

/// Makes the paths of files beside the config relative to the working folder, also in values of "cases"
/// and "sweep".
void place_files(Json& config, const std::filesystem::path& folder) {
  const auto place = [&](const std::string& named) { return place_of(named, folder); };
  place_input_files(*config_type().type, config, place);
  const auto place_at = [&](const std::string& pointer, Json& value) {
    if (const Type* const type = type_at(pointer)) place_input_files(*type, value, place);
  };
  if (config.contains("sweep") && config["sweep"].is_object()) {
    for (const auto& [pointer, values] : config["sweep"].items()) {
      if (!values.is_array()) continue;
      for (Json& value : values) place_at(pointer, value);
    }
  }
  if (!config.contains("cases") || !config["cases"].is_array()) return;
  for (Json& one : config["cases"]) {
    if (!one.is_object() || !one.contains("set") || !one["set"].is_object()) continue;
    for (const auto& [pointer, value] : one["set"].items()) place_at(pointer, value);
  }
}

/// Tells whether a sweep or a case that sets `set` replaces what an assignment to `keys` has set.
bool replaces(const Json& set, const std::string& keys) {
  if (!set.is_object()) return false;
  return std::ranges::any_of(
      set.items(), [&](const auto& one) { return ("/" + keys + "/").starts_with(one.key() + "/"); });
}

/// Returns why no cell of a config has the value of an assignment to `keys`; empty if one has it.
std::string replaced_by(const Json& config, const std::string& keys) {
  if (replaces(config.value("sweep", Json()), keys))
    return "the sweep sets it in every cell; add --set sweep=null";
  const Json cases = config.value("cases", Json());
  const auto sets = [&](const Json& one) {
    return one.is_object() && replaces(one.value("set", Json()), keys);
  };
  const bool all = cases.is_array() && !cases.empty() && std::ranges::all_of(cases, sets);
  return all ? "every case sets it; add --set cases=null" : "";
}

}  // namespace

std::shared_ptr<const Config> load_config(const std::string& file, const Values& values,
                                          std::set<std::string>* read_of_many) {
  // "configs/first.json" may be a file that comes with the program.
  const std::filesystem::path found_file = data_file(file);
  return in_file(file, [&] {
    Json document = parse_json(read_text(found_file));
    if (!document.is_object()) throw ConfigError("/", "a config is an object, { ... }");
    Words assignments = values.texts("set");
    if (const auto seed = values.given<std::int64_t>("seed")) {
      document["seed"] = *seed;
      if (std::ranges::any_of(assignments, [](const auto& one) { return keys_of(one) == "seed"; }))
        throw UsageError("--seed {}: --set gives a seed, too; leave one of them out", *seed);
    }
    const Json named = document.value("experiment", Json("decode"));
    const Experiment* const experiment = named.is_string() ? find_experiment(named) : nullptr;
    const bool one_of_many = read_of_many != nullptr;
    if (one_of_many && experiment != nullptr)
      std::erase_if(assignments, [&](const auto& one) { return !reads_key(*experiment, keys_of(one)); });
    for (auto one = assignments.begin(); one != assignments.end(); ++one) {
      const std::string key = keys_of(*one) + "/";
      const auto undone = std::find_if(assignments.begin(), one, [&](const std::string& earlier) {
        return (keys_of(earlier) + "/").starts_with(key);
      });
      if (undone != one)
        throw UsageError("--set {}: it undoes --set {}; leave one of them out", *one, *undone);
    }
    Json all_set = document;
    for (const std::string& assignment : assignments) apply_assignment(all_set, assignment);
    std::erase_if(assignments, [&](const std::string& one) {
      const std::string replaced = replaced_by(all_set, keys_of(one));
      if (!replaced.empty() && !one_of_many) throw UsageError("--set {}: {}", one, replaced);
      return !replaced.empty();
    });
    if (one_of_many) read_of_many->insert(assignments.begin(), assignments.end());
    for (const std::string& assignment : assignments) apply_assignment(document, assignment);
    // The title describes the config as written, so changes are added to it.
    const std::string changed = changes_of(assignments);
    if (!changed.empty() && document.contains("title") && document["title"].is_string()) {
      constexpr std::size_t longest = 200;
      document["title"] =
          fmt::format("{}, with {}", document["title"].get<std::string>(), printable(changed, longest));
    }
    place_files(document, found_file.parent_path());
    return std::make_shared<const Config>(read_config(document));
  });
}

}  // namespace speclab
