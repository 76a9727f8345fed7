#include "serving/advisor/named_columns.hpp"

#include <algorithm>

namespace speclab {

NamedColumns::NamedColumns(const TextLine& header, const std::vector<std::string>& names) {
  const std::vector<std::string> fields = split(header.text, ',');
  count_ = fields.size();
  for (const std::string& name : names) {
    const auto found = std::find(fields.begin(), fields.end(), name);
    if (found == fields.end()) {
      refuse_line(
          header,
          "no column \"{}\" in the header \"{}\"; expected \"drafted,accepted\" or \"position,drafted,accepted\", or say with --fields which columns these are",
          name, brief(header.text));
    }
    if (std::count(fields.begin(), fields.end(), name) > 1)
      refuse_line(header, "column \"{}\" occurs twice in the header \"{}\"", name, brief(header.text));
    columns_.push_back(static_cast<std::size_t>(found - fields.begin()));
  }
}

std::vector<std::string> NamedColumns::words(const TextLine& line) const {
  const std::vector<std::string> fields = split(line.text, ',');
  if (fields.size() != count_)
    refuse_line(line, "\"{}\" has {} values; the header has {}", brief(line.text), fields.size(), count_);
  std::vector<std::string> words;
  for (const std::size_t column : columns_) words.push_back(fields[column]);
  return words;
}

}  // namespace speclab
