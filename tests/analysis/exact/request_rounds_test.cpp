#include "analysis/exact/request_rounds.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "core/rules/block.hpp"
#include "core/rules/match.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/token.hpp"

using namespace speclab;

namespace {

using Tokens = std::vector<Token>;
using Rows = HistoryFault::Rows;
using Counted = HistoryFault::Counted;

template <class Real>
std::vector<std::vector<Real>> rows(std::initializer_list<std::initializer_list<int>> weights) {
  std::vector<std::vector<Real>> out;
  for (const auto& row : weights) {
    int total = 0;
    for (const int one : row) total += one;
    out.emplace_back();
    for (const int one : row) out.back().push_back(Real(one) / Real(total));
  }
  return out;
}

template <class Real>
struct Pair {
  ExactTable<Real> target{rows<Real>({{5, 3, 2}, {1, 6, 3}, {2, 2, 6}})};
  ExactTable<Real> draft{rows<Real>({{4, 4, 2}, {1, 5, 4}, {3, 2, 5}})};
  Tokens prompt{0, 1};

  Losslessness<Real> examine(const EnumerableRule& rule, int gamma, const RequestTask& task) const {
    return examine_request<Real>(target, draft, rule, gamma, prompt, task);
  }
};

RequestTask same(const RequestLaw& law, std::size_t tokens, const HistoryFault& fault = {}) {
  return {law, law, fault, tokens};
}

/// Requests that use every filter, alone and together.
std::vector<RequestLaw> requests() {
  return {{.repetition_penalty = 1.5, .logit_offset = 2},
          {.frequency_penalty = 1},
          {.presence_penalty = -0.7, .penalty_window = 2},
          {.logit_bias = {{1, 0.8}}},
          {.min_tokens = 3, .end_tokens = {2}},
          {.grammar = {{.next = {{0, 1}}, .other = 0}, {.next = {{1, 0}, {2, 1}}}}},
          {.temperature = 0.7, .top_k = 2, .frequency_penalty = 0.5},
          {.temperature = 1.4,
           .top_p = 0.9,
           .min_p = 0.1,
           .repetition_penalty = 1.2,
           .logit_offset = 1,
           .presence_penalty = 0.4,
           .order = {"llama.cpp", {}}}};
}

/// Computes independently the probability that token verification with one drafted token emits a, b. p0, q0:
/// rows of the first round; bonus: its bonus row; p1, q1: rows of the second round.
double probability_of_two(const std::vector<double>& p0, const std::vector<double>& q0,
                          const std::vector<double>& bonus, const std::vector<double>& p1,
                          const std::vector<double>& q1, std::size_t a, std::size_t b) {
  const auto emitted = [](const std::vector<double>& p, const std::vector<double>& q, std::size_t x,
                          bool accepted) {
    if (accepted) return std::min(p[x], q[x]);
    double rejected = 0;
    double residual = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      rejected += q[i] - std::min(p[i], q[i]);
      residual += std::max(p[i] - q[i], 0.0);
    }
    return residual > 0 ? rejected * std::max(p[x] - q[x], 0.0) / residual : 0;
  };
  return emitted(p0, q0, a, true) * bonus[b] +
         emitted(p0, q0, a, false) * (emitted(p1, q1, b, true) + emitted(p1, q1, b, false));
}

std::vector<double> filtered(const ExactTable<double>& model, const RequestLaw& law, const Tokens& prompt,
                             const Tokens& context, const Tokens& counted) {
  std::vector<double> scratch;
  Tokens all = prompt;
  all.insert(all.end(), context.begin(), context.end());
  const Row row = model.next(all, scratch);
  std::vector<double> out(row.probabilities, row.probabilities + row.size);
  RequestScratch memory;
  filter_row(out, law, {prompt, counted}, memory);
  return out;
}

}  // namespace

