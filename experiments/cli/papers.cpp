#include "experiments/cli/papers.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/data_files.hpp"

namespace speclab {

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(data_file("configs/papers"), error)) {
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

Paper read_paper(const std::string& name) {
  const std::vector<std::string> names = paper_names();
  if (std::ranges::find(names, name) == names.end())
    throw UsageError("--paper: unknown \"{}\"{}", name, suggestion(name, names));
  static const auto type = object<Paper>(
      "paper", "A paper of speclab reproduce.",
      {required(field("citation", &Paper::citation, text(), "The subtitle of the page.")),
       required(field("folder", &Paper::folder, text(), "The folder of its configs.")),
       field("sections", &Paper::sections, list(text()), "The names of the configs in the paper's order.")});
  const std::filesystem::path file = data_file("configs/papers") / (name + ".json");
  Paper paper = in_file(file.string(), [&] { return read(type, parse_json(read_text(file)), ""); });
  paper.name = name;
  return paper;
}

}  // namespace speclab
