// Draws the figures of `speclab bench kernels`, and writes the medians of one of them as a Markdown table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "kernels/lab/kernel_report.hpp"
#include "kernels/lab/kernel_sweep.hpp"

namespace speclab {

namespace {

/// Adds a value if it is not there yet.
template <class T>
void note(std::vector<T>& all, const T& value) {
  if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
}

/// Rows of one workload in one cache mode, with the format and alpha of the workload's first row.
struct AlikeRows {
  KernelWorkload workload;
  CacheMode cache;
  std::vector<VerificationRow> rows;

  /// Returns ", trees" or the like, or nothing for chains; `between` is the text before the name.
  std::string suffix(const char* between) const {
    return workload == KernelWorkload::chains ? "" : fmt::format("{}{}", between, info_of(workload).name);
  }
};

/// Returns all groups of such rows, in the order of their first rows.
std::vector<AlikeRows> alike_rows(const std::vector<VerificationRow>& rows) {
  std::vector<AlikeRows> found;
  for (const VerificationRow& first : rows) {
    const auto known = [&](const AlikeRows& alike) { return alike.workload == first.workload; };
    if (std::any_of(found.begin(), found.end(), known)) continue;
    for (const CacheMode cache : {CacheMode::flushed, CacheMode::hot}) {
      AlikeRows alike{first.workload, cache, {}};
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(alike.rows), [&](const VerificationRow& row) {
        return row.workload == first.workload && row.cache == cache && row.dtype == first.dtype &&
               row.alpha == first.alpha;
      });
      found.push_back(std::move(alike));
    }
  }
  std::erase_if(found, [](const AlikeRows& alike) { return alike.rows.empty(); });
  return found;
}

/// Returns whether the row is on the sweep's axis of requests.
bool on_axis(const VerificationRow& row) {
  const BenchShape centre = centre_shape(row.workload);
  return row.gamma == centre.gamma && row.vocab == centre.vocab;
}

}  // namespace

std::string kernel_markdown(const KernelReport& report) {
  std::string text;
  for (AlikeRows& alike : alike_rows(report.verification)) {
    std::vector<VerificationRow>& rows = alike.rows;
    std::erase_if(rows, [](const VerificationRow& row) { return !on_axis(row); });
    if (rows.empty()) continue;
    std::vector<std::int32_t> requests;
    std::vector<std::string> methods;
    for (const VerificationRow& row : rows) {
      note(requests, row.requests);
      note(methods, row.method);
    }
    text += fmt::format(
        "{}Median microseconds on {}{}: gamma = {}, V = {}, {}, alpha = {}, second-level cache {}.\n\n"
        "| requests | {} |\n|---:|{}\n",
        text.empty() ? "" : "\n", report.device.name, alike.suffix(", "), rows.front().gamma,
        grouped(static_cast<std::uint64_t>(rows.front().vocab)), dtype_name(rows.front().dtype),
        rows.front().alpha, words(alike.cache), fmt::join(methods, " | "),
        fmt::join(std::vector<std::string>(methods.size(), "---:|"), ""));
    for (const std::int32_t count : requests) {
      text += fmt::format("| {} |", count);
      for (const std::string& method : methods) {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const VerificationRow& row) {
          return row.requests == count && row.method == method;
        });
        const bool measured = found != rows.end() && std::isfinite(found->median_us);
        text += measured ? fmt::format(" {:.3g} |", found->median_us) : " - |";
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace speclab
