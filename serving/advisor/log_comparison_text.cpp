// Texts and tables of `speclab plan compare`.
#include <fmt/format.h>

#include "serving/advisor/log_comparison.hpp"
#include "serving/advisor/plan_words.hpp"

namespace speclab {

namespace {

/// The smallest p-value that is computed is 1e-12.
std::string p_words(double p, const char* equals = "") {
  return p < 1.01e-12 ? "< 1e-12" : fmt::format("{}{:.2g}", equals, p);
}

std::string file_words(const ComparedFile& one) {
  return fmt::format("{} ({}): {}", one.file, one.format, one.units);
}

Table number_table(const char* id, const char* caption, const std::vector<ComparedNumber>& numbers) {
  Table table{id, caption, {"number", "A", "B", "B − A", "low", "high", "p", "detectable"}};
  for (const ComparedNumber& one : numbers) {
    table.rows.push_back({text_cell(one.name), short_cell(one.first), short_cell(one.second),
                          short_cell(one.difference.estimate), short_cell(one.difference.low),
                          short_cell(one.difference.high),
                          one.p ? Cell{p_words(*one.p), *one.p} : text_cell("–"), short_cell(one.found)});
  }
  return table;
}

}  // namespace

std::string comparison_headline(const LogComparison& comparison) {
  if (comparison.numbers.empty()) return "The two files have no number in common.";
  std::string text;
  for (const ComparedNumber& one : comparison.numbers) {
    const std::string values = fmt::format("{:.4g} against {:.4g}", one.second, one.first);
    if (!one.p) {
      text += fmt::format("{}: B has {}; the error is not known. ", one.name, values);
    } else if (one.difference.low > 0 || one.difference.high < 0) {
      text += fmt::format("{}: B has {} {}, a difference of {}, p {}. ", one.name,
                          one.difference.estimate > 0 ? "more," : "less,", values, ranged(one.difference, ""),
                          p_words(*one.p, "= "));
    } else {
      text += fmt::format(
          "{}: no difference is shown ({}, p {}); one of {:.2g} would be found with probability {:g}. ",
          one.name, values, p_words(*one.p, "= "), one.found.value_or(0), comparison.power);
    }
  }
  text.pop_back();
  return text;
}

std::vector<Figure> comparison_figures(const LogComparison& comparison) {
  Figure figure{.title = "Differences of acceptance rates", .y_label = "B − A"};
  Series points{.style = SeriesStyle::points};
  for (const auto* numbers : {&comparison.numbers, &comparison.positions}) {
    for (const ComparedNumber& one : *numbers) {
      if (!one.name.starts_with("tokens")) points.add(figure.add_category(one.name), one.difference);
    }
  }
  figure.add(std::move(points));
  figure.caption = fmt::format("Bars: {} intervals.", confidence_percent(comparison.confidence));
  return figure.series.empty() ? std::vector<Figure>() : std::vector{figure};
}

Listing comparison_text(const LogComparison& comparison) {
  Listing out;
  out += plan_line("A", file_words(comparison.first));
  out += plan_line("B", file_words(comparison.second));
  out += comparison_headline(comparison) + "\n";
  out += number_table("numbers", "Acceptance of both", comparison.numbers);
  if (!comparison.positions.empty())
    out += number_table("positions", "Acceptance by position", comparison.positions);
  out += fmt::format(
      "Low and high: the {} interval of B − A, {}. {}.\nDetectable: a true difference of this size gives p below {:.4g}, unadjusted, with probability {:g}.\n",
      confidence_percent(comparison.confidence),
      comparison.paired ? "over pairs of the parts above" : "if the parts above are independent",
      comparison.adjusted, 1 - comparison.confidence, comparison.power);
  return out;
}

}  // namespace speclab
