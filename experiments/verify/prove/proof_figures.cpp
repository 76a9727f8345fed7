// Draws the pages of `speclab prove`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "experiments/verify/prove/survey.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_sequences_drawn = 30;

std::string number_words(const ProofNumber& number) { return short_text(number, 6); }

Figure distribution_figure(const Proof& proof) {
  std::map<std::string, std::pair<double, double>> all;
  for (const auto& [tokens, probability] : *proof.target_distribution)
    all[tokens].first = as_double(probability);
  for (const auto& [tokens, probability] : *proof.distribution) all[tokens].second = as_double(probability);
  std::vector<std::pair<std::string, std::pair<double, double>>> likely(all.begin(), all.end());
  std::stable_sort(likely.begin(), likely.end(), [](const auto& a, const auto& b) {
    return std::max(a.second.first, a.second.second) > std::max(b.second.first, b.second.second);
  });
  const std::size_t shown = std::min(max_sequences_drawn, likely.size());
  Figure figure{.title = fmt::format("Probability of the first {} tokens",
                                     proof.tokens.value_or(static_cast<std::uint64_t>(proof.gamma) + 1)),
                .y_label = "probability"};
  Series target{.name = "target", .style = SeriesStyle::levels};
  Series round{.name = "speculative decoding", .style = SeriesStyle::points};
  for (std::size_t i = 0; i < shown; ++i) {
    const double row = figure.add_category(likely[i].first);
    target.add(row, likely[i].second.first);
    round.add(row, likely[i].second.second);
  }
  figure.series = {std::move(target), std::move(round)};
  figure.caption =
      "Sequences of token ids, the most likely first. A lossless rule has every point on its line.";
  if (shown < likely.size()) figure.caption += fmt::format(" The first {} of {}.", shown, likely.size());
  return figure;
}

}  // namespace

std::string proof_headline(const Proof& proof) {
  const bool exact = proof.arithmetic == Arithmetic::rational;
  const std::string fault = proof.fault ? fmt::format("With the planted fault {}, ", *proof.fault) : "";
  std::string text =
      fault + (proof.lossless ? fmt::format("{} is lossless on these rows{}.", proof.rule.name(),
                                            exact ? ", exactly" : ", to rounding")
                              : fmt::format("{} is not lossless: total variation {}.", proof.rule.name(),
                                            number_words(proof.tv)));
  if (const auto& counter = proof.counterexample; counter && !proof.lossless)
    text += fmt::format(" P({}) is {} instead of {}.", fmt::join(counter->tokens, ","),
                        number_words(counter->probability), number_words(counter->target_probability));
  text += fmt::format(" It accepts a token with probability {}", number_words(proof.acceptance));
  if (proof.optimal_transport_bound)
    text += fmt::format("; the bound of lossless rules is {}", number_words(*proof.optimal_transport_bound));
  return text + ".";
}

std::vector<Figure> proof_figures(const Proof& proof) {
  if (!proof.distribution || !proof.target_distribution) return {};
  return {distribution_figure(proof)};
}

std::string survey_headline(const Survey& survey) {
  std::size_t lossless = 0;
  std::size_t refuted = 0;
  for (const SurveyRow& row : survey.rules) {
    if (row.lossless == row.instances) ++lossless;
    if (row.counterexample) ++refuted;
  }
  return fmt::format(
      "{} of {} rules are lossless on all of {} instances, in exact arithmetic; {} are refuted by a counterexample. {}",
      lossless, survey.rules.size(), survey.instances, refuted,
      survey.as_expected ? "Every rule agrees with its entry." : "Not every rule agrees with its entry.");
}

std::vector<Figure> survey_figures(const Survey& survey) {
  Figure figure{.title = "Acceptance of each rule, over the instances",
                .y_label = "mean P[a token is accepted at the first position]",
                .y_range = AxisRange{0, 1}};
  Series bound{.name = "optimal transport bound", .style = SeriesStyle::levels};
  Series lossless{.name = "lossless", .style = SeriesStyle::points};
  Series lossy{.name = "lossy", .style = SeriesStyle::points};
  for (const SurveyRow& row : survey.rules) {
    const double at = figure.add_category(row.rule);
    bound.add(at, row.mean_optimal_transport_bound);
    (row.counterexample ? lossy : lossless).add(at, row.mean_acceptance);
  }
  for (Series* series : {&bound, &lossless, &lossy}) figure.add(std::move(*series));
  figure.caption = "Lossy rules have a counterexample among the instances.";
  return {figure};
}

}  // namespace speclab
