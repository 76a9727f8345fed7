#include "kernels/verify/reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/round/verify.hpp"
#include "core/rules/block.hpp"
#include "kernels/verify/sigmoid_distribution.hpp"

namespace speclab {

namespace {

/// Uniforms of a request, and how close a decision was.
class MarginRandomSource {
 public:
  MarginRandomSource(const VerifyBatch& batch, std::int64_t request) : batch_(batch), request_(request) {}

  bool bernoulli(Draw draw, double probability) {
    const double u = uniform_of(batch_, request_, draw);
    // Probabilities 0 and 1 are so for every kernel. Block verification's can be above 1 by a rounding.
    if (probability > 0 && probability != 1) margin = std::min(margin, std::abs(u - probability));
    return u < probability;
  }

  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    const double u = uniform_of(batch_, request_, draw);
    const Token id = inverse_cdf(weights, u);
    if (id < 0) return id;
    double below = 0;
    for (Token other = 0; other < id; ++other) below += weights[other];
    const double goal = u * total_probability(weights);
    // Nothing lies beyond the first and the last id of positive probability.
    const double above = total_probability(weights) - below - weights[id];
    if (below > 0) margin = std::min(margin, std::abs(goal - below));
    if (above > 0) margin = std::min(margin, std::abs(below + weights[id] - goal));
    return id;
  }

  double margin = 1;

 private:
  const VerifyBatch& batch_;
  std::int64_t request_;
};

/// The numbers of a row as they are, of its own ids.
std::vector<double> numbers_of(const VerifyBatch& batch, bool of_target, std::int64_t request,
                               std::int32_t position) {
  const LogitRows& rows = batch.rows(of_target);
  std::vector<double> numbers;
  with_logit_type(rows.dtype, [&](auto logit) {
    const auto* const row = row_of<decltype(logit)>(rows, request, position);
    for (Token id = 0; id < batch.vocab_of(of_target); ++id) {
      numbers.push_back(static_cast<double>(to_float(row[id])));
    }
  });
  return numbers;
}

struct Filters {
  double top_k, top_p, min_p;
};

/// The least logit that top-k, then top-p, then min-p keep.
double cutoff_of(const std::vector<double>& row, double temperature, const Filters& filters) {
  std::vector<double> logits = row;
  std::sort(logits.begin(), logits.end(), std::greater<>());
  const double largest = logits.front();
  const auto weight = [&](double logit) { return std::exp((logit - largest) / temperature); };
  double least = -std::numeric_limits<double>::infinity();
  if (filters.top_k > 0 && filters.top_k < static_cast<double>(logits.size())) {
    least = logits[static_cast<std::size_t>(filters.top_k) - 1];
  }
  if (filters.top_p < 1) {
    double total = 0;
    for (const double logit : logits) total += logit < least ? 0 : weight(logit);
    double sum = 0;
    for (const double logit : logits) {
      sum += weight(logit);
      if (sum < filters.top_p * total) continue;
      least = std::max(least, logit);
      break;
    }
  }
  if (filters.min_p > 0) {
    least = std::max(
        least, static_cast<double>(static_cast<float>(largest + std::log(filters.min_p) * temperature)));
  }
  return least;
}

/// A row of the draft's ids by the target's.
std::vector<double> by_target_ids(const VerifyBatch& batch, const std::vector<double>& row) {
  std::vector<double> placed(static_cast<std::size_t>(batch.vocab));
  for (Token id = 0; id < batch.vocab; ++id) {
    const Token at = batch.draft_place == nullptr ? id : batch.draft_place[id];
    if (at >= 0 && at < batch.vocab_of(false)) {
      placed[static_cast<std::size_t>(id)] = row[static_cast<std::size_t>(at)];
    }
  }
  return placed;
}

}  // namespace

std::vector<double> probabilities(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                  std::int32_t position) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto of_target_ids = [&](std::vector<double> row) {
    return of_target ? row : by_target_ids(batch, row);
  };
  std::vector<double> row = numbers_of(batch, of_target, request, position);
  if (batch.rows(of_target).kind == RowKind::probabilities) return of_target_ids(std::move(row));

  const RowOptions& options = batch.options(of_target);
  const auto option = [&](const View<const float>& view, double otherwise) {
    return view == nullptr ? otherwise
                           : static_cast<double>(*batch.entry(view, of_target, request, position));
  };
  const double temperature = option(options.temperature, 1);
  const double cutoff = option(options.cutoff, -infinity);
  const std::uint32_t* const mask =
      of_target && batch.mask != nullptr ? batch.mask.at(request, position, batch.gamma + 1) : nullptr;

  const auto filter = [&](const auto& view, double otherwise) {
    return !of_target || view == nullptr ? otherwise
                                         : static_cast<double>(*view.at(request, position, batch.gamma + 1));
  };
  double largest = -infinity;
  bool invalid = !(temperature >= 0);
  for (std::size_t id = 0; id < row.size(); ++id) {
    double& logit = row[id];
    if (mask != nullptr && (mask[id / 32] >> (id % 32) & 1U) == 0) logit = -infinity;
    invalid = invalid || std::isnan(logit) || logit == infinity;
    if (logit < cutoff) logit = -infinity;
    largest = std::max(largest, logit);
  }
  if (invalid || largest == -infinity) {
    row.assign(static_cast<std::size_t>(batch.vocab), nan);
    return row;
  }
  if (temperature > 0) {
    const Filters filters{filter(batch.top_k, 0), filter(batch.top_p, 1), filter(batch.min_p, 0)};
    const double least = cutoff_of(row, temperature, filters);
    for (double& logit : row) logit = logit < least ? -infinity : logit;
  }
  const bool lowest = temperature == 0 && batch.ties == Ties::lowest;
  double sum = 0;
  for (double& value : row) {
    if (temperature == 0) {
      value = value == largest && !(lowest && sum > 0) ? 1 : 0;
    } else {
      value = std::exp((value - largest) / temperature);
    }
    sum += value;
  }
  const double total =
      options.log_sum_exp == nullptr ? sum : std::exp(option(options.log_sum_exp, 0) - largest / temperature);
  for (double& value : row) value /= total;
  return of_target_ids(std::move(row));
}

