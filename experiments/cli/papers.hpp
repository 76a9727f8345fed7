// The papers that `speclab reproduce` redraws: one file of configs/papers each.
#pragma once

#include <string>
#include <vector>

namespace speclab {

struct Paper {
  std::string name;                   ///< the file's
  std::string citation;               ///< the subtitle of its page
  std::string folder;                 ///< of its configs, one for each section of the page
  std::vector<std::string> sections;  ///< names of the configs in the order of the paper
};

/// Returns the names of all papers, sorted.
std::vector<std::string> paper_names();

/// Reads a paper. Throws UsageError for an unknown name, and ConfigError for a file that is no paper.
Paper read_paper(const std::string& name);

}  // namespace speclab
