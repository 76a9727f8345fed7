// The experiment "printed": computes one number from others, which a paper prints or a file of measurements
// holds, and compares it with the number that the paper prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

namespace {

struct PrintedSection {
  Metric quantity = Metric::quoted;
  std::vector<std::string> from, to;
  std::string file, method;
  std::string column = "median_us";
  OrderedMap<std::shared_ptr<const Json>> where;
};

/// A number with half a unit of its last digit; 0 for measured ones.
struct Input {
  double value = 0;
  double half_unit = 0;
};

/// How a quantity is computed. `from` is 0 if the quantity does not need it.
struct Quantity {
  Metric metric;
  bool needs_from = false;
  bool of_list = false;  ///< of a list "to"
  double (*value)(double from, const std::vector<double>& to) = nullptr;
};

const Quantity& quantity_of(Metric metric) {
  using List = const std::vector<double>&;
  const auto stated = [](double, List to) { return to.front(); };
  static const std::vector<Quantity> all{
      {Metric::percent_saved, true, false,
       [](double from, List to) { return 100 * (1 - to.front() / from); }},
      // Percentages saved: of one call in "from", of all calls in "to".
      {Metric::calls_left, true, false,
       [](double from, List to) { return (100 - to.front()) / (100 - from); }},
      // Percentages saved: of the time of sampling in "from", of the whole time in "to".
      {Metric::sampling_share, true, false, [](double from, List to) { return to.front() / from; }},
      {Metric::quotient, true, false, [](double from, List to) { return to.front() / from; }},
      {Metric::quoted, false, false, stated},
      {Metric::least_of, false, true, [](double, List to) { return *std::ranges::min_element(to); }},
      {Metric::most_of, false, true, [](double, List to) { return *std::ranges::max_element(to); }},
      {Metric::microseconds, false, false, stated},
      {Metric::megabytes, false, false, [](double, List to) { return to.front() / 1e6; }},
      {Metric::gb_per_s, false, false, stated}};
  const auto found = std::ranges::find(all, metric, &Quantity::metric);
  if (found != all.end()) return *found;
  std::string known;
  for (const Quantity& one : all) known += (known.empty() ? "" : ", ") + metric_name(one.metric);
  throw ConfigError("/printed/quantity", "\"{}\" is not computed from printed numbers; expected one of {}",
                    metric_name(metric), known);
}

Input printed_input(const std::string& text, const std::string& path) {
  const auto value = number_in(text);
  if (!value) throw ConfigError(path, "\"{}\" is not a number; write it as printed, as text", text);
  return {*value, half_unit_of(text)};
}

bool has_value(const std::string& field, const Json& wanted) {
  return wanted.is_number() ? number_in(field) == wanted.get<double>()
                            : wanted.is_string() && field == wanted.get<std::string>();
}

/// Returns the number in the row of the file that has the wanted values and this method. Throws ConfigError
/// unless there is exactly one.
Input measured_input(const PrintedSection& section, const std::string& method, const std::string& path) {
  const std::string text = in_file(section.file, [&] { return read_text(section.file); });
  const std::vector<TextLine> lines = lines_of(text, section.file);
  const std::vector<std::string> names =
      lines.empty() ? std::vector<std::string>() : header_names(lines.front().text);
  const auto column = [&](const std::string& name, const std::string& place) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw ConfigError(place, "{} has no column \"{}\"{}", section.file, name, suggestion(name, names));
    return static_cast<std::size_t>(found - names.begin());
  };
  const std::size_t of_method = column("method", "/printed/file");
  const std::size_t of_number = column(section.column, "/printed/column");
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = split(lines[i].text, ',');
    if (fields.size() != names.size())
      throw ConfigError("/printed/file", "{}: {} fields, where the header has {}", lines[i].where,
                        fields.size(), names.size());
    const bool wanted = std::ranges::all_of(section.where, [&](const auto& one) {
      return has_value(fields[column(one.first, "/printed/where")], *one.second);
    });
    if (wanted && fields[of_method] == method) numbers.push_back(fields[of_number]);
  }
  if (numbers.size() != 1) {
    throw ConfigError(path,
                      "{} has {} rows of method \"{}\" with the values of \"where\"; name values of one row",
                      section.file, numbers.size(), method);
  }
  const auto value = number_in(numbers.front());
  if (!value)
    throw ConfigError("/printed/column", "\"{}\" in {} is not a number", numbers.front(), section.file);
  return {*value, 0};
}

std::vector<Input> inputs_of(const PrintedSection& section, const std::vector<std::string>& words,
                             const std::string& path) {
  std::vector<Input> inputs;
  for (const std::string& word : words)
    inputs.push_back(section.file.empty() ? printed_input(word, path) : measured_input(section, word, path));
  return inputs;
}

/// The number for the inputs as printed, and its bounds over all inputs that round to them. Every quantity is
/// monotone in "from" and in "to", so that the corners have the extremes.
struct Computed {
  double value = 0;
  double least = INFINITY;
  double most = -INFINITY;
};

