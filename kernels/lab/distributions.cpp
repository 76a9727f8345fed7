#include "kernels/lab/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "core/distribution/divergence.hpp"
#include "core/distribution/transforms.hpp"
#include "core/rules/block.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/sigmoid.hpp"
#include "core/rules/token.hpp"
#include "kernels/lab/made_overlap.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Logits and probabilities of every row of a model. Row x follows token x.
struct MadeModel {
  std::vector<std::vector<float>> logits;
  ExactTable<double> table;
};

struct Tables {
  MadeModel target;
  MadeModel draft;
};

/// Makes a model whose logits are logarithms of probabilities, so that the sigmoid rule's choice of logits
/// (core/rules/sigmoid.hpp) is the same as a kernel's that takes logits as they are.
MadeModel make_model(const DistributionCase& distribution, float MadeLogit::*side) {
  const MadeLogits how{distribution.seed, 1.5F, 1};
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<double>> probabilities;
  for (Token row = 0; row < distribution.vocab; ++row) {
    std::vector<double> logits;
    for (Token id = 0; id < distribution.vocab; ++id)
      logits.push_back(static_cast<double>(made_logit(how, row, id).*side));
    const double log_sum = log_sum_exp(logits);
    std::vector<float>& kept = rows.emplace_back();
    for (const double logit : logits)
      kept.push_back(rounded(static_cast<float>(logit - log_sum), distribution.dtype));
    logits.assign(kept.begin(), kept.end());
    softmax(logits, 1, probabilities.emplace_back(logits.size()));
  }
  return {std::move(rows), ExactTable<double>(std::move(probabilities))};
}

struct Sample {
  std::vector<std::int32_t> accepted;  ///< -1: a result without a token
  /// gamma + 1 tokens per request: the emitted ones, then tokens sampled from the target alone.
  std::vector<Token> tokens;
};

/// Fills in the rows and drafted tokens of every request; each row depends on the drafted token before it.
void fill(RequestBatch& host, const DistributionCase& distribution, const Tables& tables,
          std::uint32_t first_trial) {
  std::vector<double> scratch;
  for (std::int32_t request = 0; request < host.batch.requests; ++request) {
    SampledRandomSource random =
        sampled_random_source(distribution.seed, first_trial + static_cast<std::uint32_t>(request), 0);
    Token before = 0;
    for (std::int32_t i = 0; i <= distribution.gamma; ++i) {
      const auto row = static_cast<std::size_t>(before);
      for (Token id = 0; id < distribution.vocab; ++id) {
        const auto at = static_cast<std::size_t>(id);
        host.set(true, request, i, id, tables.target.logits[row][at]);
        if (i < distribution.gamma) host.set(false, request, i, id, tables.draft.logits[row][at]);
      }
      if (i == distribution.gamma) break;
      const Token context[] = {before};
      before = random.categorical({Use::draft, static_cast<std::uint16_t>(i)},
                                  tables.draft.table.next(context, scratch));
      host.drafted(request, i) = before;
    }
  }
}

/// Writes the tokens of a round with drafted tokens `drafted`, followed by tokens sampled from the target
/// alone, gamma + 1 in all. Returns the number accepted, or -1 for a result without a token.
std::int32_t keep(const DistributionCase& distribution, const Tables& tables, std::uint32_t trial,
                  const Token* drafted, const RequestResult& result, Token* tokens) {
  if (result.accepted < 0 || result.accepted > distribution.gamma || result.next < 0 ||
      result.next >= distribution.vocab) {
    return -1;
  }
  std::copy_n(drafted, result.accepted, tokens);
  tokens[result.accepted] = result.next;
  SampledRandomSource random = sampled_random_source(distribution.seed, trial, 0);
  std::vector<double> scratch;
  for (std::int32_t i = result.accepted + 1; i <= distribution.gamma; ++i) {
    const Token context[] = {tokens[i - 1]};
    tokens[i] = random.categorical({Use::plain, static_cast<std::uint16_t>(i)},
                                   tables.target.table.next(context, scratch));
  }
  return result.accepted;
}

Sample draw(const DistributionCase& distribution, const Tables& tables, const BatchRunner& runner,
            Implementation implementation, std::uint64_t requests, std::int32_t requests_a_batch) {
  const auto length = static_cast<std::size_t>(distribution.gamma) + 1;
  const auto size = static_cast<std::uint64_t>(requests_a_batch);
  Sample sample{std::vector<std::int32_t>(requests), std::vector<Token>(requests * length)};
  for_each_index((requests + size - 1) / size, [&](std::size_t batch) {
    const std::uint64_t first = batch * size;
    const auto count = static_cast<std::int32_t>(std::min(size, requests - first));
    RequestBatch host({count, distribution.gamma, distribution.vocab, distribution.dtype}, distribution.seed,
                      static_cast<std::uint32_t>(first));
    host.batch.rule = distribution.rule;
    fill(host, distribution, tables, static_cast<std::uint32_t>(first));
    const auto results = host.run(runner, implementation);
    for (std::size_t request = 0; request < results.size(); ++request) {
      const std::uint64_t at = first + request;
      sample.accepted[at] = keep(distribution, tables, static_cast<std::uint32_t>(at),
                                 host.batch.drafted.data + request * (length - 1), results[request],
                                 sample.tokens.data() + at * length);
    }
  });
  return sample;
}

