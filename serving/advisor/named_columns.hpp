// Lines of values below a header, which names some columns among others.
#pragma once

#include <string>
#include <vector>

#include "serving/advisor/log_source.hpp"

namespace speclab {

class NamedColumns {
 public:
  /// UsageError where the header lacks a name, or has it twice.
  NamedColumns(const TextLine& header, const std::vector<std::string>& names);

  /// The line's words in the order of the names; UsageError where it is too short.
  std::vector<std::string> words(const TextLine& line) const;

 private:
  std::vector<std::size_t> columns_;
};

}  // namespace speclab