TEST_CASE("with right rows every lossless rule has the target's distribution over several rounds, exactly") {
  const Pair<Rational> pair;
  for (const RequestLaw& law : requests()) {
    CHECK(pair.examine(TokenRule{}, 1, same(law, 3)).distance == 0);
    CHECK(pair.examine(BlockRule{}, 2, same(law, 3)).distance == 0);
    CHECK(pair.examine(MatchRule{}, 1, same(law, 3)).distance == 0);
    // What the draft's rows are does not matter.
    CHECK(pair.examine(TokenRule{}, 2, same(law, 3, {.draft_filtered = false})).distance == 0);
    CHECK(pair.examine(TokenRule{}, 2, same(law, 3, {.draft_forgets = true})).distance == 0);
  }
  const RequestLaw law{.frequency_penalty = 1};
  CHECK(pair.examine(RecursiveRule(2), 1, same(law, 3)).distance == 0);
}

TEST_CASE("every fault is refuted by an option that it is about, and not by the others") {
  const Pair<double> pair;
  const RequestLaw frequency{.frequency_penalty = 1};
  const std::vector<RequestFilter> penalties{RequestFilter::frequency_penalty};
  const HistoryFault bonus{.target_rows = Rows::bonus, .filters = penalties};
  for (const HistoryFault& fault :
       {HistoryFault{.target_rows = Rows::none}, bonus, HistoryFault{.within_round = false},
        HistoryFault{.within_round = false, .round_late = true},
        HistoryFault{.within_round = false, .counted = Counted::last_of_round},
        HistoryFault{.counted = Counted::with_rejected}, HistoryFault{.counted = Counted::accepted_twice}}) {
    CHECK(pair.examine(TokenRule{}, 2, same(frequency, 5, fault)).distance > 0.005);
    CHECK(pair.examine(BlockRule{}, 2, same(frequency, 5, fault)).distance > 0.005);
  }
  CHECK(pair.examine(TokenRule{}, 2, same({.logit_bias = {{1, 1}}}, 5, bonus)).lossless());
  const RequestLaw grammar{.grammar = {{.next = {{0, 1}}, .other = 0}, {.next = {{1, 0}, {2, 1}}}}};
  const std::vector<RequestFilter> masks{RequestFilter::grammar};
  for (const HistoryFault& fault :
       {HistoryFault{.target_rows = Rows::bonus, .filters = masks},
        HistoryFault{.target_rows = Rows::drafted, .filters = masks}, HistoryFault{.token_late = true},
        HistoryFault{.within_round = false}, HistoryFault{.counted = Counted::with_rejected}}) {
    CHECK(pair.examine(TokenRule{}, 2, same(grammar, 5, fault)).distance > 0.002);
    CHECK(pair.examine(BlockRule{}, 2, same(grammar, 5, fault)).distance > 0.002);
  }
  CHECK(pair.examine(TokenRule{}, 2, same(frequency, 5, {.token_late = true})).distance > 0.005);
  const HistoryFault chained{.engine = "sglang-verify"};
  const RequestLaw filters{.top_k = 2, .top_p = 0.65, .order = {"sglang", {}}};
  CHECK(pair.examine(TokenRule{}, 2, same(filters, 4, chained)).distance > 0.05);
  CHECK(pair.examine(TokenRule{}, 2, same({.top_k = 2, .order = {"sglang", {}}}, 4, chained)).lossless());
}

