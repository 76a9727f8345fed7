#include "experiments/table_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"

namespace speclab {

namespace {

std::vector<double> parse_line(const std::string& line, const std::string& path, const std::string& where) {
  std::vector<double> row;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, ',');) {
    const auto first = field.find_first_not_of(" \t\r");
    const auto last = field.find_last_not_of(" \t\r");
    const std::string word = first == std::string::npos ? "" : field.substr(first, last - first + 1);
    double probability = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), probability);
    if (error != std::errc{} || end != word.data() + word.size()) {
      throw ConfigError(path, fmt::format("{}: \"{}\" is not a number", where, word));
    }
    row.push_back(probability);
  }
  return row;
}

}  // namespace

std::vector<std::vector<double>> read_table_file(const std::filesystem::path& file, const std::string& path) {
  std::vector<std::vector<double>> rows;
  std::string text;
  try {
    text = read_text(file);
    if (file.extension() == ".json") {
      rows = parse_json(text).get<std::vector<std::vector<double>>>();
    }
  } catch (const ConfigError& error) {
    throw ConfigError(path, fmt::format("{}: {}", file.string(), error.what()));
  } catch (const Json::exception&) {
    throw ConfigError(path, fmt::format("{}: not an array of arrays of numbers", file.string()));
  }
  if (file.extension() != ".json") {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      rows.push_back(parse_line(line, path, fmt::format("{}:{}", file.string(), number)));
    }
  }
  if (rows.empty() || rows.front().empty())
    throw ConfigError(path, fmt::format("{}: holds no rows", file.string()));
  return rows;
}

}  // namespace speclab