TokenLogs token_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position, Token token) {
  const std::vector<double> row = probabilities(batch, true, request, position);
  const bool inside = token >= 0 && token < batch.vocab;
  const double log_probability = std::log(inside ? row[static_cast<std::size_t>(token)] : 0);
  if (batch.target.kind == RowKind::probabilities) return {log_probability, 0};
  // The sum from the id of the largest probability, which has a logit.
  const auto likeliest = std::max_element(row.begin(), row.end());
  const double logit =
      numbers_of(batch, true, request, position)[static_cast<std::size_t>(likeliest - row.begin())];
  const View<const float>& given = batch.target_options.temperature;
  const double temperature =
      given == nullptr ? 1 : static_cast<double>(*batch.entry(given, true, request, position));
  return {log_probability, temperature == 0 ? logit : logit / temperature - std::log(*likeliest)};
}

namespace {

using ProbabilityRow = std::vector<double>;

/// Verdicts by core's programs, where `row_at(of_target, request, position)` gives the probabilities that
/// they work on and `run(targets, drafts, drafted, length, random)` is the program.
template <class RowAt, class Run>
std::vector<ReferenceVerdict> verdicts_of(const VerifyBatch& batch, const RowAt& row_at, const Run& run) {
  std::vector<ReferenceVerdict> verdicts(static_cast<std::size_t>(batch.requests));
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    const std::int32_t length = batch.length(request);
    if (length < 0 || length > batch.gamma) continue;
    std::vector<ProbabilityRow> target_rows(static_cast<std::size_t>(length) + 1);
    std::vector<ProbabilityRow> draft_rows(static_cast<std::size_t>(length));
    // A drafted id outside the vocabulary counts as one of probability 0: one more id, of probability 0, is.
    std::vector<Token> drafted(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < drafted.size(); ++i) {
      drafted[i] = batch.drafted_token(request, static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i <= static_cast<std::size_t>(length); ++i) {
      const auto position = static_cast<std::int32_t>(i);
      if (position == length && batch.bonus != nullptr) {
        // A row that is not there: any with one id.
        target_rows[i].assign(static_cast<std::size_t>(batch.vocab), 0);
        target_rows[i][0] = 1;
      } else {
        target_rows[i] = row_at(true, request, position);
      }
      target_rows[i].push_back(0);
      if (position == length) break;
      const bool outside = drafted[i] < 0 || drafted[i] >= batch.vocab;
      if (batch.certain_drafts()) {
        draft_rows[i].assign(static_cast<std::size_t>(batch.vocab), 0);
        if (!outside) draft_rows[i][static_cast<std::size_t>(drafted[i])] = 1;
      } else {
        draft_rows[i] = row_at(false, request, position);
      }
      draft_rows[i].push_back(0);
      if (outside) drafted[i] = batch.vocab;
    }
    const auto row = [&](const ProbabilityRow& probability) {
      return Row{probability.data(), batch.vocab + 1};
    };
    const auto targets = [&](std::int32_t i) { return row(target_rows[static_cast<std::size_t>(i)]); };
    const auto drafts = [&](std::int32_t i) { return row(draft_rows[static_cast<std::size_t>(i)]); };

    MarginRandomSource random(batch, request);
    const Verdict verdict = run(targets, drafts, drafted.data(), length, random);
    const bool bonus = verdict.accepted == length && batch.bonus != nullptr;
    verdicts[static_cast<std::size_t>(request)] = {
        verdict.accepted, bonus ? batch.bonus[request] : verdict.next, random.margin};
  }
  return verdicts;
}

}  // namespace

std::vector<ReferenceVerdict> verify_reference(const VerifyBatch& batch) {
  const auto row_at = [&](bool of_target, std::int64_t request, std::int32_t position) {
    return probabilities(batch, of_target, request, position);
  };
  return verdicts_of(batch, row_at, [&](auto&&... round) {
    if (batch.rule.method == KernelRule::block) return verify(BlockRule{}, round...);
    if (batch.rule.method == KernelRule::token) return verify(TokenRule{}, round...);
    return verify(LenienceRule(batch.rule.lenience, batch.rule.residual), round...);
  });
}

std::vector<ReferenceVerdict> verify_sigmoid_reference(const VerifyBatch& batch) {
  const auto row_at = [&](bool of_target, std::int64_t request, std::int32_t position) {
    return sigmoid_weights(numbers_of(batch, of_target, request, position), batch.rule.sigmoid_alpha,
                           batch.rule.sigmoid_beta);
  };
  return verdicts_of(batch, row_at, [](auto&&... round) { return verify(TokenRule{}, round...); });
}

}  // namespace speclab
