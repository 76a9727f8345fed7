#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/cli/verb.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/data_files.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// The configs that come with the program, by their paths below configs/, without ".json".
std::vector<std::string> config_names(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(root, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".json") continue;
    names.push_back(fs::relative(at->path(), root).replace_extension().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string title_of(const fs::path& file) {
  const Json config = json_line(in_file(file.string(), [&] { return read_text(file); }));
  return config.is_object() && config.contains("title") && config["title"].is_string()
             ? config["title"].get<std::string>()
             : "";
}

/// The file of a name as `config list` prints it, or as a path.
fs::path config_file(const fs::path& root, std::string name) {
  for (const char* prefix : {"./", "configs/"}) {
    if (name.starts_with(prefix)) name = name.substr(std::string_view(prefix).size());
  }
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  const std::vector<std::string> names = config_names(root);
  if (std::find(names.begin(), names.end(), name) != names.end()) return root / (name + ".json");
  throw UsageError(fmt::format("no config is called \"{}\"{}", name, suggestion(name, names)));
}

int config_main(std::vector<std::string> arguments) {
  Usage usage{.line = "speclab config list [WORD] | show NAME | copy NAME [--to FILE]",
              .about =
                  "The configs that come with the program. list prints their names and titles, with a word "
                  "those that have it;\n"
                  "show prints one; copy writes one into the working folder, to be changed. Verbs that take "
                  "a config find\n"
                  "these by their paths (configs/first.json) from any folder.\n",
              .examples =
                  "  speclab config list\n  speclab config list paper\n  speclab config show first\n"
                  "  speclab config copy paper/figure3 --to mine.json\n",
              .positional = "name",
              .optional_positional = true};
  usage.options.add_options()("to", boost::program_options::value<std::string>(), "file to write")(
      "force", "overwrite it");
  std::string action;
  if (!arguments.empty() && !arguments.front().starts_with("-")) {
    action = arguments.front();
    arguments.erase(arguments.begin());
  }
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  if (action != "list" && action != "show" && action != "copy") {
    throw UsageError(fmt::format("{}expected list, show or copy\nusage: {}",
                                 action.empty() ? "" : fmt::format("unknown \"{}\"; ", action), usage.line));
  }
  if (action != "copy" && values->count("to") + values->count("force") > 0) {
    throw UsageError("--to and --force go with config copy");
  }
  const fs::path root = program_file("configs");
  if (!fs::is_directory(root)) {
    throw UsageError(fmt::format("{}: the configs are not where they were installed; set up speclab again",
                                 root.string()));
  }
  const std::string name = values->count("name") > 0 ? (*values)["name"].as<std::string>() : std::string();
  if (action == "list") {
    bool any = false;
    for (const std::string& one : config_names(root)) {
      const std::string line = fmt::format("{:<32} {}", one, title_of(root / (one + ".json")));
      if (line.find(name) == std::string::npos) continue;
      fmt::print("{}\n", line);
      any = true;
    }
    if (!any) throw UsageError(fmt::format("no config has \"{}\" in its name or title", name));
    return exit_ok;
  }
  if (name.empty()) throw UsageError(fmt::format("config {}: which? speclab config list names them", action));
  const fs::path file = config_file(root, name);
  const std::string text = in_file(file.string(), [&] { return read_text(file); });
  if (action == "show") {
    fmt::print("{}", text);
    return exit_ok;
  }
  const fs::path to = values->count("to") > 0 ? fs::path((*values)["to"].as<std::string>()) : file.filename();
  if (fs::exists(to) && values->count("force") == 0) {
    throw UsageError(fmt::format("{} exists; give another --to, or --force to overwrite", to.string()));
  }
  write_file_atomically(to, text);
  fmt::print("{}\n", printable_line(to.string()));
  return exit_ok;
}

}  // namespace

Verb config_verb() {
  return {"config", "list, show or copy the configs that come with the program",
          [](const std::vector<std::string>& arguments) { return config_main(arguments); }};
}

}  // namespace speclab
