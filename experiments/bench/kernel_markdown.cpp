#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/bench/kernel_report.hpp"
#include "experiments/bench/kernel_sweep.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

namespace {

/// Is this row on the axis, in this cache mode, and like the first row otherwise?
bool on_axis(const Json& row, const Json& first, const std::string& cache) {
  const BenchShape centre = centre_shape();
  return row.at("cache") == cache && row.at("gamma") == centre.gamma && row.at("vocab") == centre.vocab &&
         row.at("dtype") == first.at("dtype") && row.at("alpha") == first.at("alpha");
}

std::string median_text(const Json& rows, const std::string& cache, std::int32_t requests,
                        const std::string& method) {
  for (const Json& row : rows) {
    if (!on_axis(row, rows.front(), cache) || row.at("requests") != requests || row.at("method") != method)
      continue;
    return row.at("median_us").is_null() ? "-" : fmt::format("{:.3g}", row.at("median_us").get<double>());
  }
  return "-";
}

/// Adds a value that is not there yet.
template <class T>
void note(std::vector<T>& all, const T& value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
}

}  // namespace

std::string kernel_markdown(const Json& result) {
  const Json& rows = result.at("verification");
  std::string text;
  for (const char* const cache : {"flushed", "hot"}) {
    std::vector<std::int32_t> requests;
    std::vector<std::string> methods;
    for (const Json& row : rows) {
      if (!on_axis(row, rows.front(), cache)) continue;
      note(requests, row.at("requests").get<std::int32_t>());
      note(methods, row.at("method").get<std::string>());
    }
    if (requests.empty()) continue;
    const BenchShape centre = centre_shape();
    text += fmt::format(
        "{}Median microseconds on {}: gamma = {}, V = {}, {}, alpha = {}, second-level cache {}.\n\n"
        "| requests | {} |\n|---:|{}\n",
        text.empty() ? "" : "\n", result.at("device").at("name").get<std::string>(), centre.gamma,
        grouped(static_cast<std::uint64_t>(centre.vocab)), rows.front().at("dtype").get<std::string>(),
        rows.front().at("alpha").get<double>(), cache, fmt::join(methods, " | "),
        fmt::join(std::vector<std::string>(methods.size(), "---:|"), ""));
    for (const std::int32_t count : requests) {
      text += fmt::format("| {} |", count);
      for (const std::string& method : methods) {
        text += fmt::format(" {} |", median_text(rows, cache, count, method));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace speclab
