// Reads lines of values below a header that names the needed columns, and perhaps others.
#pragma once

#include <string>
#include <vector>

#include "serving/advisor/log_source.hpp"

namespace speclab {

class NamedColumns {
 public:
  /// Throws UsageError if the header lacks a name or has it twice.
  NamedColumns(const TextLine& header, const std::vector<std::string>& names);

  /// Returns the line's words in the order of the names. Throws UsageError for a line of more
  /// or fewer words than the header.
  std::vector<std::string> words(const TextLine& line) const;

 private:
  std::vector<std::size_t> columns_;
  std::size_t count_ = 0;
};

}  // namespace speclab
