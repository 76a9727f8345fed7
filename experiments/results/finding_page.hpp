// Shows and writes the results of verbs that compute without a run: exact, prove, check and plan.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/results/folder_lock.hpp"

namespace speclab {

struct Config;

/// A result of one of these verbs, ready to show.
struct Finding {
  std::string title;
  std::string headline;
  std::vector<Figure> figures;                ///< without ids
  Listing text;                               ///< the text for a terminal
  std::string json;                           ///< its own part of result.json
  std::shared_ptr<const Config> config = {};  ///< null if it has none
  /// Files that were read besides those that the config names.
  std::vector<std::string> inputs = {};
};

/// Adds the options --out FOLDER and --force.
void add_page_option(Verb& verb);

/// Locks the folder of --out; returns null without the option. Throws UsageError if the folder cannot be
/// written or is locked, or, without --force, if it holds other results than this command's.
std::unique_ptr<FolderLock> page_lock(const Values& values);

/// Returns the files that options name; of a folder with a config.json, that and the files that are read
/// beside it.
std::vector<std::string> named_files(const Values& values);

/// Writes result.json, an .svg for each figure and report.html into the folder of --out, which is locked, and
/// prints the text, or result.json with --json. result.json begins with version, format, command, config and
/// hashes of all inputs. Another command's results are removed.
void show_finding(const Values& values, const Finding& finding);

/// `figures_of` may be null.
template <class T, class Figures>
Finding finding_of(const std::string& title, const T& found, Listing (*text_of)(const T&),
                   std::string (*headline_of)(const T&), Figures figures_of,
                   std::shared_ptr<const Config> config = {}, std::vector<std::string> inputs = {}) {
  std::vector<Figure> figures;
  if constexpr (!std::is_null_pointer_v<Figures>) figures = figures_of(found);
  return {title, headline_of(found), figures, text_of(found), json_text_of(found), config, inputs};
}

}  // namespace speclab