FitTest accepted_test(const Sample& sample, const RoundDistribution<double>& round) {
  std::vector<std::uint64_t> counts(round.accepted.size(), 0);
  for (const std::int32_t accepted : sample.accepted) ++counts[static_cast<std::size_t>(accepted)];
  return fit_test(counts, round.accepted, minimum_expectation_for_power);
}

FitTest emitted_test(const Sample& sample, std::size_t length, const RoundDistribution<double>& round) {
  std::map<std::vector<Token>, std::size_t> cell_of;
  std::vector<double> probabilities;
  for (const auto& [tokens, probability] : round.emitted) {
    cell_of.emplace(tokens, probabilities.size());
    probabilities.push_back(probability);
  }
  probabilities.push_back(0);  // sequences that the rule cannot emit
  std::vector<std::uint64_t> counts(probabilities.size(), 0);
  for (std::size_t i = 0; i < sample.accepted.size(); ++i) {
    const auto start = sample.tokens.begin() + static_cast<std::ptrdiff_t>(i * length);
    const auto found = cell_of.find({start, start + sample.accepted[i] + 1});
    ++counts[found == cell_of.end() ? probabilities.size() - 1 : found->second];
  }
  return fit_test(counts, probabilities, minimum_expectation_for_power);
}

/// Returns the two-sided p-value of the first token's acceptance, by the normal distribution.
double accepted_p(const Sample& sample, double rate) {
  double first_accepted = 0;
  for (const std::int32_t accepted : sample.accepted) first_accepted += accepted > 0 ? 1 : 0;
  const auto n = static_cast<double>(sample.accepted.size());
  return std::erfc(std::abs(first_accepted - n * rate) / std::sqrt(2 * n * rate * (1 - rate)));
}

}  // namespace

double DistributionTests::least() const {
  double least = 1;
  for (const auto& [name, p] : p_values) least = std::min(least, p);
  return least;
}

bool keeps_distribution(KernelRule method) { return method != KernelRule::lenient; }

DistributionTests test_distribution(const DistributionCase& distribution, const BatchRunner& runner,
                                    Implementation implementation, bool exact, std::uint64_t requests,
                                    std::int32_t requests_a_batch) {
  const Tables tables{make_model(distribution, &MadeLogit::target),
                      make_model(distribution, &MadeLogit::draft)};
  const std::vector<Token> context{0};
  const auto length = static_cast<std::size_t>(distribution.gamma) + 1;
  const Sample sample = draw(distribution, tables, runner, implementation, requests, requests_a_batch);

  DistributionTests tests;
  const auto add = [&](std::string name, double p) { tests.p_values.emplace_back(std::move(name), p); };
  tests.valid = std::count(sample.accepted.begin(), sample.accepted.end(), -1) == 0;
  if (!tests.valid) {
    add("results without a token", 0);
    return tests;
  }
  if (keeps_distribution(distribution.rule.method)) {
    const SequenceDistribution<double> plain =
        plain_distribution<double>(tables.target.table, context, length);
    const SequenceTests sequences = ExactSequenceTests(plain, distribution.vocab, length).test(sample.tokens);
    add("tokens jointly, Pearson", sequences.joint.pearson_p);
    add("tokens jointly, G", sequences.joint.g_p);
    if (sequences.joint.tails > 0) add("rare token sequences", sequences.joint.tail_p);
    for (std::size_t i = 0; i < sequences.positions.size(); ++i) {
      add("token " + std::to_string(i + 1) + (i == 0 ? "" : " given those before"),
          sequences.positions[i].sum.p());
    }
  }
  std::vector<double> scratch;
  const Row target = tables.target.table.next(context, scratch);
  const Row draft = tables.draft.table.next(context, scratch);
  if (!exact) {
    const SigmoidRule rule(distribution.rule.sigmoid_alpha, distribution.rule.sigmoid_beta);
    tests.total_variation = examine<double>(tables.target.table, tables.draft.table, rule, distribution.gamma,
                                            std::span<const Token>(context))
                                .distance;
    add("first token accepted", accepted_p(sample, overlap(target, draft)));
    return tests;
  }
  const auto against_round = [&](const auto& rule, double rate) {
    const RoundDistribution<double> round = round_distribution<double>(
        tables.target.table, tables.draft.table, rule, distribution.gamma, context);
    add("emitted tokens", emitted_test(sample, length, round).p());
    add("accepted length", accepted_test(sample, round).p());
    add("first token accepted", accepted_p(sample, rate < 0 ? 1 - round.accepted.front() : rate));
  };
  constexpr double of_the_round = -1;
  switch (distribution.rule.method) {
    case KernelRule::token:
      against_round(TokenRule{}, overlap(target, draft));
      break;
    case KernelRule::lenient:
      against_round(LenienceRule(distribution.rule.lenience, distribution.rule.residual),
                    lenient_overlap(target, draft, distribution.rule.lenience));
      break;
    case KernelRule::block:
      against_round(BlockRule{}, of_the_round);
      break;
  }
  return tests;
}

}  // namespace speclab
