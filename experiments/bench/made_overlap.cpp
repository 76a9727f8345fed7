#include "speclab/experiments/bench/made_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "speclab/core/divergence.hpp"
#include "speclab/core/transforms.hpp"

namespace speclab {

namespace {

constexpr std::int64_t tuned_rows = 2;
constexpr std::int64_t judged_rows = 4;

Row row_of(const std::vector<double>& mass) { return {mass.data(), static_cast<std::int32_t>(mass.size())}; }

}  // namespace

float rounded(float value, Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return to_float(from_float<Bf16>(value));
    case Dtype::f16:
      return to_float(from_float<F16>(value));
    case Dtype::f32:
      break;
  }
  return value;
}

MadeRows made_rows(const MadeLogits& how, std::int64_t row, std::int32_t vocab, Dtype dtype) {
  const auto size = static_cast<std::size_t>(vocab);
  MadeRows rows{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                std::vector<double>(size)};
  for (std::size_t id = 0; id < size; ++id) {
    const MadeLogit made = made_logit(how, row, static_cast<std::int32_t>(id));
    rows.target_logits[id] = static_cast<double>(rounded(made.target, dtype));
    rows.draft_logits[id] = static_cast<double>(rounded(made.draft, dtype));
  }
  softmax(rows.target_logits, 1, rows.target);
  softmax(rows.draft_logits, 1, rows.draft);
  return rows;
}

float noise_for_overlap(MadeLogits how, std::int32_t vocab, double alpha) {
  // With a noise of 1 the draft's logits less the target's are the noise itself.
  how.noise = 1;
  std::vector<MadeRows> rows;
  for (std::int64_t row = 0; row < tuned_rows; ++row) rows.push_back(made_rows(how, row, vocab, Dtype::f32));
  std::vector<double> logits(static_cast<std::size_t>(vocab));
  std::vector<double> draft(logits.size());
  const auto mean_overlap = [&](double noise) {
    double sum = 0;
    for (const MadeRows& pair : rows) {
      for (std::size_t id = 0; id < logits.size(); ++id) {
        logits[id] = pair.target_logits[id] + noise * (pair.draft_logits[id] - pair.target_logits[id]);
      }
      softmax(logits, 1, draft);
      sum += overlap(row_of(pair.target), row_of(draft));
    }
    return sum / static_cast<double>(rows.size());
  };
  double low = 0;
  double high = 16;
  for (int step = 0; step < 20; ++step) {
    const double middle = (low + high) / 2;
    (mean_overlap(middle) > alpha ? low : high) = middle;
  }
  return static_cast<float>((low + high) / 2);
}

double sigmoid_distance(const MadeRows& rows, const VerifyRule& rule) {
  const std::size_t size = rows.target.size();
  const auto sigmoid = [&](double logit) {
    return 1 / (1 + std::exp(-(logit - rule.sigmoid_alpha) / (rule.sigmoid_beta - rule.sigmoid_alpha)));
  };
  std::vector<double> residual(size);
  std::vector<double> output(size);
  double rejected = 0;
  for (std::size_t id = 0; id < size; ++id) {
    const double target = sigmoid(rows.target_logits[id]);
    const double draft = sigmoid(rows.draft_logits[id]);
    output[id] = rows.draft[id] * std::min(1.0, target / draft);
    rejected += rows.draft[id] - output[id];
    residual[id] = std::max(0.0, target - draft);
  }
  const double total = std::accumulate(residual.begin(), residual.end(), 0.0);
  for (std::size_t id = 0; id < size; ++id) {
    output[id] += rejected * (total > 0 ? residual[id] / total : rows.target[id]);
  }
  return total_variation(row_of(output), row_of(rows.target));
}

MadeLaws made_laws(const MadeLogits& how, std::int32_t vocab, Dtype dtype, const VerifyRule& rule) {
  MadeLaws laws;
  for (std::int64_t row = tuned_rows; row < tuned_rows + judged_rows; ++row) {
    const MadeRows rows = made_rows(how, row, vocab, dtype);
    laws.overlap += overlap(row_of(rows.target), row_of(rows.draft)) / static_cast<double>(judged_rows);
    laws.sigmoid_distance += sigmoid_distance(rows, rule) / static_cast<double>(judged_rows);
  }
  return laws;
}

std::optional<double> output_distance(const ImplementationInfo& info, const MadeLaws& laws) {
  if (info.exact) return std::nullopt;
  return laws.sigmoid_distance;
}

}  // namespace speclab
