// The page of a verb that computes without a run: exact, prove, check and plan with --out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/cli/verb.hpp"
#include "experiments/page/figure.hpp"
#include "experiments/page/table.hpp"

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
/// Writes it, and prints its text, or with --json its JSON.
void show_finding(const Values& values, const std::filesystem::path& folder, const Finding& finding);

}  // namespace speclab
