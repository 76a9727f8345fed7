#include "serving/advisor/sampling_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/theory/draft_temperature.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/interval_fields.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "sim/parallel.hpp"

namespace speclab {

template <>
const Typed<DraftSampling>& described() {
  static const auto type = choice<DraftSampling>({{"argmax", DraftSampling::argmax},
                                                  {"as target", DraftSampling::as_target},
                                                  {"unfiltered", DraftSampling::unfiltered},
                                                  {"temperature", DraftSampling::temperature},
                                                  {"best", DraftSampling::best}});
  return type;
}

template <>
const Typed<TextRule>& described() {
  static const auto type =
      choice<TextRule>({{"match", TextRule::match}, {"token", TextRule::token}, {"block", TextRule::block}});
  return type;
}

SPECLAB_RESULT(SamplingRow, "row", temperature, top_k, top_p, draft, draft_temperature, rule, acceptance,
               tokens_per_target_step);
SPECLAB_RESULT(SamplingPlan, "sampling", source, exact, gamma, confidence, rows, warnings);

namespace {

constexpr std::size_t contexts_at_once = 16;

/// Calls see(context, target's row, draft's row after the adjustment `how`) for each context.
template <class See>
void for_each_context(const SampledRows& rows, const Adjustment& how, const See& see) {
  for_each_index((rows.contexts() + contexts_at_once - 1) / contexts_at_once, [&](std::size_t block) {
    end_if_stopped();
    std::vector<double> draft;
    std::vector<Token> order;
    const auto vocab = static_cast<std::int32_t>(rows.vocab);
    const std::size_t end = std::min(rows.contexts(), (block + 1) * contexts_at_once);
    for (std::size_t i = block * contexts_at_once; i < end; ++i) {
      const auto row = rows.draft.begin() + static_cast<std::ptrdiff_t>(i * rows.vocab);
      draft.assign(row, row + vocab);
      adjust(draft, how, order);
      see(i, Row{rows.target.data() + i * rows.vocab, vocab}, Row{draft.data(), vocab});
    }
  });
}

double overlap_of(const SampledRows& rows, const Adjustment& how) {
  std::vector<double> each(rows.contexts());
  for_each_context(rows, how, [&](std::size_t i, Row target, Row draft) {
    each[i] = rows.share[i] * first_acceptance(TextRule::token, target, draft);
  });
  double sum = 0;
  for (const double one : each) sum += one;
  return sum;
}

/// Returns the mean of one value per context. Sequences are independent.
Interval mean_of(const SampledRows& rows, const std::vector<double>& values, double confidence) {
  if (rows.sequence.empty()) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += rows.share[i] * values[i];
    return {sum, sum, sum};
  }
  std::vector<double> sums;
  std::vector<double> counts;
  std::size_t i = 0;
  for (const std::size_t end : rows.sequence) {
    counts.push_back(static_cast<double>(end - i));
    double sum = 0;
    for (; i < end; ++i) sum += values[i];
    sums.push_back(sum);
  }
  Interval found = *ratio_interval(sums, counts, confidence);
  if (found.bounded()) {
    found.low = std::clamp(found.low, 0.0, found.estimate);
    found.high = std::clamp(found.high, found.estimate, 1.0);
  }
  return found;
}

struct DraftSetting {
  DraftSampling kind;
  Adjustment how;
};

std::vector<DraftSetting> drafts_of(const SampledRows& rows, const Adjustment& target,
                                    const SamplingQuestion& question, std::vector<std::string>& warnings) {
  const auto at = [&](double temperature) {
    Adjustment how = target;
    how.temperature = temperature;
    return how;
  };
  const bool filtered = target.top_k > 0 || target.top_p < 1;
  std::vector<DraftSetting> drafts{{DraftSampling::argmax, {.temperature = 0}}};
  // At temperature 0 the target takes the argmax, and filters change nothing.
  if (target.temperature > 0) {
    drafts.push_back({DraftSampling::as_target, target});
    if (filtered) drafts.push_back({DraftSampling::unfiltered, {.temperature = target.temperature}});
  }
  for (const double temperature : question.draft_temperatures)
    drafts.push_back({DraftSampling::temperature, at(temperature)});
  const DraftTemperature best =
      best_draft_temperature([&](double temperature) { return overlap_of(rows, at(temperature)); });
  if (best.at_limit) {
    warnings.push_back(fmt::format(
        "At the target's temperature {:g} the best temperature of the draft is {:g}, the largest that was tried: a hotter draft may be accepted even more often.",
        target.temperature, best.temperature));
  }
  drafts.push_back({DraftSampling::best, at(best.temperature)});
  return drafts;
}

void add_rows(SamplingPlan& plan, const SampledRows& rows, const Adjustment& target,
              const DraftSetting& draft) {
  std::vector<double> drafted(rows.draft.size());
  std::vector<double> matched(rows.contexts());
  std::vector<double> overlaps(rows.contexts());
  for_each_context(rows, draft.how, [&](std::size_t i, Row p, Row q) {
    std::copy_n(q.probabilities, rows.vocab, drafted.begin() + static_cast<std::ptrdiff_t>(i * rows.vocab));
    matched[i] = first_acceptance(TextRule::match, p, q);
    overlaps[i] = first_acceptance(TextRule::token, p, q);
  });
  for (const TextRule rule : {TextRule::match, TextRule::token, TextRule::block}) {
    plan.rows.push_back(
        {.temperature = target.temperature,
         .top_k = target.top_k,
         .top_p = target.top_p,
         .draft = draft.kind,
         .draft_temperature = draft.how.temperature,
         .rule = rule,
         .acceptance = mean_of(rows, rule == TextRule::match ? matched : overlaps, plan.confidence),
         .tokens_per_target_step =
             rows.tokens ? rows.tokens(rule, drafted, plan.gamma, plan.confidence) : std::nullopt});
  }
}

}  // namespace

std::optional<SamplingPlan> plan_sampling(const SamplingSource& source, const SamplingQuestion& question,
                                          const Control& control) {
  SamplingPlan plan{.source = source.what,
                    .exact = source.exact,
                    .gamma = question.gamma,
                    .confidence = question.confidence};
  const StopScope stop(&control.stop);
  try {
    for (const double temperature : question.temperatures) {
      for (const std::int32_t top_k : question.top_k) {
        for (const double top_p : question.top_p) {
          const Adjustment target{temperature, top_k, top_p};
          const std::optional<SampledRows> rows = source.rows(target, control);
          if (!rows) return std::nullopt;
          for (const DraftSetting& draft : drafts_of(*rows, target, question, plan.warnings))
            add_rows(plan, *rows, target, draft);
        }
      }
    }
  } catch (const Stopped&) {
    return std::nullopt;
  }
  return plan;
}

}  // namespace speclab
