// Writes the report page of verbs that compute without a run: exact, prove, check and plan with --out.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

/// A result of one of these verbs, ready to show.
struct Finding {
  std::string title;
  std::string headline;
  std::vector<Figure> figures;           ///< without ids
  Listing text;                          ///< the text for a terminal
  std::string json;                      ///< the output of --json
  std::string command;                   ///< shell command that computes it again
  std::vector<std::string> inputs = {};  ///< input files, whose hashes the page states; others are left out
};

/// Adds the options --out FOLDER and --force.
void add_page_option(Verb& verb);

/// Returns the folder of --out; empty without the option. Throws UsageError if it cannot be written, or,
/// without --force, if it holds other results than this command's.
std::filesystem::path page_folder(const Values& values);

/// Returns the files that options name; of a folder with a config.json, that and the files that are read
/// beside it.
std::vector<std::string> named_files(const Values& values);

/// Writes report.html, result.json and an .svg for each figure into the folder, unless its name is empty.
/// Another command's results are removed.
void write_finding(const std::filesystem::path& folder, const Finding& finding);
/// Writes the result into the folder and prints its text, or its JSON with --json. `figures_of` may be null.
template <class T>
void show_finding(const Values& values, const std::filesystem::path& folder, const std::string& title,
                  const T& found, Listing (*text_of)(const T&), std::string (*headline_of)(const T&),
                  std::vector<Figure> (*figures_of)(const std::type_identity_t<T>&),
                  const std::string& input = "") {
  const Finding finding{
      title,          headline_of(found),  figures_of ? figures_of(found) : std::vector<Figure>(),
      text_of(found), json_text_of(found), values.command,
      {input}};
  write_finding(folder, finding);
  fmt::print("{}", values.has("json") ? finding.json + "\n" : terminal(finding.text));
}

}  // namespace speclab
