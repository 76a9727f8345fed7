// Writes results of equality tests as JSON, as text and as tables of an HTML page; reads the tests' config
// section.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/verify/check/diagnosis.hpp"

namespace speclab {

SPECLAB_CHOICE(EqualityReference, {"exact distribution", EqualityReference::exact_distribution},
               {"second sample", EqualityReference::second_sample});

SPECLAB_RESULT(PositionEquality, "position_equality", position, prefixes, covered, pearson, degrees,
               pearson_p, g, g_p, tails, tail_p, adjusted_p);

SPECLAB_RESULT(LikelihoodFit, "fit", name, also, log_likelihood, impossible, adjusted_p);

SPECLAB_OBJECT(EqualityResult, "equality_test",
               {"verdict", &EqualityResult::different, choice<bool>({{"equal", false}, {"different", true}})},
               {"against", &EqualityResult::reference},
               SPECLAB_FIELDS(EqualityResult, tokens, samples_each, level, adjusted_p, pearson, pearson_p, g,
                              g_p, cells_adjusted_p, degrees, cells, rare_classes, rare_samples, tails,
                              tail_p, tail_adjusted_p, impossible, positions, power, detectable_effect,
                              detectable_between_classes, detectable_total_variation),
               {"samples_for_total_variation_0.01", &EqualityResult::samples_for_one_percent},
               SPECLAB_FIELDS(EqualityResult, diagnosis, unseen_faults, texts, not_compared));

namespace {

/// Below the smallest normal double, p is not resolved.
std::string p_text(double p) { return p < 1e-300 ? "< 1e-300" : fmt::format("{:.3g}", p); }

std::string distance_text(double distance) {
  return distance < 0.001 ? fmt::format("{:.2g}", distance) : fmt::format("{:.4f}", distance);
}

/// Says how many sequences are too rare for their own class.
std::string rare_text(const EqualityResult& result) {
  if (result.rare_classes == 0) return "";
  return fmt::format("; {} sequences too rare for one of their own, {} of the samples", result.rare_classes,
                     result.rare_samples);
}

std::vector<Cell> test_row(const std::string& name, double statistic, int degrees, double p,
                           double adjusted_p) {
  return {text_cell(name),
          {fmt::format("{:.2f}", statistic), statistic},
          count_cell(static_cast<std::uint64_t>(degrees)),
          {p_text(p), p},
          {p_text(adjusted_p), adjusted_p}};
}

/// Exact tails have neither a statistic nor degrees of freedom.
std::vector<Cell> tail_row(const std::string& name, double p, Cell adjusted_p) {
  return {text_cell(name), text_cell(""), text_cell(""), {p_text(p), p}, std::move(adjusted_p)};
}

Table tests_table(const EqualityResult& result) {
  Table table{"tests", "Tests", {"test", "statistic", "degrees", "p", "adjusted p"}};
  table.rows = {
      test_row("whole sequences, Pearson", result.pearson, result.degrees, result.pearson_p,
               result.cells_adjusted_p),
      test_row("whole sequences, G", result.g, result.degrees, result.g_p, result.cells_adjusted_p)};
  if (result.tails > 0) {
    table.rows.push_back(tail_row("rare sequences, exact tails", result.tail_p,
                                  {p_text(result.tail_adjusted_p), result.tail_adjusted_p}));
  }
  int untested = 0;
  for (const PositionEquality& test : result.positions) {
    if (test.prefixes == 0) {
      ++untested;
      continue;
    }
    const int before = test.position - 1;
    const std::string name = before == 0
                                 ? "token 1"
                                 : fmt::format("token {} given {}", test.position,
                                               before == 1 ? "token 1" : fmt::format("tokens 1-{}", before));
    table.rows.push_back(test_row(name, test.pearson, test.degrees, test.cells_p(), test.adjusted_p));
    if (test.tails > 0)
      table.rows.push_back(tail_row("  its rare tokens, exact tails", test.tail_p, text_cell("")));
  }
  if (untested > 0) {
    table.note = fmt::format("{} of the {} positions: one outcome, or prefixes too rare to test", untested,
                             result.tokens);
  }
  return table;
}

}  // namespace

SectionKind check_section() {
  using C = CheckSection;
  return {
      "check",
      object<C>(
          "check",
          "The test of `speclab check`. It compares the distribution of the first tokens of speculative and plain decoding.",
          {integer_field("tokens", &C::tokens, 1, 64, "Tokens whose joint distribution is compared."),
           integer_field("samples", &C::samples, 100, 5e7, "Sequences from each decoder."),
           field("level", &C::level, number_above(0, 0.5), "Probability of a false alarm."),
           field("power", &C::power, number_above(0, 0.999999),
                 "Power for which the detectable effect is printed.")})
          .type,
      true};
}

Listing equality_text(const EqualityResult& result) {
  const bool exact = result.reference == EqualityReference::exact_distribution;
  Listing text;
  text += fmt::format("null      the first {} tokens have {}\n", result.tokens,
                      exact ? "the target's distribution, known exactly from its rows"
                            : "the distribution of plain decoding, seen in a second sample");
  text += fmt::format("samples   {} sequences{}, {} classes{}{}\n", result.samples_each, exact ? "" : " each",
                      result.cells, rare_text(result),
                      result.impossible > 0
                          ? fmt::format("; {} sequences that the target cannot produce", result.impossible)
                          : "");
  text += tests_table(result);
  text += fmt::format("power     a total variation of {} or more",
                      distance_text(result.detectable_total_variation));
  const bool rare = result.detectable_between_classes < result.detectable_total_variation;
  if (rare)
    text += fmt::format(", or of {} between the classes", distance_text(result.detectable_between_classes));
  if (result.degrees > 0) text += fmt::format(" (w = {:.4f} by Pearson's χ²)", result.detectable_effect);
  text += fmt::format("{}is found with probability {}", rare ? "\n          " : " ", result.power);
  if (result.samples_for_one_percent) {
    text += fmt::format(";\n          0.01 takes {} samples", *result.samples_for_one_percent);
    if (!exact) text += " each, or fewer: as many as fill all classes that there can be";
  }
  text += fmt::format("\nverdict   {} (level {:g})\n",
                      result.different
                          ? "DIFFERENT: the tokens do not have the target's distribution"
                          : "equal: no difference found" + (result.texts ? " in texts " + *result.texts : ""),
                      result.level);
  if (result.diagnosis) text += diagnosis_text(*result.diagnosis, result.level);
  if (result.not_compared) text += fmt::format("NOT compared: {}\n", *result.not_compared);
  if (result.unseen_faults && !result.unseen_faults->empty()) {
    text += fmt::format("unseen    planted faults that emit the target's distribution with this pair: {}\n",
                        fmt::join(*result.unseen_faults, ", "));
  }
  return text;
}

std::string equality_headline(const EqualityResult& result) {
  std::string text = result.different ? "Different: the tokens do not have the target's distribution"
                                      : "Equal: no difference from the target's distribution was found";
  text += fmt::format(" (adjusted p = {:.2g}, level {:g}).", result.adjusted_p, result.level);
  text +=
      fmt::format(" {} sequences of {} tokens find a total variation of {:.2g} or more with probability {}.",
                  result.samples_each, result.tokens, result.detectable_total_variation, result.power);
  if (result.different && result.diagnosis && !result.diagnosis->empty())
    text += fmt::format(" They are most like {}.", result.diagnosis->front().name);
  return text;
}

std::vector<Figure> equality_figures(const EqualityResult& result) {
  // Smaller p-values are drawn at this bound.
  constexpr double least = 1e-20;
  Figure figure{.title = "Adjusted p-value of each test",
                .y_label = "p-value, adjusted for all tests together",
                .log_y = true};
  Series level{.name = fmt::format("level {:g}", result.level), .style = SeriesStyle::levels};
  Series p{.name = "p-value", .style = SeriesStyle::points};
  bool cut = false;
  double smallest = std::min(result.level, 1.0);
  const auto add = [&](std::string name, double value) {
    const double at = figure.add_category(std::move(name));
    cut = cut || value < least;
    p.add(at, std::max(value, least));
    level.add(at, result.level);
    smallest = std::min(smallest, std::max(value, least));
  };
  add("whole sequences", result.cells_adjusted_p);
  if (result.tails > 0) add("rare sequences", result.tail_adjusted_p);
  for (const PositionEquality& test : result.positions) {
    if (test.prefixes > 0) add(fmt::format("token {}", test.position), test.adjusted_p);
  }
  figure.y_range = AxisRange{smallest / 3, 2};
  figure.series = {std::move(p), std::move(level)};
  figure.caption =
      "A point left of its line rejects equality; a lossless decoder puts one there with the level's probability.";
  if (cut) figure.caption += " Smaller p-values are drawn at 10⁻²⁰.";
  return {figure};
}

}  // namespace speclab
