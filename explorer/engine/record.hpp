// The result of an engine function: named numbers, lists of numbers and texts, in three flat buffers that the
// page reads without parsing a format (explorer/page/wasm.js reads them).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace speclab::explorer {

class Record {
 public:
  void clear() {
    names_.clear();
    numbers_.clear();
    text_.clear();
  }
  void number(std::string_view name, double value) {
    entry('n', name, 1);
    numbers_.push_back(value);
  }
  template <class Values>
  void list(std::string_view name, const Values& values) {
    entry('l', name, values.size());
    for (const auto& value : values) numbers_.push_back(static_cast<double>(value));
  }
  /// Adds a list with one value for each item: a member, or the result of a function.
  template <class Items, class Value>
  void list(std::string_view name, const Items& items, const Value& value) {
    entry('l', name, items.size());
    for (const auto& item : items) numbers_.push_back(static_cast<double>(std::invoke(value, item)));
  }
  void text(std::string_view name, std::string_view value) {
    entry('t', name, value.size());
    text_ += value;
  }
  /// Adds a list of texts. No text may contain a line break.
  void texts(std::string_view name, const std::vector<std::string>& values) {
    texts(name, values, [](const std::string& value) -> const std::string& { return value; });
  }
  template <class Items, class Value>
  void texts(std::string_view name, const Items& items, const Value& value) {
    std::string joined;
    for (const auto& item : items) (joined += std::invoke(value, item)) += '\n';
    entry('s', name, joined.size());
    text_ += joined;
  }

  /// Returns lines "kind name count": the count is 1 for a number, the length of a list, or the bytes of a
  /// text.
  const std::string& names() const { return names_; }
  const std::vector<double>& numbers() const { return numbers_; }
  const std::string& text() const { return text_; }

 private:
  void entry(char kind, std::string_view name, std::size_t count) {
    ((names_ += kind) += ' ').append(name).append(" ").append(std::to_string(count)).append("\n");
  }

  std::string names_;
  std::vector<double> numbers_;
  std::string text_;
};

}  // namespace speclab::explorer
