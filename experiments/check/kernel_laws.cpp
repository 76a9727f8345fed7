#include "experiments/check/kernel_laws.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "analysis/exact/losslessness.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "core/distribution/divergence.hpp"
#include "core/rules/block.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/sigmoid.hpp"
#include "experiments/bench/made_overlap.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// Logits and probabilities of every row; a row's number is the token before.
struct Tables {
  std::vector<std::vector<float>> target_logits;
  std::vector<std::vector<float>> draft_logits;
  std::unique_ptr<ExactTable<double>> target;
  std::unique_ptr<ExactTable<double>> draft;
};

/// Logarithms of probabilities, so that the sigmoid rule's choice of logits (core/rules/sigmoid.hpp) is that
/// of a kernel which takes logits as they are.
std::vector<float> normalised(const std::vector<double>& logits, Dtype dtype) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<float> row;
  row.reserve(logits.size());
  for (const double logit : logits) row.push_back(rounded(static_cast<float>(logit - std::log(sum)), dtype));
  return row;
}

std::vector<double> law_of(const std::vector<float>& logits) {
  std::vector<double> law;
  double sum = 0;
  for (const float logit : logits) {
    law.push_back(std::exp(static_cast<double>(logit)));
    sum += law.back();
  }
  for (double& mass : law) mass /= sum;
  return law;
}

Tables make_tables(const LawCase& law) {
  const MadeLogits how{law.seed, 1.5F, 1};
  Tables tables;
  std::vector<std::vector<double>> target;
  std::vector<std::vector<double>> draft;
  for (Token row = 0; row < law.vocab; ++row) {
    std::vector<double> target_row;
    std::vector<double> draft_row;
    for (Token id = 0; id < law.vocab; ++id) {
      const MadeLogit made = made_logit(how, row, id);
      target_row.push_back(static_cast<double>(made.target));
      draft_row.push_back(static_cast<double>(made.draft));
    }
    tables.target_logits.push_back(normalised(target_row, law.dtype));
    tables.draft_logits.push_back(normalised(draft_row, law.dtype));
    target.push_back(law_of(tables.target_logits.back()));
    draft.push_back(law_of(tables.draft_logits.back()));
  }
  tables.target = std::make_unique<ExactTable<double>>(target);
  tables.draft = std::make_unique<ExactTable<double>>(draft);
  return tables;
}

/// What all requests came to.
struct Sample {
  std::vector<std::int32_t> accepted;
  std::vector<Token> tokens;  ///< gamma + 1 a request; past what was emitted, plain decoding
  std::uint64_t damaged = 0;
};

class Sampler {
 public:
  Sampler(const LawCase& law, const Tables& tables, std::uint64_t requests) : law_(law), tables_(tables) {
    sample_.accepted.resize(requests);
    sample_.tokens.resize(requests * length());
  }

  void run(const BatchRunner& runner, Implementation implementation, std::uint64_t first,
           std::int32_t count) {
    const auto start = static_cast<std::uint32_t>(first);
    HostBatch host({count, law_.gamma, law_.vocab, law_.dtype}, law_.seed, start);
    host.batch.rule = law_.rule;
    std::vector<double> scratch;
    for (std::int32_t request = 0; request < count; ++request) {
      SampledChance chance = sampled_chance(law_.seed, start + static_cast<std::uint32_t>(request), 0);
      Token before = 0;
      for (std::int32_t i = 0; i <= law_.gamma; ++i) {
        const auto row = static_cast<std::size_t>(before);
        for (Token id = 0; id < law_.vocab; ++id) {
          const auto at = static_cast<std::size_t>(id);
          host.set_target(request, i, id, tables_.target_logits[row][at]);
          if (i < law_.gamma) host.set_draft(request, i, id, tables_.draft_logits[row][at]);
        }
        if (i == law_.gamma) break;
        const Token context[] = {before};
        before =
            chance.pick({Use::draft, static_cast<std::uint16_t>(i)}, tables_.draft->next(context, scratch));
        host.drafted(request, i) = before;
      }
    }
    const auto results = host.run(runner, implementation);
    for (std::int32_t request = 0; request < count; ++request) {
      keep(host, request, results[static_cast<std::size_t>(request)], first);
    }
  }

  Sample sample() && {
    sample_.damaged =
        static_cast<std::uint64_t>(std::count(sample_.accepted.begin(), sample_.accepted.end(), -1));
    return std::move(sample_);
  }

 private:
  std::size_t length() const { return static_cast<std::size_t>(law_.gamma) + 1; }

  void keep(HostBatch& host, std::int32_t request, const RequestResult& result, std::uint64_t first) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(request);
    const bool good =
        result.accepted >= 0 && result.accepted <= law_.gamma && result.next >= 0 && result.next < law_.vocab;
    sample_.accepted[at] = good ? result.accepted : -1;
    Token* const tokens = sample_.tokens.data() + at * length();
    if (!good) return;
    for (std::int32_t i = 0; i < result.accepted; ++i) tokens[i] = host.drafted(request, i);
    tokens[result.accepted] = result.next;
    SampledChance chance = sampled_chance(law_.seed, static_cast<std::uint32_t>(at), 0);
    std::vector<double> scratch;
    for (std::int32_t i = result.accepted + 1; i <= law_.gamma; ++i) {
      const Token context[] = {tokens[i - 1]};
      tokens[i] =
          chance.pick({Use::plain, static_cast<std::uint16_t>(i)}, tables_.target->next(context, scratch));
    }
  }

  LawCase law_;
  const Tables& tables_;
  Sample sample_;
};

