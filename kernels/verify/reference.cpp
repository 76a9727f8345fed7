#include "kernels/verify/reference.hpp"

#include <algorithm>
#include <cmath>

#include "core/round/verify.hpp"
#include "core/rules/block.hpp"
#include "core/rules/token.hpp"
#include "kernels/verify/filters.hpp"
#include "kernels/verify/margin_random_source.hpp"

namespace speclab {

namespace {

/// Returns the numbers of a row unchanged, by the row's own ids.
std::vector<double> numbers_of(const VerifyBatch& batch, bool of_target, std::int64_t request,
                               std::int32_t position) {
  const LogitRows& rows = batch.rows(of_target);
  std::vector<double> numbers;
  with_logit_type(rows.dtype, [&](auto logit) {
    const auto* const row = row_of<decltype(logit)>(rows, request, position);
    for (Token id = 0; id < batch.vocab_of(of_target); ++id)
      numbers.push_back(static_cast<double>(to_float(row[id])));
  });
  return numbers;
}

/// Reorders a draft row from the draft's ids to the target's.
std::vector<double> by_target_ids(const VerifyBatch& batch, const std::vector<double>& row) {
  std::vector<double> placed(static_cast<std::size_t>(batch.vocab));
  for (Token id = 0; id < batch.vocab; ++id) {
    const Token at = batch.draft_place == nullptr ? id : batch.draft_place[id];
    if (at >= 0 && at < batch.vocab_of(false))
      placed[static_cast<std::size_t>(id)] = row[static_cast<std::size_t>(at)];
  }
  return placed;
}

/// A row of logits after its options; ids that they forbid have minus infinity.
struct AllowedLogits {
  std::vector<double> logits;
  double temperature = 1;
  double largest = -std::numeric_limits<double>::infinity();
  bool invalid = false;  ///< the row holds NaN, +inf or no id, or its options are invalid
  double margin = 1;     ///< see KeptLogits
};

AllowedLogits allowed_logits(const VerifyBatch& batch, bool of_target, std::int64_t request,
                             std::int32_t position) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const RowOptions& options = batch.options(of_target);
  const auto option = [&](const View<const float>& view, double otherwise) {
    return view == nullptr ? otherwise
                           : static_cast<double>(*batch.entry(view, of_target, request, position));
  };
  AllowedLogits row{numbers_of(batch, of_target, request, position), option(options.temperature, 1)};
  const double cutoff = option(options.cutoff, -infinity);
  const std::uint32_t* const mask =
      of_target && batch.mask != nullptr ? batch.mask.at(request, position, batch.gamma + 1) : nullptr;
  const Filters filters = of_target ? filters_of(batch, request, position) : Filters{};
  row.invalid = !(row.temperature >= 0 && row.temperature < infinity) || std::isnan(cutoff) ||
                !filters.valid() || (row.temperature == 0 && options.log_sum_exp != nullptr);
  for (std::size_t id = 0; id < row.logits.size(); ++id) {
    double& logit = row.logits[id];
    if (mask != nullptr && (mask[id / 32] >> (id % 32) & 1U) == 0) logit = -infinity;
    row.invalid = row.invalid || std::isnan(logit) || logit == infinity;
    if (logit < cutoff) logit = -infinity;
    row.largest = std::max(row.largest, logit);
  }
  row.invalid = row.invalid || row.largest == -infinity;
  if (row.invalid || row.temperature == 0 || !(of_target && batch.has_filters())) return row;
  const KeptLogits kept = kept_logits(row.logits, row.temperature, filters);
  row.margin = kept.margin;
  for (double& logit : row.logits) logit = logit < kept.least ? -infinity : logit;
  return row;
}

/// Returns the least distance from keeping other ids, over all rows that a verdict depends on.
double filter_margin(const VerifyBatch& batch, std::int64_t request, std::int32_t accepted) {
  const std::int32_t length = batch.length(request);
  if (!batch.has_filters() || length < 0 || length > batch.gamma) return 1;
  const std::int32_t last = batch.rule.method == KernelRule::block ? length : accepted;
  double margin = 1;
  for (std::int32_t i = 0; i <= last && (i < length || batch.bonus == nullptr); ++i)
    margin = std::min(margin, allowed_logits(batch, true, request, i).margin);
  return margin;
}

}  // namespace

