#include "kernels/lab/made_overlap.hpp"

#include <cmath>
#include <limits>

#include "analysis/statistics/intervals.hpp"
#include "core/distribution/divergence.hpp"
#include "core/distribution/transforms.hpp"

namespace speclab {

namespace {

/// Returns the number of rows from which the noise is chosen; peaked rows differ more from one another.
/// Overlaps are measured on the rows after them.
std::int64_t tuned_rows(const MadeLogits& how) { return how.spread > MadeLogits{}.spread ? 8 : 2; }
constexpr std::int64_t judged_rows = 4;

Row row_of(const std::vector<double>& probability) {
  return {probability.data(), static_cast<std::int32_t>(probability.size())};
}

}  // namespace

float rounded(float value, Dtype dtype) {
  with_logit_type(dtype, [&](auto type) { value = to_float(from_float<decltype(type)>(value)); });
  return value;
}

double log_sum_exp(const std::vector<double>& logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::log(sum);
}

MadeRows made_rows(const MadeLogits& how, std::int64_t row, std::int32_t vocab, Dtype dtype,
                   const Filters& filters) {
  const auto size = static_cast<std::size_t>(vocab);
  MadeRows rows{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                std::vector<double>(size)};
  for (std::size_t id = 0; id < size; ++id) {
    const MadeLogit made = made_logit(how, row, static_cast<std::int32_t>(id));
    rows.target_logits[id] = static_cast<double>(rounded(made.target, dtype));
    rows.draft_logits[id] = static_cast<double>(rounded(made.draft, dtype));
  }
  std::vector<double> kept = rows.target_logits;
  if (filters != Filters{}) {
    const double least = kept_logits(kept, 1, filters).least;
    for (double& logit : kept) {
      if (logit < least) logit = -std::numeric_limits<double>::infinity();
    }
  }
  softmax(kept, 1, rows.target);
  softmax(rows.draft_logits, 1, rows.draft);
  return rows;
}

float noise_for_overlap(MadeLogits how, std::int32_t vocab, double alpha, const Filters& filters) {
  // With a noise of 1 the draft's logits minus the target's are the noise itself.
  how.noise = 1;
  std::vector<MadeRows> rows;
  for (std::int64_t row = 0; row < tuned_rows(how); ++row)
    rows.push_back(made_rows(how, row, vocab, Dtype::f32, filters));
  std::vector<double> logits(static_cast<std::size_t>(vocab));
  std::vector<double> draft(logits.size());
  const auto mean_overlap = [&](double noise) {
    double sum = 0;
    for (const MadeRows& pair : rows) {
      for (std::size_t id = 0; id < logits.size(); ++id)
        logits[id] = pair.target_logits[id] + noise * (pair.draft_logits[id] - pair.target_logits[id]);
      softmax(logits, 1, draft);
      sum += overlap(row_of(pair.target), row_of(draft));
    }
    return sum / static_cast<double>(rows.size());
  };
  const auto [low, high] = halved(0, 16.0 / 3 * static_cast<double>(how.spread), 20,
                                  [&](double noise) { return mean_overlap(noise) > alpha; });
  return static_cast<float>((low + high) / 2);
}

double made_overlap(const MadeLogits& how, std::int32_t vocab, Dtype dtype, const Filters& filters) {
  double sum = 0;
  const std::int64_t first = tuned_rows(how);
  for (std::int64_t row = first; row < first + judged_rows; ++row) {
    const MadeRows rows = made_rows(how, row, vocab, dtype, filters);
    sum += overlap(row_of(rows.target), row_of(rows.draft));
  }
  return sum / static_cast<double>(judged_rows);
}

}  // namespace speclab