TEST_CASE("the distribution under two faults is the one that is written out for one drafted token") {
  const Pair<double> pair;
  const RequestLaw penalties{.frequency_penalty = 1.5, .presence_penalty = 0.5};
  const RequestLaw grammar{.grammar = {{.next = {{0, 1}, {1, 0}}}, {.next = {{1, 0}, {2, 1}}}}};
  const auto at = [&](const ExactTable<double>& model, const Tokens& context, const Tokens& counted,
                      const RequestLaw& request) {
    return filtered(model, request, pair.prompt, context, counted);
  };
  for (const auto& [bonus_only, law] : {std::pair{true, penalties}, {false, penalties}, {true, grammar}}) {
    const HistoryFault fault = bonus_only
                                   ? HistoryFault{.target_rows = Rows::bonus}
                                   : HistoryFault{.within_round = false, .counted = Counted::last_of_round};
    const auto found = pair.examine(TokenRule{}, 1, same(law, 2, fault));
    const RequestLaw first = bonus_only ? RequestLaw{} : law;
    for (Token a = 0; a < 3; ++a) {
      for (Token b = 0; b < 3; ++b) {
        const auto expected = probability_of_two(
            at(pair.target, {}, {}, first), at(pair.draft, {}, {}, law),
            at(pair.target, {a}, bonus_only ? Tokens{a} : Tokens{}, law), at(pair.target, {a}, {a}, first),
            at(pair.draft, {a}, {a}, law), static_cast<std::size_t>(a), static_cast<std::size_t>(b));
        CAPTURE(a);
        CAPTURE(b);
        const auto at_tokens = found.distribution.find({a, b});  // impossible sequences are left out
        CHECK((at_tokens == found.distribution.end() ? 0 : at_tokens->second) ==
              doctest::Approx(expected).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a row without a token is refused, with the tokens before it") {
  const Pair<double> pair;
  try {
    pair.examine(TokenRule{}, 1, same({.min_tokens = 2, .end_tokens = {0, 1, 2}}, 2));
    FAIL("not refused");
  } catch (const EmptyRowError& error) {
    CHECK(error.what() == std::string("the filters leave no token after 0,1"));
  }
}

TEST_CASE("without filters, means over rounds are those of one round that is proved") {
  const ExactTable<Rational> target(rows<Rational>({{5, 3, 2}}));
  const ExactTable<Rational> draft(rows<Rational>({{4, 4, 2}}));
  const auto one = examine<Rational>(target, draft, TokenRule{}, 2, {});
  const auto several = examine_request<Rational>(target, draft, TokenRule{}, 2, {}, {{}, {}, {}, 4});
  CHECK(several.distance == 0);
  CHECK(several.accepted == one.accepted);
  CHECK(several.expected_emitted == one.expected_emitted);
  CHECK(several.rejection == one.rejection);
}

TEST_CASE(
    "filters in a chain and jointly differ by at most 1 - top_p, and by nearly that where top-k binds") {
  // Zipf over 1,000 tokens: the 20 likeliest have less than 0.95, so jointly all 20 stay, and in a chain
  // those that reach 0.95 of them.
  std::vector<double> zipf(1000);
  double total = 0;
  for (std::size_t i = 0; i < zipf.size(); ++i) total += zipf[i] = 1 / static_cast<double>(i + 1);
  for (double& one : zipf) one /= total;
  RequestScratch memory;
  std::vector<double> joint = zipf;
  std::vector<double> chained = zipf;
  filter_row(joint, {.top_k = 20, .top_p = 0.95, .order = {"sglang", {}}}, {}, memory);
  filter_row(chained, {.top_k = 20, .top_p = 0.95}, {}, memory);
  double distance = 0;
  for (std::size_t i = 0; i < zipf.size(); ++i) distance += std::abs(joint[i] - chained[i]) / 2;
  CHECK(distance > 0.04);
  CHECK(distance <= 0.05);
}

// sglang#33643 says that such a penalty is worth its nominal value over the accepted length.
TEST_CASE("a penalty that counts one token of each round is no plain penalty, and less than its quotient") {
  const Pair<double> pair;
  const HistoryFault last{.draft_filtered = false, .within_round = false, .counted = Counted::last_of_round};
  for (const double nominal : {0.5, 1.0, 2.0}) {
    const auto found = pair.examine(TokenRule{}, 2, same({.frequency_penalty = nominal}, 4, last));
    double closest = 0;
    double least = 1;
    for (int step = 0; step <= 100; ++step) {
      const double penalty = nominal * step / 100;
      const auto plain = pair.examine(TokenRule{}, 2, same({.frequency_penalty = penalty}, 4));
      const double distance = distribution_distance(found.distribution, plain.target_distribution);
      if (distance < least) closest = penalty, least = distance;
    }
    CHECK(least > 0.06);
    const double share = closest / (nominal / found.expected_emitted);
    CHECK(share > 0.57);
    CHECK(share < 0.71);
  }
}