Computed computed(const PrintedSection& section) {
  const Quantity& quantity = quantity_of(section.quantity);
  const std::vector<Input> from = inputs_of(section, section.from, "/printed/from");
  const std::vector<Input> to = section.method.empty()
                                    ? inputs_of(section, section.to, "/printed/to")
                                    : inputs_of(section, {section.method}, "/printed/method");
  if (from.size() != (quantity.needs_from ? 1 : 0))
    throw ConfigError("/printed/from", "has {} numbers; {} needs {}", from.size(),
                      metric_name(quantity.metric), quantity.needs_from ? "one" : "none");
  if (to.empty() || (to.size() > 1 && !quantity.of_list))
    throw ConfigError("/printed/to", "has {} numbers; {} needs {}", to.size(), metric_name(quantity.metric),
                      quantity.of_list ? "at least one" : "one");
  const auto at = [&](double from_side, double to_side) {
    std::vector<double> moved;
    for (const Input& one : to) moved.push_back(one.value + to_side * one.half_unit);
    return quantity.value(from.empty() ? 0 : from.front().value + from_side * from.front().half_unit, moved);
  };
  Computed out;
  out.value = at(0, 0);
  for (const double from_side : {-1.0, 1.0}) {
    for (const double to_side : {-1.0, 1.0}) {
      out.least = std::min(out.least, at(from_side, to_side));
      out.most = std::max(out.most, at(from_side, to_side));
    }
  }
  if (!std::isfinite(out.value))
    throw ConfigError("/printed/from", "these inputs have no finite {}", metric_name(quantity.metric));
  return out;
}

Reproduction verdict_on(const Computed& found, const std::string& printed) {
  const Reproduction verdict = judged(found.value, found.least, found.most, printed);
  if (verdict == Reproduction::reproduces) return verdict;
  const double beyond = std::abs(found.value) - std::abs(std::stod(printed));
  const bool same_sign = found.value * std::stod(printed) >= 0;
  return same_sign && beyond >= 0 && beyond < 2 * half_unit_of(printed) ? Reproduction::cut_off : verdict;
}

Work prepare_printed(const CellSpec& cell, JobList&) {
  const auto& section = cell.config.section<PrintedSection>();
  const Computed found = computed(section);
  for (const auto& [name, printed] : cell.printed) {
    if (name != metric_name(section.quantity))
      throw ConfigError("/cases",
                        "\"{}\": prints \"{}\", but \"/printed/quantity\" is \"{}\"; name one quantity",
                        cell.label, name, metric_name(section.quantity));
  }
  return {.finish = [found, &cell, &section](CellResult& result, const RunContext&) {
    result.formula = {{section.quantity, found.value}};
    for (const auto& [name, printed] : cell.printed)
      result.verdict.emplace_back(section.quantity, verdict_on(found, printed));
  }};
}

/// Returns the verdicts, or the range of a quantity that no printed number is compared with.
std::string printed_headline(const Result& result, const Timings& timings) {
  const CellResult* least = nullptr;
  const CellResult* most = nullptr;
  const auto value = [](const CellResult& cell) { return cell.formula.front().second; };
  for (const CellResult& cell : result.cells) {
    if (cell.formula.empty() || !cell.verdict.empty()) return metric_headline(result, timings);
    if (least == nullptr || value(cell) < value(*least)) least = &cell;
    if (most == nullptr || value(cell) > value(*most)) most = &cell;
  }
  if (least == most) return metric_headline(result, timings);
  return fmt::format("The {} lies between {} ({}) and {} ({}).", metric_label(least->formula.front().first),
                     number_text(value(*least)), least->label, number_text(value(*most)), most->label);
}

}  // namespace

SectionKind printed_section() {
  using P = PrintedSection;
  return {"printed",
          object<P>("printed", "The number that the experiment printed computes, and its inputs.",
                    {field("quantity", &P::quantity, metric_type(), "The metric to compute."),
                     field("from", &P::from, list(text(), 0, 1),
                           "The number before; with \"file\", the method whose row has it."),
                     field("to", &P::to, list(text(), 0, 64),
                           "The number after, or a list for least_of and most_of."),
                     field("file", &P::file, input_file(),
                           "A CSV file of measurements with a column \"method\", from which both are read."),
                     field("method", &P::method, text(),
                           "Instead of \"to\": the method whose row has the number after."),
                     field("column", &P::column, text(), "Its column with the numbers."),
                     field("where", &P::where, map(any_json()), "Values by column that the rows must have.")})
              .type};
}

const Experiment& printed_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "printed",
      .sentence = "Numbers computed from printed or measured ones, beside those that a paper prints.",
      .sections = {"printed"},
      .reads = {"metrics", "figures", "measured_note"},
      .prepare = prepare_printed,
      .closed_forms = true,
      .judges_printed = true,
      .presentation =
          presented({.metrics = {.shown = {percent_saved, calls_left, sampling_share, quotient, quoted,
                                           least_of, most_of, microseconds, megabytes, gb_per_s},
                                 .figure = percent_saved},
                     .headline = printed_headline,
                     .outcome = "computed here"})};
  return experiment;
}

}  // namespace speclab
