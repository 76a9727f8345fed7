#include "kernels/lab/kernel_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "experiments/base/format/csv_values.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/page/cells.hpp"
#include "kernels/lab/expected_walks.hpp"

namespace speclab {

namespace {

using Cells = std::vector<Cell>;

Cell three_digits(const std::optional<double>& value) { return measured_cell(value, 3); }
Cell whole(std::int64_t value) { return count_cell(static_cast<std::uint64_t>(value)); }

Cells joined(Cells cells, Cells more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return cells;
}

Cells point_cells(const KernelPoint& point) {
  return {whole(point.requests), whole(point.gamma), whole(point.vocab), text_cell(dtype_name(point.dtype)),
          three_digits(point.alpha)};
}

/// Returns one table per workload, in the order of their first rows; `add` adds a row's cells. Tables of
/// workloads other than chains have the workload in their names.
template <class Row, class Add>
std::vector<Table> workload_tables(const std::vector<Row>& rows, const Table& empty, const Add& add) {
  std::vector<Table> tables;
  std::map<KernelWorkload, std::size_t> places;
  for (const Row& row : rows) {
    const auto [place, added] = places.try_emplace(row.workload, tables.size());
    if (added) tables.push_back(empty);
    Table& table = tables[place->second];
    if (added && row.workload != KernelWorkload::chains) {
      const KernelWorkloadInfo& info = info_of(row.workload);
      table.id += fmt::format("-{}", info.name);
      table.caption += fmt::format("; {}: {}", info.name, info.sentence);
    }
    add(row, table.rows);
  }
  return tables;
}

/// Returns the tables that have rows, one group after the other, with at most `max_rows` rows each; 0: all.
std::vector<Table> shown(std::vector<std::vector<Table>> groups, std::size_t max_rows) {
  std::vector<Table> tables;
  for (std::vector<Table>& group : groups) {
    for (Table& table : group) {
      if (table.rows.empty()) continue;
      if (max_rows > 0 && table.rows.size() > max_rows) {
        table.note = fmt::format("{} further rows; --json or --out has all", table.rows.size() - max_rows);
        table.rows.resize(max_rows);
      }
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

Cells measured_cells(const VerificationRow& row) {
  return joined(point_cells(row),
                {text_cell(words(row.cache)), text_cell(row.method), three_digits(row.median_us),
                 three_digits(row.p99_us), three_digits(row.bytes / 1e6), three_digits(row.gb_per_s)});
}

std::vector<Table> verification_tables(const std::vector<VerificationRow>& rows) {
  const Table empty{
      "verification-times",
      "Verification, medians",
      {"B", "gamma", "V", "dtype", "alpha", "cache", "method", "us", "p99 us", "MB", "GB/s", "% copy"}};
  return workload_tables(rows, empty, [](const VerificationRow& row, auto& cells) {
    if (row.kind == MethodKind::ceiling) return;
    cells.push_back(joined(measured_cells(row), {three_digits(100 * row.of_copy)}));
  });
}

std::vector<Table> ceilings_tables(const std::vector<VerificationRow>& rows) {
  const Table empty{"ceilings",
                    "What the device allows",
                    {"B", "gamma", "V", "dtype", "alpha", "cache", "what", "us", "p99 us", "MB", "GB/s"}};
  return workload_tables(rows, empty, [](const VerificationRow& row, auto& cells) {
    if (row.kind == MethodKind::ceiling) cells.push_back(measured_cells(row));
  });
}

Table left_out_table(const std::vector<LeftOut>& rows) {
  Table table{"left-out", "Left out", {"size", "method", "why"}};
  for (const LeftOut& row : rows)
    table.rows.push_back({text_cell(row.size), text_cell(row.method), text_cell(row.why)});
  return table;
}

Cells layout_cells(const MethodLayout& method) {
  if (method.left_out) return joined(Cells(4, text_cell("-")), {text_cell("left out: " + *method.left_out)});
  std::int64_t most = 0;
  for (const LaunchRow& launch : method.launches) most = std::max(most, launch.blocks);
  return {whole(static_cast<std::int64_t>(method.launches.size())), whole(most),
          three_digits(static_cast<double>(method.workspace_bytes) / mebi),
          three_digits((method.bytes_read + method.bytes_written) / 1e6),
          text_cell(method.problems.empty() ? "none" : fmt::format("{}", fmt::join(method.problems, "; ")))};
}

std::vector<Table> layout_tables(const std::vector<DryPoint>& points) {
  const Table empty{"layout",
                    "Launches and bytes",
                    {"B", "gamma", "V", "dtype", "alpha", "method", "launches", "most blocks", "scratch MiB",
                     "MB moved", "problems"}};
  return workload_tables(points, empty, [](const DryPoint& point, auto& cells) {
    for (const MethodLayout& method : point.methods)
      cells.push_back(joined(joined(point_cells(point), {text_cell(method.method)}), layout_cells(method)));
  });
}

}  // namespace

KernelText kernel_text(const KernelReport& report, std::size_t max_rows) {
  const GpuDevice& device = report.device;
  return {
      {{"Version", "speclab " + report.version},
       {"Device",
        fmt::format("{}, compute capability {:.1f}, {} multiprocessors, CUDA {} (driver: {})", device.name,
                    device.capability / 10.0, device.multiprocessors, device.runtime, device.driver)},
       {"Machine", report.machine},
       {"Command", report.command}},
      shown({verification_tables(report.verification),
             ceilings_tables(report.verification),
             {left_out_table(report.left_out)}},
            max_rows),
      {fmt::format(
           "Medians and 99th percentiles over {} replays of a CUDA graph of the whole method, timed by CUDA "
           "events, which resolve about half a microsecond. Each repetition runs all methods in random "
           "order.",
           report.repetitions),
       "hot: the method has just run on the same data; flushed: a buffer larger than the second-level cache was "
       "read before. MB: bytes that the algorithm must move, counted, not measured. % copy: the rate of these "
       "bytes divided by that of the faster of two copies of the logits at the same size and cache mode. "
       "Bytes of traversal are expected values for rows of the same overlap, because its results do not say "
       "which nodes it tried."}};
}

KernelText kernel_text(const DryRunReport& report, std::size_t max_rows) {
  return {
      {{"Version", "speclab " + report.version}, {"Command", report.command}},
      shown({layout_tables(report.points)}, max_rows),
      {fmt::format("Nothing was measured. {} configurations of {} points were checked, with {} problems.",
                   report.configurations, report.points.size(), report.problems),
       fmt::format(
           "MB moved are expected values. In chains each token is accepted independently with probability "
           "alpha. For trees they are means over {} simulated requests, by the rule in double, on rows of at "
           "most {} ids whose overlap is alpha.",
           expected_requests, max_expected_ids)}};
}

std::string kernel_csv(const KernelReport& report) {
  const Typed<VerificationRow>& type = described<VerificationRow>();
  return csv_of(type, report.verification, entry_names(type.type->object()->fields()));
}

}  // namespace speclab
