#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/bench/kernel_report.hpp"
#include "experiments/bench/kernel_sweep.hpp"
#include "experiments/report/cells.hpp"

namespace speclab {

namespace {

/// Is this row on the axis, in this cache mode, and like the first row otherwise?
bool on_axis(const VerificationRow& row, const VerificationRow& first, CacheMode cache) {
  const BenchShape centre = centre_shape();
  return row.cache == cache && row.gamma == centre.gamma && row.vocab == centre.vocab &&
         row.dtype == first.dtype && row.alpha == first.alpha;
}

std::string median_text(const std::vector<VerificationRow>& rows, CacheMode cache, std::int32_t requests,
                        const std::string& method) {
  for (const VerificationRow& row : rows) {
    if (!on_axis(row, rows.front(), cache) || row.requests != requests || row.method != method) continue;
    return std::isfinite(row.median_us) ? fmt::format("{:.3g}", row.median_us) : "-";
  }
  return "-";
}

/// Adds a value that is not there yet.
template <class T>
void note(std::vector<T>& all, const T& value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
}

}  // namespace

std::string kernel_markdown(const KernelReport& report) {
  const std::vector<VerificationRow>& rows = report.verification;
  std::string text;
  for (const CacheMode cache : {CacheMode::flushed, CacheMode::hot}) {
    std::vector<std::int32_t> requests;
    std::vector<std::string> methods;
    for (const VerificationRow& row : rows) {
      if (!on_axis(row, rows.front(), cache)) continue;
      note(requests, row.requests);
      note(methods, row.method);
    }
    if (requests.empty()) continue;
    const BenchShape centre = centre_shape();
    text += fmt::format(
        "{}Median microseconds on {}: gamma = {}, V = {}, {}, alpha = {}, second-level cache {}.\n\n"
        "| requests | {} |\n|---:|{}\n",
        text.empty() ? "" : "\n", report.device.name, centre.gamma,
        grouped(static_cast<std::uint64_t>(centre.vocab)), dtype_name(rows.front().dtype), rows.front().alpha,
        words(cache), fmt::join(methods, " | "),
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
