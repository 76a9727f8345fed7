#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/data_files.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Returns the configs that come with the program, by their paths in configs/ without ".json".
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
  const Json config = json_line(in_file(file.string(), [&] { return read_text(file); }), file.string());
  return config.is_object() && config.contains("title") && config["title"].is_string()
             ? config["title"].get<std::string>()
             : "";
}

/// Returns the file of a name as `config list` prints it, or of a path.
fs::path config_file(const fs::path& root, std::string name) {
  for (const char* prefix : {"./", "configs/"}) {
    if (name.starts_with(prefix)) name = name.substr(std::string_view(prefix).size());
  }
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  const std::vector<std::string> names = config_names(root);
  if (std::find(names.begin(), names.end(), name) != names.end()) return root / (name + ".json");
  throw UsageError("no config is called \"{}\"{}", name, suggestion(name, names));
}

fs::path configs_folder() {
  fs::path root = program_file("configs");
  if (fs::is_directory(root)) return root;
  throw UsageError("{}: the configs are not where they were installed; set up speclab again", root.string());
}

int list_configs(const Values& values) {
  const fs::path root = configs_folder();
  const std::string word = values.given("word").value_or("");
  bool any = false;
  for (const std::string& one : config_names(root)) {
    const std::string line = fmt::format("{:<32} {}", one, title_of(root / (one + ".json")));
    if (line.find(word) == std::string::npos) continue;
    fmt::print("{}\n", line);
    any = true;
  }
  if (!any) throw UsageError("no config has \"{}\" in its name or title", word);
  return exit_ok;
}

int show_config(const Values& values) {
  const fs::path file = config_file(configs_folder(), values.text("name"));
  fmt::print("{}", in_file(file.string(), [&] { return read_text(file); }));
  return exit_ok;
}

}  // namespace

Verb config_verb() {
  const Verb list{
      .name = "list",
      .sentence = "print names and titles, of all or of those that contain a word",
      .line = "speclab config list [WORD]",
      .about =
          "Prints the names and titles of the configs that come with the program, or of those that contain WORD.",
      .examples = "  speclab config list\n  speclab config list paper\n",
      .positional = "word",
      .optional_positional = true,
      .run = list_configs};
  const Verb show{.name = "show",
                  .sentence = "print one",
                  .line = "speclab config show NAME",
                  .about = "Prints a config that comes with the program.",
                  .examples = "  speclab config show first\n",
                  .positional = "name",
                  .run = show_config};
  return {
      .name = "config",
      .sentence = "list or print the configs that come with the program",
      .line = "speclab config list [WORD] | show NAME",
      .about =
          "Lists or prints the configs that come with the program. Verbs that take a config find them by their paths (configs/first.json) from any folder.",
      .examples =
          "  speclab config list paper\n  speclab config show first\n"
          "  speclab config show paper/figure3 > mine.json\n",
      .verbs = {list, show}};
}

}  // namespace speclab
