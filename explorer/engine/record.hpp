// What a function of the engine returns: named numbers, lists of numbers and texts, in three flat buffers
// that the page reads without parsing a format (explorer/page/wasm.js is the other side).
#pragma once

#include <cstddef>
#include <functional>
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
  /// One value of each item: a member, or what a function gives.
  template <class Items, class Value>
  void list(std::string_view name, const Items& items, const Value& value) {
    entry('l', name, items.size());
    for (const auto& item : items) numbers_.push_back(static_cast<double>(std::invoke(value, item)));
  }
  void text(std::string_view name, std::string_view value) {
    entry('t', name, value.size());
    text_ += value;
  }
  /// A list of texts, none of which holds a line break.
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
