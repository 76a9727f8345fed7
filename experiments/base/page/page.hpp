// A report as plain data, and the page that a browser shows of it.
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
  std::string intro = {};  ///< paragraphs, parted by empty lines
  std::vector<Table> tables = {};
  std::vector<Drawing> figures = {};
  std::vector<Passage> passages = {};
  std::vector<std::string> notes = {};
  std::string headline = {};  ///< what was found, in a sentence; figures follow it, then tables
  Listing listing = {};       ///< below the tables
  bool folded = false;        ///< closed at first but for headline, passages and the first figures
  bool beside = false;        ///< on a wide screen the first table stands beside the figure
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<std::pair<std::string, std::string>> facts;  ///< "version", "seed", "machine", "command", ...
  std::vector<Section> sections;
  /// What was found, in a sentence: the first that is read; else that of a lone section.
  std::string headline = {};
  std::string citation = {};  ///< how to cite the page
};

/// One HTML5 file that needs nothing else: no network, no other file. Every text is escaped. Headlines stand
/// first, then figures, then tables; facts last, with how to cite. What is folded opens without a script, and
/// on paper it is open. It is readable without its script, which adds values under the pointer and by the
/// arrow keys, legends that hide series, sorting, downloads and the theme. Below the page stands a link to
/// `explorer`, a file beside it; empty for none. std::invalid_argument when an id is malformed or used twice,
/// or a row is not as long as its header.
std::string html(const Page& page, const std::string& explorer = "");

}  // namespace speclab
