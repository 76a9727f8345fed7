#include "core/round/round.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "tests/bounds.hpp"
#include "tests/core/rules/all_rules.hpp"

using namespace speclab;

namespace {

/// A model with one row for every context.
struct Constant {
  std::vector<double> row;
  std::int32_t vocab() const { return static_cast<std::int32_t>(row.size()); }
  Row next(std::span<const Token>, std::vector<double>&) const { return {row.data(), vocab()}; }
};

/// A model whose row depends on the last token; it is built in scratch, as by a model that computes its rows.
struct Follows {
  std::vector<std::vector<double>> rows;
  std::int32_t vocab() const { return static_cast<std::int32_t>(rows.size()); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    scratch = rows[static_cast<std::size_t>(context.empty() ? 0 : context.back())];
    return {scratch.data(), vocab()};
  }
};

/// Uniforms given by use and slot.
struct Injected {
  const std::map<std::pair<Use, int>, double>* uniforms;
  double operator()(Draw draw) const { return uniforms->at({draw.use, draw.slot}); }
};

const Constant golden_target{{0.5, 0.3, 0.2}};
const Constant golden_draft{{0.1, 0.3, 0.6}};

Round injected_round(const std::map<std::pair<Use, int>, double>& uniforms, std::int32_t gamma,
                     std::vector<Token>& context) {
  UniformRandomSource<Injected> random(Injected{&uniforms});
  RoundScratch<double> scratch;
  return speculative_round(golden_target, golden_draft, TokenRule{}, gamma, context, random, scratch,
                           NoWatch{});
}

}  // namespace

TEST_CASE("injected: two drafted, the second rejected, replaced from the residual") {
  // Draft ids: u = .2 -> 1 (below .4), u = .9 -> 2. p/q of token 2 is 1/3. The residual is all on 0.
  std::vector<Token> context{2};
  const Round round = injected_round({{{Use::draft, 0}, 0.2},
                                      {{Use::draft, 1}, 0.9},
                                      {{Use::accept, 0}, 0.99},
                                      {{Use::accept, 1}, 0.34},
                                      {{Use::replace, 1}, 0.99}},
                                     2, context);
  CHECK(round.accepted == 1);
  CHECK(round.examined == 2);
  CHECK(round.next == 0);
  CHECK(context == std::vector<Token>{2, 1, 0});
}

TEST_CASE("injected: all accepted, the bonus from the target at slot gamma") {
  std::vector<Token> context;
  const Round round = injected_round({{{Use::draft, 0}, 0.05},
                                      {{Use::draft, 1}, 0.9},
                                      {{Use::accept, 0}, 0.5},
                                      {{Use::accept, 1}, 0.33},
                                      {{Use::bonus, 2}, 0.7}},
                                     2, context);
  CHECK(round.accepted == 2);
  CHECK(round.examined == 2);
  CHECK(context == std::vector<Token>{0, 2, 1});
}

TEST_CASE("injected: gamma = 0 is plain sampling from the target") {
  std::vector<Token> context;
  const Round round = injected_round({{{Use::bonus, 0}, 0.81}}, 0, context);
  CHECK(round.accepted == 0);
  CHECK(round.examined == 0);
  CHECK(context == std::vector<Token>{2});
}

TEST_CASE("the watch sees each row that verification reached, with its own context") {
  const Follows target{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
  const Constant wrong{{0, 1, 0}};
  std::vector<Token> context{0};
  RoundScratch<double> scratch;
  auto random = sampled_random_source(1, 0, 0);
  std::vector<std::vector<Token>> seen;
  const auto watch = [&](std::span<const Token> prefix, Row row, const Row* draft_row) {
    CHECK(draft_row != nullptr);
    CHECK(row[(prefix.back() + 1) % 3] == 1);
    seen.emplace_back(prefix.begin(), prefix.end());
  };
  // The drafts are 1, 1, 1: the first is right, the second is not, so the third is never reached.
  const Round round = speculative_round(target, wrong, TokenRule{}, 3, context, random, scratch, watch);
  CHECK(round.accepted == 1);
  CHECK(round.examined == 2);
  CHECK(context == std::vector<Token>{0, 1, 2});
  CHECK(seen == std::vector<std::vector<Token>>{{0}, {0, 1}});
}

TEST_CASE("an invalid draft leaves the context as it was") {
  const Constant invalid{{0.5, std::nan("")}};
  const Constant sound{{0.5, 0.5}};
  std::vector<Token> context{1};
  RoundScratch<double> scratch;
  auto random = sampled_random_source(1, 0, 0);
  const Round round = speculative_round(sound, invalid, TokenRule{}, 2, context, random, scratch, NoWatch{});
  CHECK(round.next == invalid_token);
  CHECK(context == std::vector<Token>{1});
}

TEST_CASE("sampled: acceptance is the overlap, and the first token has the target's distribution") {
  // Null: acceptance is Binomial(n, overlap), each first-token count Binomial(n, target). Four
  // comparisons at seven sigma.
  constexpr std::uint32_t n = 200000;
  const std::uint64_t seed = test_seed(2211);
  const auto within = [](double count, double probability) { return count_agrees(count, n, probability); };
  const auto count_with = [&](const auto& rule) {
    std::array<double, 4> counts{};
    RoundScratch<double> scratch;
    std::vector<Token> context;
    for (std::uint32_t trial = 0; trial < n; ++trial) {
      context.clear();
      auto random = sampled_random_source(seed, trial, 0);
      const Round round =
          speculative_round(golden_target, golden_draft, rule, 1, context, random, scratch, NoWatch{});
      ++counts[static_cast<std::size_t>(context.front())];
      counts[3] += round.accepted;
    }
    return counts;
  };
  const auto sound = count_with(TokenRule{});
  for (std::size_t id = 0; id < 3; ++id) CHECK(within(sound[id], golden_target.row[id]));
  CHECK(within(sound[3], 0.6));
  // Power: the planted faults change some count by at least .1, which is hundreds of sigma.
  CHECK_FALSE(within(count_with(AcceptAllFault{})[0], 0.5));
  CHECK_FALSE(within(count_with(ResampleTargetFault{})[0], 0.5));
  CHECK_FALSE(within(count_with(SwappedResidualFault{})[0], 0.5));
}
