#include "experiments/base/format/config_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

/// Longer words are not compared, because comparison takes time proportional to the product of both lengths.
constexpr std::size_t longest_compared = 100;

/// Returns the number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

/// Changes ASCII letters only.
std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::size_t common_beginning(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::size_t>(end - a.begin());
}

/// Returns the names that were probably meant: those with the fewest edits, and those whose common prefix
/// with the word is at least as long as the nearest name's (longer, if that is one edit away) and that are a
/// few edits away or continue the word. If there are none, returns the names with the longest common prefix,
/// of at least four characters. Names with the longest common prefix come first, since people forget the ends
/// of names (sizes, versions). Ignores case.
std::vector<std::string> near_names(const std::string& given, const std::vector<std::string>& known) {
  constexpr std::size_t max_named = 5;
  constexpr std::size_t min_shared = 4;
  const std::string word = lower_case(given);
  struct Near {
    std::string name;
    std::size_t edits, beginning;
  };
  const std::size_t few = std::max<std::size_t>(word.size() / 3, 2);
  std::vector<Near> near;
  std::vector<Near> alike;
  for (const std::string& name : known) {
    const std::string lower = lower_case(name);
    const Near one{name, edit_distance(word, lower), common_beginning(word, lower)};
    if (one.beginning >= std::max(min_shared, alike.empty() ? 0 : alike.front().beginning)) {
      if (!alike.empty() && one.beginning > alike.front().beginning) alike.clear();
      alike.push_back(one);
    }
    const bool goes_on = word.size() > 1 && one.beginning == word.size();
    if (one.edits <= few || goes_on) near.push_back(one);
  }
  if (near.empty()) near = std::move(alike);
  if (near.empty()) return {};
  const Near nearest = *std::min_element(near.begin(), near.end(),
                                         [](const Near& a, const Near& b) { return a.edits < b.edits; });
  const std::size_t min_beginning = nearest.beginning + (nearest.edits <= 1 ? 1 : 0);
  std::erase_if(near, [&](const Near& one) {
    return one.edits > nearest.edits && (one.beginning == 0 || one.beginning < min_beginning);
  });
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
    return a.beginning != b.beginning ? a.beginning > b.beginning : a.edits < b.edits;
  });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && names.size() < max_named; ++i) {
    if (std::ranges::find(names, near[i].name) == names.end()) names.push_back(near[i].name);
  }
  return names;
}

constexpr std::size_t longest_path = 300;

/// Returns the text escaped for terminals, in lines of limited length.
std::string short_lines(const std::string& text) {
  constexpr std::size_t longest_line = 1000;
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += (begin == 0 ? "" : "\n") + printable_line(text.substr(begin, end - begin), longest_line);
    begin = end + 1;
  }
  return printable(out);
}

}  // namespace

ConfigError::ConfigError(const std::string& json_path, const std::string& problem)
    : std::runtime_error(short_lines(problem)),
      path(json_path.empty() ? "/" : printable_line(json_path, longest_path)) {}

UsageError::UsageError(const std::string& problem) : std::runtime_error(short_lines(problem)) {}

std::string ConfigError::sentence() const {
  if (file.empty()) return fmt::format("{}: {}", path, what());
  return path == "/" ? fmt::format("{}: {}", file, what()) : fmt::format("{}: {}: {}", file, path, what());
}

void require_memory(double bytes, const std::string& path, const std::string& what) {
  constexpr double giga = 1e9;
  const std::optional<double> available = available_memory();
  if (!available || bytes <= *available) return;
  throw ConfigError(path,
                    "{} need at least {:.3g} GB of memory, but {:.3g} GB are available; make it smaller",
                    what, bytes / giga, *available / giga);
}

std::string near_suggestion(const std::string& word, const std::vector<std::string>& known) {
  if (word.size() > longest_compared) return "";
  const std::vector<std::string> near = near_names(word, known);
  if (near.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < near.size(); ++i)
    names += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 < near.size() ? ", " : " or ", near[i]);
  return fmt::format("; did you mean {}?", names);
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t max_listed = 60;
  constexpr std::ptrdiff_t few = 5;
  if (known.empty()) return "; there are none";
  if (std::string near = near_suggestion(word, known); !near.empty()) return near;
  if (known.size() <= max_listed) return fmt::format("; known: {}", fmt::join(known, ", "));
  std::vector<std::string> nearest = known;
  const std::string begin = word.substr(0, longest_compared);
  std::stable_sort(nearest.begin(), nearest.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(begin, a) < edit_distance(begin, b);
  });
  nearest.resize(few);
  return fmt::format("; of {} names the nearest are {}", known.size(), fmt::join(nearest, ", "));
}

}  // namespace speclab
