// The page of a verb that computes without a run: exact, prove, check and plan with --out.
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

/// What such a verb found.
struct Finding {
  std::string title;
  std::string headline;
  std::vector<Figure> figures;  ///< without ids
  Listing text;                 ///< as on a terminal
  std::string json;             ///< as --json prints it
  std::string command;          ///< that gives it, for a shell
  std::string input = {};       ///< a file that was read, whose hash the page states; empty for none
};

/// --out FOLDER.
void add_page_option(Verb& verb);

/// The folder of --out, which can be written; empty without it.
std::filesystem::path page_folder(const Values& values);

/// Into the folder, unless it is empty: report.html, result.json and each figure as .svg.
void write_finding(const std::filesystem::path& folder, const Finding& finding);
/// Writes what was found into the folder, and prints its text, or with --json its JSON. Without `figures_of`
/// it has no figures.
template <class T>
void show_finding(const Values& values, const std::filesystem::path& folder, const std::string& title,
                  const T& found, Listing (*text_of)(const T&), std::string (*headline_of)(const T&),
                  std::vector<Figure> (*figures_of)(const std::type_identity_t<T>&),
                  const std::string& input = "") {
  const Finding finding{
      title,          headline_of(found),  figures_of ? figures_of(found) : std::vector<Figure>(),
      text_of(found), json_text_of(found), values.command,
      input};
  write_finding(folder, finding);
  fmt::print("{}", values.has("json") ? finding.json + "\n" : terminal(finding.text));
}

}  // namespace speclab
