#include "serving/advisor/plan_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/base/page/cells.hpp"
#include "serving/advisor/plan_text.hpp"

namespace speclab {

namespace {

std::string speedup_words(const Interval& speedup) {
  return speedup.low == speedup.high ? fmt::format("{:.3g}", speedup.estimate)
                                     : fmt::format("{:.3g} ({:.3g} to {:.3g} by acceptance alone)",
                                                   speedup.estimate, speedup.low, speedup.high);
}

Series gamma_line(const DrafterPlan& plan, const std::string& name) {
  Series line{.name = name};
  for (const GammaRow& row : plan.gammas) {
    plan.alpha.estimated() ? line.add(row.gamma, row.speedup) : line.add(row.gamma, row.speedup.estimate);
  }
  return line;
}

Figure gamma_figure(const DrafterPlan& plan) {
  Figure figure{"", "Expected speedup by γ", "γ", "speedup over plain decoding"};
  figure.series.push_back(gamma_line(plan, "expected"));
  Series best{.name = "best", .style = SeriesStyle::points};
  best.add(plan.best.gamma, plan.best.speedup.estimate);
  figure.series.push_back(std::move(best));
  if (plan.asked && plan.asked->gamma != plan.best.gamma) {
    Series asked{.name = "asked about", .style = SeriesStyle::points};
    asked.add(plan.asked->gamma, plan.asked->speedup.estimate);
    figure.series.push_back(std::move(asked));
  }
  if (plan.alpha.estimated())
    figure.caption =
        fmt::format("Band: the {} interval that α's gives.", confidence_percent(plan.alpha.confidence));
  return figure;
}

Figure batch_figure(const std::vector<BatchRange>& batches) {
  Figure figure{"", "Best γ by batch", "sequences decoded together", "γ; 0: do not speculate"};
  figure.log_x = true;
  Series line{.name = "best γ", .style = SeriesStyle::steps};
  for (const BatchRange& range : batches) {
    line.add(range.first, range.gamma);
    line.add(range.last, range.gamma);
  }
  figure.series.push_back(std::move(line));
  figure.caption = "The γ of the largest speedup at each batch.";
  return figure;
}

Figure log_figure(const LogFindings& log) {
  Figure figure{"", "Acceptance by position, as logged", "position in the drafted tokens",
                "P[accepted | those before]"};
  figure.y_range = AxisRange{0, 1.03};
  Series points{.name = "logged", .style = SeriesStyle::points};
  for (const LogPosition& position : log.positions)
    points.add(static_cast<double>(position.position), position.conditional);
  figure.series.push_back(std::move(points));
  figure.caption =
      log.iid_rejected
          ? "Acceptances are not alike at all positions, or depend on those before (level 0.001)."
          : "Nothing speaks against acceptances that are alike and independent (level 0.001).";
  return figure;
}

}  // namespace

std::string plan_headline(const DrafterPlan& plan) {
  if (plan.fits_reason) return "It does not fit: " + *plan.fits_reason;
  if (plan.best.gamma == 0)
    return "Do not speculate: no γ is faster than plain decoding. " + plan.best.reason;
  std::string text = fmt::format("Draft γ = {} tokens: speedup {} over plain decoding.", plan.best.gamma,
                                 speedup_words(plan.best.speedup));
  if (const auto& other = plan.best.speedup_at_other_costs)
    text += fmt::format(" At other costs than assumed {:.3g} to {:.3g}.", other->low, other->high);
  if (plan.batches) {
    std::string sentences = " " + batch_sentences(plan);
    sentences.pop_back();
    std::replace(sentences.begin(), sentences.end(), '\n', ' ');
    text += sentences;
  }
  return text;
}

std::vector<Figure> plan_figures(const DrafterPlan& plan) {
  std::vector<Figure> figures;
  if (plan.fits_reason) return figures;
  if (!plan.gammas.empty()) figures.push_back(gamma_figure(plan));
  if (plan.batches && !plan.batches->empty()) figures.push_back(batch_figure(*plan.batches));
  if (plan.log && !plan.log->positions.empty()) figures.push_back(log_figure(*plan.log));
  return figures;
}

std::string ranking_headline(const DrafterRanking& ranking) {
  const DrafterPlan& best = ranking.ranking.front();
  if (best.fits_reason) return "None of them fits. " + *best.fits_reason;
  return fmt::format("Of {} drafters {} is the fastest: {}", ranking.ranking.size(), best.drafter,
                     plan_headline(best));
}

std::vector<Figure> ranking_figures(const DrafterRanking& ranking) {
  Figure figure{"", "Expected speedup by γ", "γ", "speedup over plain decoding"};
  for (const DrafterPlan& plan : ranking.ranking) {
    if (!plan.gammas.empty() && !plan.fits_reason) figure.series.push_back(gamma_line(plan, plan.drafter));
  }
  if (figure.series.empty()) return {};
  return {figure};
}

}  // namespace speclab