std::vector<double> probabilities(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                  std::int32_t position) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto of_target_ids = [&](std::vector<double> row) {
    return of_target ? row : by_target_ids(batch, row);
  };
  if (batch.rows(of_target).kind == RowKind::probabilities) {
    std::vector<double> row = numbers_of(batch, of_target, request, position);
    for (double& value : row) value = value >= 0 && value < HUGE_VAL ? value : nan;
    return of_target_ids(std::move(row));
  }
  const AllowedLogits allowed = allowed_logits(batch, of_target, request, position);
  if (allowed.invalid) return std::vector<double>(static_cast<std::size_t>(batch.vocab), nan);
  std::vector<double> row = allowed.logits;
  const bool lowest = allowed.temperature == 0 && batch.ties == Ties::lowest;
  double sum = 0;
  for (double& value : row) {
    if (allowed.temperature == 0) {
      value = value == allowed.largest && !(lowest && sum > 0) ? 1 : 0;
    } else {
      value = std::exp((value - allowed.largest) / allowed.temperature);
    }
    sum += value;
  }
  const View<const float>& given = batch.options(of_target).log_sum_exp;
  const double total = given == nullptr
                           ? sum
                           : std::exp(static_cast<double>(*batch.entry(given, of_target, request, position)) -
                                      allowed.largest / allowed.temperature);
  for (double& value : row) value /= total;
  return of_target_ids(std::move(row));
}

TokenLogs token_logs(const VerifyBatch& batch, std::int64_t request, std::int32_t position, Token token) {
  const std::vector<double> row = probabilities(batch, true, request, position);
  const bool inside = token >= 0 && token < batch.vocab;
  const double log_probability = std::log(inside ? row[static_cast<std::size_t>(token)] : 0);
  if (batch.target.kind == RowKind::probabilities) return {log_probability, 0};
  // The sum is computed from the id of the largest probability, which has a logit.
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

/// Returns verdicts by core's programs. `row_at(of_target, request, position)` gives the probabilities they
/// work on, and `run(targets, drafts, drafted, length, random)` is the program.
template <class RowAt, class Run>
std::vector<ReferenceDecision> verdicts_of(const VerifyBatch& batch, const RowAt& row_at, const Run& run) {
  std::vector<ReferenceDecision> verdicts(static_cast<std::size_t>(batch.requests));
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    const std::int32_t length = batch.length(request);
    if (length < 0 || length > batch.gamma) continue;
    std::vector<ProbabilityRow> target_rows(static_cast<std::size_t>(length) + 1);
    std::vector<ProbabilityRow> draft_rows(static_cast<std::size_t>(length));
    // Rows get one more id, of probability 0, which stands for drafted ids outside the vocabulary.
    std::vector<Token> drafted(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < drafted.size(); ++i)
      drafted[i] = batch.drafted_token(request, static_cast<std::int32_t>(i));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(length); ++i) {
      const auto position = static_cast<std::int32_t>(i);
      if (position == length && batch.bonus != nullptr) {
        // The row does not exist; any row with all probability on one id will do.
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

    MarginRandomSource random([&](Draw draw) { return uniform_of(batch, request, draw); });
    const Verdict verdict = run(targets, drafts, drafted.data(), length, random);
    const bool bonus = verdict.accepted == length && batch.bonus != nullptr;
    // A row of sum 0 has no next token, either.
    const Token next = verdict.next < 0 ? invalid_token : verdict.next;
    verdicts[static_cast<std::size_t>(request)] = {verdict.accepted, bonus ? batch.bonus[request] : next,
                                                   random.margin};
  }
  return verdicts;
}

}  // namespace

std::vector<ReferenceDecision> verify_reference(const VerifyBatch& batch) {
  const auto row_at = [&](bool of_target, std::int64_t request, std::int32_t position) {
    return probabilities(batch, of_target, request, position);
  };
  auto verdicts = verdicts_of(batch, row_at, [&](auto&&... round) {
    if (batch.rule.method == KernelRule::block) return verify(BlockRule{}, round...);
    if (batch.rule.method == KernelRule::token) return verify(TokenRule{}, round...);
    return verify(LenienceRule(batch.rule.lenience, batch.rule.residual), round...);
  });
  for (std::size_t request = 0; request < verdicts.size(); ++request) {
    ReferenceDecision& verdict = verdicts[request];
    verdict.margin =
        std::min(verdict.margin, filter_margin(batch, static_cast<std::int64_t>(request), verdict.accepted));
  }
  return verdicts;
}

std::vector<double> sigmoid_weights(std::span<const double> logits, double alpha, double beta) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> weights;
  for (const double logit : logits) {
    weights.push_back(logit < infinity ? 1 / (1 + std::exp(-(logit - alpha) / (beta - alpha)))
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return weights;
}

std::vector<ReferenceDecision> verify_sigmoid_reference(const VerifyBatch& batch) {
  const auto row_at = [&](bool of_target, std::int64_t request, std::int32_t position) {
    return sigmoid_weights(numbers_of(batch, of_target, request, position), batch.rule.sigmoid_alpha,
                           batch.rule.sigmoid_beta);
  };
  return verdicts_of(batch, row_at, [](auto&&... round) { return verify(TokenRule{}, round...); });
}

}  // namespace speclab
