#include "experiments/config/config_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "experiments/support/machine.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

ConfigError::ConfigError(const std::string& json_path, const std::string& problem)
    : std::runtime_error(printable(problem)), path(json_path.empty() ? "/" : printable(json_path)) {}

UsageError::UsageError(const std::string& problem) : std::runtime_error(printable(problem)) {}

std::string ConfigError::sentence() const {
  return file.empty() ? fmt::format("{}: {}", path, what()) : fmt::format("{}: {}: {}", file, path, what());
}

void require_memory(double bytes, const std::string& path, const std::string& what) {
  constexpr double giga = 1e9;
  const std::optional<double> available = available_memory();
  if (!available || bytes <= *available) return;
  throw ConfigError(path,
                    fmt::format("{} need at least {:.3g} GB of memory, of which {:.3g} GB are available; "
                                "make it smaller",
                                what, bytes / giga, *available / giga));
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  // Nobody mistypes a name of the program as one that long; comparing takes the product of both lengths.
  constexpr std::size_t longest_compared = 100;
  std::string nearest;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 2) + 1;
  for (const std::string& candidate : known) {
    if (word.size() > longest_compared) break;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  if (known.empty()) return "; there are none";
  if (!nearest.empty()) return fmt::format("; did you mean \"{}\"?", nearest);
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace speclab
