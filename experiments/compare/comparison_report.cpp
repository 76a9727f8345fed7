#include "experiments/compare/comparison_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "experiments/csv_values.hpp"
#include "experiments/metrics.hpp"
#include "experiments/presentation.hpp"

namespace speclab {

namespace {

std::string text_of(const Json& cell, const char* key) { return cell.at("set").at(key).get<std::string>(); }

Cell words(std::string text, std::string css = "") { return {std::move(text), std::nullopt, std::move(css)}; }

Cell interval_of(const Json& numbers, const char* name) {
  return numbers.contains(name) ? interval_cell(numbers.at(name)) : words("–");
}

bool ran(const Json& cell) { return cell.contains("policies"); }

/// Bounds are null when they are infinite and have been through a file.
bool above_zero(const Json& interval) { return interval[1].is_number() && interval[1].get<double>() > 0; }
bool below_zero(const Json& interval) { return interval[2].is_number() && interval[2].get<double>() < 0; }

const Json* policy_named(const Json& cell, const std::string& name) {
  for (const Json& policy : cell.at("policies")) {
    if (policy.at("name") == name) return &policy;
  }
  return nullptr;
}

std::vector<std::string> policy_names(const Json& result) {
  std::vector<std::string> names;
  for (const Json& cell : result.at("cells")) {
    if (!ran(cell)) continue;
    for (const Json& policy : cell.at("policies")) {
      const auto name = policy.at("name").get<std::string>();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> distinct(const Json& result, const char* key) {
  std::vector<std::string> all;
  for (const Json& cell : result.at("cells")) {
    const std::string text = text_of(cell, key);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all;
}

/// Task and drafter, and what the sweep set besides.
std::vector<Cell> head(const Json& cell) {
  const std::string both = text_of(cell, "task") + ": " + text_of(cell, "drafter");
  const auto label = cell.at("label").get<std::string>();
  const std::size_t extra = label.size() - std::min(label.size(), both.size());
  const std::string before = extra > 2 ? label.substr(0, extra - 2) + ", " : "";
  return {words(before + text_of(cell, "task")), words(text_of(cell, "drafter"))};
}

/// A row without numbers; a note says why.
std::vector<Cell> empty_row(const Json& cell, std::size_t columns) {
  std::vector<Cell> row = head(cell);
  row.resize(columns, words("–"));
  return row;
}

std::string unsupported_reasons(const Json& result) {
  std::string text;
  for (const Json& cell : result.at("cells")) {
    if (ran(cell)) continue;
    const std::string reason = cell.contains("partial") ? "interrupted" : cell.value("obstacle", "");
    text += fmt::format(" {}: {}.", cell.at("label").get<std::string>(), reason);
  }
  return text;
}

Table drafters_table(const Json& result, const std::string& id) {
  Table table{id,
              result.at("title").get<std::string>(),
              {"task", "drafter", "best γ", metric_label("speed"), metric_label("tokens_per_round"),
               metric_label("alpha_overlap"), metric_label("alpha_examined"), metric_label("alpha_drafted"),
               "proposes"},
              {},
              "All but two columns are of the fastest fixed γ. α (overlap): mean overlap of target and draft "
              "along text that the target generates, 0 where the drafter has nothing to propose; "
              "\"proposes\" is how often it has. Standard decoding has speed 1."};
  for (const Json& cell : result.at("cells")) {
    if (!ran(cell)) {
      table.rows.push_back(empty_row(cell, table.columns.size()));
      continue;
    }
    const Json& simulated = cell.at("simulated");
    std::vector<Cell> row = head(cell);
    row.push_back(number_cell(cell.at("best_gamma").get<double>()));
    for (const char* name :
         {"speed", "tokens_per_round", "alpha_overlap", "alpha_examined", "alpha_drafted"}) {
      row.push_back(interval_of(simulated, name));
    }
    row.push_back(interval_of(cell, "proposes"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

const char* mark_of(const Json& gain) { return above_zero(gain) ? " ▲" : below_zero(gain) ? " ▼" : ""; }

const char* css_of(const Json& policy) {
  if (policy.at("kind") == "oracle") return "note";
  return above_zero(policy.at("gain")) ? "good" : below_zero(policy.at("gain")) ? "bad" : "";
}

/// Rows of all cells that ran: task, drafter, `first(cell)`, then `of(policy)` for every policy.
template <class First, class Of>
Table by_policy(const Json& result, Table table, const First& first, const Of& of) {
  const std::vector<std::string> names = policy_names(result);
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const Json& cell : result.at("cells")) {
    if (!ran(cell)) continue;
    std::vector<Cell> row = head(cell);
    row.push_back(first(cell));
    for (const std::string& name : names) {
      const Json* policy = policy_named(cell, name);
      row.push_back(policy == nullptr ? words("–") : of(*policy));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The uncharged oracle's speed, a bound that is not a policy's.
Cell uncharged(const Json& cell) {
  for (const Json& policy : cell.at("policies")) {
    if (policy.contains("speed_uncharged")) return number_cell(policy.at("speed_uncharged")[0].get<double>());
  }
  return words("–");
}

Table policies_table(const Json& result, const std::string& id) {
  Table table = by_policy(
      result, {id, "Speed by γ policy", {"task", "drafter", "best fixed γ"}, {}, ""},
      [](const Json& cell) {
        const auto speed = cell.at("simulated").at("speed")[0].get<double>();
        return Cell{fmt::format("{} (γ = {})", number_text(speed), cell.at("best_gamma").get<int>()), speed,
                    ""};
      },
      [](const Json& policy) {
        const auto speed = policy.at("speed")[0].get<double>();
        return Cell{number_text(speed) + mark_of(policy.at("gain")), speed, css_of(policy)};
      });
  table.note =
      "▲ ▼: faster or slower than the best fixed γ, by an interval of the paired difference that leaves out "
      "0. The best fixed γ is chosen after the fact, on these very sequences, which is a little in its "
      "favour. An oracle is a bound and no policy: it pays for the tokens that will be kept and no others; "
      "uncharged, not even for those.";
  std::size_t row = 0;
  bool any = false;
  std::vector<Cell> bounds;
  for (const Json& cell : result.at("cells")) {
    if (ran(cell)) bounds.push_back(uncharged(cell));
  }
  for (const Cell& bound : bounds) any = any || bound.sort_key.has_value();
  if (!any) return table;
  table.columns.emplace_back("uncharged");
  for (Cell& bound : bounds) table.rows[row++].push_back(std::move(bound));
  return table;
}

Table gains_table(const Json& result, const std::string& id) {
  Table table = by_policy(
      result,
      {id,
       "Speed of each γ policy less that of the best fixed γ",
       {"task", "drafter", "best fixed γ"},
       {},
       ""},
      [](const Json& cell) { return interval_of(cell.at("simulated"), "speed"); },
      [](const Json& policy) {
        Cell cell = interval_of(policy, "gain");
        cell.css_class = css_of(policy);
        return cell;
      });
  table.folded = true;
  return table;
}

Table gammas_table(const Json& result, const std::string& id) {
  Table table{id, "Speed by fixed γ", {"task", "drafter"}, {}, ""};
  table.folded = true;
  for (const Json& gamma : result.at("config").at("compare").at("gammas")) {
    table.columns.push_back(fmt::format("γ = {}", gamma.get<int>()));
  }
  for (const Json& cell : result.at("cells")) {
    if (!ran(cell)) continue;
    std::vector<Cell> row = head(cell);
    for (const Json& one : cell.at("gammas")) row.push_back(interval_of(one, "speed"));
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_point(Series& series, double x, const Json& interval) {
  const auto y = interval[0].get<double>();
  series.x.push_back(x);
  series.y.push_back(y);
  series.low.push_back(interval[1].is_number() ? interval[1].get<double>() : y);
  series.high.push_back(interval[2].is_number() ? interval[2].get<double>() : y);
}

Series points(std::string name) {
  Series series;
  series.name = std::move(name);
  series.style = SeriesStyle::points;
  return series;
}

/// The drafters on one axis, a series for each of `names`; `speed_of(cell, name)` is null where there is
/// none.
template <class SpeedOf>
Figure by_drafter(const Json& cells, const std::vector<std::string>& drafters,
                  const std::vector<std::string>& names, const SpeedOf& speed_of) {
  Figure figure;
  figure.categories = drafters;
  figure.y_label = metric_label("speed");
  for (const std::string& name : names) {
    Series series = points(name);
    for (const Json& cell : cells) {
      const Json speed = ran(cell) ? speed_of(cell, name) : Json();
      if (!speed.is_array()) continue;
      const auto at =
          std::find(drafters.begin(), drafters.end(), text_of(cell, "drafter")) - drafters.begin();
      add_point(series, static_cast<double>(at), speed);
    }
    if (!series.x.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace

std::vector<Table> comparison_tables(const Json& result, const std::string& id) {
  std::vector<Table> tables{drafters_table(result, id + "-table")};
  const bool any = std::any_of(result.at("cells").begin(), result.at("cells").end(), ran);
  if (!any) return tables;
  if (!policy_names(result).empty()) {
    tables.push_back(policies_table(result, id + "-policies"));
    tables.push_back(gains_table(result, id + "-gains"));
  }
  tables.push_back(gammas_table(result, id + "-gammas"));
  tables.front().note += " " + interval_note(result) + unsupported_reasons(result);
  return tables;
}

std::string comparison_csv(const Json& result) {
  const std::vector<std::string> sets = set_paths(result.at("cells"));
  std::vector<std::string> columns = sets;
  columns.insert(columns.end(), {"policy", "kind"});
  constexpr std::array numbers{
      "speed",          "speed_uncharged", "gain", "tokens_per_round", "drafted_per_round",
      "alpha_examined", "alpha_drafted"};
  for (const char* name : numbers) {
    for (const char* part : {"", "_low", "_high"}) columns.push_back(std::string(name) + part);
  }
  std::vector<std::vector<CsvValue>> rows;
  const auto add = [&](const Json& cell, const Json& run, const std::string& policy,
                       const std::string& kind) {
    std::vector<CsvValue>& row = rows.emplace_back();
    add_set_values(row, cell, sets);
    row.emplace_back(policy);
    row.emplace_back(kind);
    for (const char* name : numbers) add_interval(row, run, name);
  };
  for (const Json& cell : result.at("cells")) {
    if (!ran(cell)) continue;
    for (const Json& run : cell.at("gammas")) {
      add(cell, run, fmt::format("gamma = {}", run.at("gamma").get<int>()), "fixed");
    }
    for (const Json& run : cell.at("policies")) {
      add(cell, run, run.at("name").get<std::string>(), run.at("kind").get<std::string>());
    }
  }
  return csv(columns, rows);
}

std::vector<Figure> comparison_figures(const Json& result) {
  std::vector<Figure> figures;
  const Json& cells = result.at("cells");
  // A sweep has several cells for one drafter and task, which one axis cannot tell apart.
  if (result.at("config").contains("sweep") || result.at("config").contains("cases")) return figures;
  const std::vector<std::string> drafters = distinct(result, "drafter");
  const std::vector<std::string> tasks = distinct(result, "task");
  Figure all = by_drafter(cells, drafters, tasks, [](const Json& cell, const std::string& task) {
    return text_of(cell, "task") == task ? cell.at("simulated").at("speed") : Json();
  });
  if (all.series.empty()) return figures;
  all.title = "Speed-up of every drafter at its best fixed γ, by task";
  all.caption = all.title + ", with intervals. Standard decoding is 1.";
  figures.push_back(std::move(all));

  std::vector<std::string> names{"best fixed γ"};
  for (std::string& name : policy_names(result)) names.push_back(std::move(name));
  if (names.size() == 1) return figures;
  for (const std::string& task : tasks) {
    Figure figure = by_drafter(cells, drafters, names, [&](const Json& cell, const std::string& name) {
      if (text_of(cell, "task") != task) return Json();
      if (name == names.front()) return cell.at("simulated").at("speed");
      const Json* policy = policy_named(cell, name);
      return policy != nullptr ? policy->at("speed") : Json();
    });
    if (figure.series.empty()) continue;
    figure.title = fmt::format("Speed-up by γ policy: {}", task);
    figure.caption = figure.title + ", with intervals.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace speclab
