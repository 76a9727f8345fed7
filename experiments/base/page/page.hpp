// A report as data, and the HTML page that shows it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/passage.hpp"
#include "experiments/base/page/table.hpp"

namespace speclab {

struct Section {
  std::string id;
  std::string title;
  std::string intro = {};  ///< paragraphs, separated by empty lines
  std::vector<Table> tables = {};
  std::vector<Drawing> figures = {};
  std::vector<Passage> passages = {};
  std::vector<std::string> notes = {};
  std::string headline = {};  ///< the finding in a sentence; figures follow it, then tables
  Listing listing = {};       ///< follows the tables
  bool folded = false;        ///< closed at first, except for headline, passages and the first figures
  bool beside = false;        ///< on a wide screen the first table is placed beside the figure
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<std::pair<std::string, std::string>> facts;  ///< "version", "seed", "machine", "command", ...
  std::vector<Section> sections;
  /// The finding in a sentence, which readers see first; if empty, a lone section's headline takes its place.
  std::string headline = {};
  std::string citation = {};  ///< how to cite the page
  /// Other pages: what each is, and its path relative to this one.
  std::vector<std::pair<std::string, std::string>> links = {};
};

/// Returns one HTML5 file that needs no network and no other file. Every text is escaped. Headlines come
/// first, then figures, then tables; facts and the citation come last. Folded parts open without a script and
/// are open in print. The script adds values under the pointer and by the arrow keys, legends that hide
/// series, sorting, downloads and the theme. Links to other pages and to `explorer`, a file in the same
/// folder, end the page; empty: no link. Throws std::invalid_argument if an id is malformed or used twice, or
/// if a row is not as long as its header.
std::string html(const Page& page, const std::string& explorer = "");

}  // namespace speclab
