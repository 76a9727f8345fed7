// What a function of the engine returns: named numbers, lists of numbers and texts, in three flat buffers
// that the page reads without parsing a format (explorer/page/wasm.js is the other side).
#pragma once

#include <cstddef>
#include <span>
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
  void text(std::string_view name, std::string_view value) {
    entry('t', name, value.size());
    text_ += value;
  }
  /// A list of texts, none of which holds a line break.
  void texts(std::string_view name, const std::vector<std::string>& values) {
    std::string joined;
    for (const std::string& value : values) joined += value + '\n';
    entry('s', name, joined.size());
    text_ += joined;
  }

  /// Lines "kind name count": of a number 1, of a list its length, of a text its bytes.
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