Sample draw(const LawCase& law, const Tables& tables, const BatchRunner& runner,
            Implementation implementation, std::uint64_t requests, std::int32_t requests_a_batch) {
  Sampler sampler(law, tables, requests);
  const auto size = static_cast<std::uint64_t>(requests_a_batch);
  for_each_index((requests + size - 1) / size, [&](std::size_t batch) {
    const std::uint64_t first = batch * size;
    sampler.run(runner, implementation, first, static_cast<std::int32_t>(std::min(size, requests - first)));
  });
  return std::move(sampler).sample();
}

FitTest accepted_test(const Sample& sample, const RoundLaw<double>& round) {
  std::vector<std::uint64_t> counts(round.accepted.size(), 0);
  for (const std::int32_t accepted : sample.accepted) ++counts[static_cast<std::size_t>(accepted)];
  return fit_test(counts, round.accepted, minimum_expectation_for_power);
}

FitTest emitted_test(const Sample& sample, std::size_t length, const RoundLaw<double>& round) {
  std::map<std::vector<Token>, std::size_t> cell_of;
  std::vector<double> masses;
  for (const auto& [tokens, probability] : round.emitted) {
    cell_of.emplace(tokens, masses.size());
    masses.push_back(probability);
  }
  masses.push_back(0);  // what the rule cannot emit
  std::vector<std::uint64_t> counts(masses.size(), 0);
  for (std::size_t i = 0; i < sample.accepted.size(); ++i) {
    const auto start = sample.tokens.begin() + static_cast<std::ptrdiff_t>(i * length);
    const auto found = cell_of.find({start, start + sample.accepted[i] + 1});
    ++counts[found == cell_of.end() ? masses.size() - 1 : found->second];
  }
  return fit_test(counts, masses, minimum_expectation_for_power);
}

/// Two-sided, by the normal law.
double kept_p(const Sample& sample, double rate) {
  double kept = 0;
  for (const std::int32_t accepted : sample.accepted) kept += accepted > 0 ? 1 : 0;
  const auto n = static_cast<double>(sample.accepted.size());
  return std::erfc(std::abs(kept - n * rate) / std::sqrt(2 * n * rate * (1 - rate)));
}

}  // namespace

double LawTests::least() const {
  double least = 1;
  for (const auto& [name, p] : p_values) least = std::min(least, p);
  return least;
}

bool keeps_law(VerifyMethod method) { return method != VerifyMethod::lenient; }

LawTests test_law(const LawCase& law, const BatchRunner& runner, Implementation implementation, bool exact,
                  std::uint64_t requests, std::int32_t requests_a_batch) {
  const Tables tables = make_tables(law);
  const std::vector<Token> context{0};
  const auto length = static_cast<std::size_t>(law.gamma) + 1;
  const Sample sample = draw(law, tables, runner, implementation, requests, requests_a_batch);

  LawTests tests;
  tests.requests = requests;
  tests.damaged = sample.damaged;
  const auto add = [&](std::string name, double p) { tests.p_values.emplace_back(std::move(name), p); };
  if (sample.damaged > 0) {
    add("results without a token", 0);
    return tests;
  }
  if (keeps_law(law.rule.method)) {
    const Law<double> plain = plain_law<double>(*tables.target, context, length);
    const SequenceTests sequences =
        ExactSequenceTests(plain, law.vocab, length, requests).test(sample.tokens);
    add("tokens jointly, Pearson", sequences.joint.pearson_p);
    add("tokens jointly, G", sequences.joint.g_p);
    for (std::size_t i = 0; i < sequences.positions.size(); ++i) {
      add("token " + std::to_string(i + 1) + (i == 0 ? "" : " given those before"),
          sequences.positions[i].sum.pearson_p);
    }
  }
  std::vector<double> scratch;
  const Row target = tables.target->next(context, scratch);
  const Row draft = tables.draft->next(context, scratch);
  if (!exact) {
    const SigmoidRule rule(law.rule.sigmoid_alpha, law.rule.sigmoid_beta);
    tests.total_variation =
        examine<double>(*tables.target, *tables.draft, rule, law.gamma, std::span<const Token>(context))
            .distance;
    add("first token kept", kept_p(sample, overlap(target, draft)));
    return tests;
  }
  const auto against_round = [&](const auto& rule, double rate) {
    const RoundLaw<double> round = round_law<double>(*tables.target, *tables.draft, rule, law.gamma, context);
    add("emitted tokens", emitted_test(sample, length, round).pearson_p);
    add("accepted length", accepted_test(sample, round).pearson_p);
    add("first token kept", kept_p(sample, rate < 0 ? 1 - round.accepted.front() : rate));
  };
  constexpr double of_the_round = -1;
  switch (law.rule.method) {
    case VerifyMethod::token:
      against_round(TokenRule{}, overlap(target, draft));
      break;
    case VerifyMethod::lenient:
      against_round(LenienceRule(law.rule.lenience, law.rule.residual),
                    lenient_overlap(target, draft, law.rule.lenience));
      break;
    case VerifyMethod::block:
      against_round(BlockRule{}, of_the_round);
      break;
  }
  return tests;
}

}  // namespace speclab
