#include <algorithm>
#include <cmath>

#include "experiments/rules/rule_comparison.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

const Interval& first_acceptance(const CellResult& cell) {
  return *find(cell.simulated, Metric::first_token_acceptance);
}

std::vector<const CellResult*> ordered(const std::vector<CellResult>& cells) {
  std::vector<const CellResult*> rules;
  for (const CellResult& cell : cells) {
    if (cell.own && find(cell.simulated, Metric::first_token_acceptance) != nullptr) rules.push_back(&cell);
  }
  std::stable_sort(rules.begin(), rules.end(), [](const CellResult* a, const CellResult* b) {
    const int drafts_a = own<RuleComparison>(*a).drafts;
    const int drafts_b = own<RuleComparison>(*b).drafts;
    return drafts_a != drafts_b ? drafts_a < drafts_b
                                : first_acceptance(*a).estimate < first_acceptance(*b).estimate;
  });
  return rules;
}

Series series(const char* name, SeriesStyle style) {
  Series made;
  made.name = name;
  made.style = style;
  return made;
}

}  // namespace

Figure rules_figure(const std::vector<CellResult>& cells) {
  Series bounds = series("optimal transport bound for as many i.i.d. drafts", SeriesStyle::levels);
  Series lossless = series("lossless", SeriesStyle::points);
  Series lossy = series("lossy", SeriesStyle::points);
  Figure figure;
  for (const CellResult* cell : ordered(cells)) {
    const auto x = static_cast<double>(figure.categories.size());
    figure.categories.push_back(cell->label);
    if (const Interval* bound = find(cell->simulated, Metric::optimal_transport_bound)) {
      bounds.x.push_back(x);
      bounds.y.push_back(bound->estimate);
    }
    Series& points = own<RuleComparison>(*cell).lossless ? lossless : lossy;
    const auto [estimate, low, high] = first_acceptance(*cell);
    points.x.push_back(x);
    points.y.push_back(estimate);
    // Bounds of one batch are infinite.
    points.low.push_back(std::isfinite(low) ? low : estimate);
    points.high.push_back(std::isfinite(high) ? high : estimate);
  }
  figure.series = {std::move(lossless), std::move(lossy), std::move(bounds)};
  figure.title = "How often each rule accepts a token at the first position";
  figure.y_label = "P(a drafted token is accepted)";
  figure.y_range = AxisRange{0, 1};
  figure.caption =
      "P(a drafted token is accepted at the first position of a round), with intervals, by number of drafts "
      "at that position, then by acceptance. Short lines: the optimal transport bound for as many i.i.d. "
      "drafts, which lossy rules and drafts without replacement may exceed.";
  return figure;
}

}  // namespace speclab
