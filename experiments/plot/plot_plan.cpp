#include "experiments/plot/plot_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "experiments/format/config_error.hpp"

namespace speclab {

namespace {

std::vector<std::size_t> known_columns(const ColumnView& table, const char* option,
                                       const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(table.known(option, name));
  return columns;
}

}  // namespace

PlotPlan plan_of(const ColumnView& table, const PlotRequest& request) {
  PlotPlan plan;
  plan.kind = request.kind.value_or(PlotKind::line);
  plan.rows = table.rows_where(request.where);
  const bool heat = plan.kind == PlotKind::heat;
  if (heat) {
    if (request.color.size() > 1) throw UsageError("--color: a heat map has one value");
    plan.value = request.color.empty() ? default_value(table, plan.rows) : request.color.front();
  } else {
    plan.value = request.y ? *request.y : default_value(table, plan.rows);
    plan.color = known_columns(table, "--color", request.color);
  }
  plan.values = value_columns(table, plan.value);
  for (const ValueColumn& value : plan.values)
    table.require_numbers(heat ? "--color" : "--y", plan.rows, value.column);
  plan.facet = known_columns(table, "--facet", request.facet);
  std::set<std::size_t> taken(plan.facet.begin(), plan.facet.end());
  taken.insert(plan.color.begin(), plan.color.end());
  for (const ValueColumn& value : plan.values) taken.insert(value.column);
  if (request.x) taken.insert(plan.x = table.known("--x", *request.x));
  if (heat && request.y) taken.insert(*(plan.up = table.known("--y", *request.y)));
  std::vector<std::size_t> open = set_columns(table, plan.rows, plan.values);
  std::erase_if(open, [&](std::size_t column) { return taken.contains(column); });
  // The longest axis of numbers first.
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(table.numeric(plan.rows, a), table.values(plan.rows, a).size()) >
           std::pair(table.numeric(plan.rows, b), table.values(plan.rows, b).size());
  });
  const auto take_first = [&](const char* option) {
    if (open.empty())
      throw UsageError(fmt::format("{}: nothing that was set differs between these rows; name one of {}",
                                   option, fmt::join(table.columns(), ", ")));
    const std::size_t column = open.front();
    open.erase(open.begin());
    return column;
  };
  if (!request.x && plan.kind != PlotKind::ecdf) plan.x = take_first("--x");
  if (heat && !plan.up) plan.up = take_first("--y");
  // Two long axes of numbers are cells, unless somebody says otherwise.
  const bool cells = !request.kind && request.color.empty() && !open.empty() &&
                     table.numeric(plan.rows, plan.x) && table.numeric(plan.rows, open.front()) &&
                     table.values(plan.rows, open.front()).size() > most_series;
  if (cells) {
    plan.kind = PlotKind::heat;
    plan.up = take_first("--y");
  }
  if (plan.up) {
    table.require_numbers("--x", plan.rows, plan.x);
    table.require_numbers("--y", plan.rows, *plan.up);
  }
  // What is left is the sample of a distribution; else it must not hide one row below another.
  if (plan.kind == PlotKind::box || plan.kind == PlotKind::ecdf) return plan;
  std::vector<std::size_t> used = plan.facet;
  used.insert(used.end(), plan.color.begin(), plan.color.end());
  used.push_back(plan.x);
  if (plan.up) used.push_back(*plan.up);
  const auto few = [&](std::size_t column) { return table.values(plan.rows, column).size() <= most_series; };
  if (!plan.up && request.color.empty() && !tells_apart(table, plan.rows, used)) {
    if (const auto column = std::find_if(open.begin(), open.end(), few); column != open.end()) {
      plan.color.push_back(*column);
      used.push_back(*column);
      open.erase(column);
    }
  }
  for (const std::size_t column : open) {
    if (tells_apart(table, plan.rows, used)) break;
    plan.facet.push_back(column);
    used.push_back(column);
  }
  return plan;
}

}  // namespace speclab
