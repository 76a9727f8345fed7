// Reads lines of values after a header that names the needed columns and perhaps others.
#pragma once

#include <string>
#include <vector>

#include "serving/advisor/log_source.hpp"

namespace speclab {

class NamedColumns {
 public:
  /// Throws UsageError if a name is missing in the header, or stands in it twice.
  NamedColumns(const TextLine& header, const std::vector<std::string>& names);

  /// Returns the line's words in the order of the names. Throws UsageError if the line is too short.
  std::vector<std::string> words(const TextLine& line) const;

 private:
  std::vector<std::size_t> columns_;
};

}  // namespace speclab
