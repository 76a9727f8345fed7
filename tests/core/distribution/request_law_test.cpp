#include "core/distribution/request_law.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

using Tokens = std::vector<Token>;
using F = RequestFilter;

std::vector<double> filtered(std::vector<double> row, const RequestLaw& law, const Tokens& prompt = {},
                             const Tokens& emitted = {}) {
  RequestScratch scratch;
  filter_row(row, law, {prompt, emitted}, scratch);
  return row;
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) < 1e-12);
  }
}

std::vector<double> normalised(std::vector<double> row) {
  double total = 0;
  for (const double one : row) total += one;
  for (double& one : row) one /= total;
  return row;
}

double times(const Tokens& tokens, std::size_t window, Token token) {
  const Tokens last(tokens.end() - static_cast<std::ptrdiff_t>(std::min(window, tokens.size())),
                    tokens.end());
  return static_cast<double>(std::count(last.begin(), last.end(), token));
}

/// Returns whether a grammar allows a token after others, by a walk over the states.
bool allowed(const Grammar& grammar, const Tokens& emitted, Token token) {
  std::size_t state = 0;
  const auto after = [&](Token one) {
    const auto& [next, other] = grammar[state];
    return next.count(one) > 0 ? next.at(one) : other.value_or(-1);
  };
  for (const Token one : emitted) {
    if (const int to = after(one); to >= 0) state = static_cast<std::size_t>(to);
  }
  return after(token) >= 0;
}

/// Computes the row independently, by the definitions in probabilities instead of logits, filter by filter.
std::vector<double> by_definition(std::vector<double> row, RequestLaw law, const Tokens& prompt,
                                  const Tokens& emitted) {
  if (law.order.engine == "llama.cpp" && !law.grammar.empty()) {
    // Sums over both draws.
    RequestLaw once = law;
    once.order.own = law.groups();
    once.penalty_prompt = law.counted_prompt();
    once.penalty_window = law.counted_window();
    once.order.engine = "vllm";
    std::vector<double> second = by_definition(row, once, prompt, emitted);
    once.grammar.clear();
    const std::vector<double> first = by_definition(row, once, prompt, emitted);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!allowed(law.grammar, emitted, static_cast<Token>(i))) second[i] = 0;
    }
    double refused = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      refused += allowed(law.grammar, emitted, static_cast<Token>(i)) ? 0 : first[i];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool may = allowed(law.grammar, emitted, static_cast<Token>(i));
      row[i] = (may ? first[i] : 0) + refused * second[i];
    }
    return row;
  }
  Tokens all = prompt;
  all.insert(all.end(), emitted.begin(), emitted.end());
  const std::size_t window = static_cast<std::size_t>(law.counted_window().value_or(1000));
  const bool with_repetition = law.counted_prompt() != PenaltyPrompt::none;
  const Tokens& repeated = with_repetition ? all : emitted;
  const Tokens& occurred = law.counted_prompt() == PenaltyPrompt::all ? all : emitted;
  double scale = std::exp(law.logit_offset.value_or(0));  // a probability is exp(logit) / scale
  for (const std::vector<F>& group : law.groups()) {
    const std::vector<double> before = normalised(row);
    for (const F filter : group) {
      if (!law.asks(filter)) continue;
      const double largest = *std::max_element(before.begin(), before.end());
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto id = static_cast<Token>(i);
        double larger = 0;
        int rank = 0;
        for (std::size_t j = 0; j < row.size(); ++j) {
          if (before[j] > before[i] || (before[j] == before[i] && j < i)) larger += before[j], ++rank;
        }
        const auto listed = [id](const Tokens& ids) { return std::count(ids.begin(), ids.end(), id) > 0; };
        switch (filter) {
          case F::repetition_penalty:
            if (times(repeated, window, id) > 0 && row[i] > 0) {
              const double weight = row[i] * scale;
              const double r = law.repetition_penalty;
              row[i] = std::pow(weight, weight > 1 ? 1 / r : r) / scale;
            }
            break;
          case F::frequency_penalty:
            row[i] *= std::pow(std::exp(-law.frequency_penalty), times(occurred, window, id));
            break;
          case F::presence_penalty:
            if (times(occurred, window, id) > 0) row[i] *= std::exp(-law.presence_penalty);
            break;
          case F::logit_bias:
            for (const auto& [token, bias] : law.logit_bias) row[i] *= token == id ? std::exp(bias) : 1;
            break;
          case F::min_tokens:
            if (static_cast<int>(emitted.size()) < law.min_tokens && listed(law.end_tokens)) row[i] = 0;
            break;
          case F::banned:
            if (listed(law.banned)) row[i] = 0;
            break;
          case F::grammar:
            if (!allowed(law.grammar, emitted, id)) row[i] = 0;
            break;
          case F::temperature:
            row[i] = law.temperature > 0 ? std::pow(row[i] * scale, 1 / law.temperature) / scale
                     : rank == 0         ? row[i]
                                         : 0;
            break;
          case F::top_k:
            if (rank >= law.top_k) row[i] = 0;
            break;
          case F::top_p:
            if (rank > 0 && larger >= law.top_p) row[i] = 0;
            break;
          case F::min_p:
            if (before[i] < law.min_p * largest) row[i] = 0;
            break;
        }
      }
    }
  }
  return normalised(row);
}

/// A random request over 5 tokens; penalties may be rewards.
struct Dice {
  Philox stream;
  explicit Dice(std::uint32_t number) : stream(2026, Site{number, 0, Draw{Use::world, 7}}) {}
  double unit() { return open_unit(stream()); }
  int below(int n) { return static_cast<int>(unit() * n); }
  Tokens tokens(int most) {
    Tokens out(static_cast<std::size_t>(below(most + 1)));
    for (Token& one : out) one = below(5);
    return out;
  }
};

RequestLaw random_law(Dice& dice) {
  RequestLaw law;
  const auto sometimes = [&] { return dice.below(2) == 0; };
  if (sometimes()) law.temperature = 0.3 + 2 * dice.unit();
  if (sometimes()) law.top_k = 1 + dice.below(6);
  if (sometimes()) law.top_p = 0.2 + 0.8 * dice.unit();
  if (sometimes()) law.min_p = 0.6 * dice.unit();
  if (sometimes()) law.repetition_penalty = 0.5 + 2 * dice.unit();
  law.logit_offset = 6 * dice.unit() - 1;
  if (sometimes()) law.frequency_penalty = 3 * dice.unit() - 1;
  if (sometimes()) law.presence_penalty = 3 * dice.unit() - 1;
  if (sometimes()) law.penalty_window = dice.below(6);
  if (sometimes()) law.penalty_prompt = static_cast<PenaltyPrompt>(dice.below(3));
  if (sometimes()) law.logit_bias = {{dice.below(5), 4 * dice.unit() - 2}};
  if (sometimes()) law.min_tokens = dice.below(4), law.end_tokens = {3};
  if (sometimes()) law.banned = {4};
  if (sometimes()) {
    law.grammar.resize(3);
    for (GrammarState& state : law.grammar) {
      for (int arcs = 1 + dice.below(4); arcs > 0; --arcs) state.next[dice.below(5)] = dice.below(3);
      if (dice.below(4) == 0) state.other = dice.below(3);
    }
  }
  const auto& engines = engine_orders();
  law.order.engine = engines[static_cast<std::size_t>(dice.below(static_cast<int>(engines.size())))].name;
  return law;
}

}  // namespace

TEST_CASE("a request without options, or with those of Adjustment alone, is an Adjustment") {
  CHECK(RequestLaw{}.identity());
  CHECK(RequestLaw{.temperature = 0.5, .top_k = 3, .top_p = 0.8}.adjustment().has_value());
  CHECK_FALSE(RequestLaw{.min_p = 0.1}.adjustment().has_value());
  // llama.cpp applies the temperature last, so its top-p is another one.
  CHECK_FALSE(
      RequestLaw{.temperature = 0.5, .top_p = 0.8, .order = {"llama.cpp", {}}}.adjustment().has_value());
  CHECK(RequestLaw{.top_p = 0.8, .order = {"llama.cpp", {}}}.adjustment().has_value());
  CHECK(RequestLaw{.frequency_penalty = 1}.remembers());
  CHECK_FALSE(RequestLaw{.frequency_penalty = 1, .order = {"", {{F::top_k}}}}.remembers());
  std::vector<Token> order;
  std::vector<double> row{0.1, 0.4, 0.2, 0.3};
  const RequestLaw law{.temperature = 0.5, .top_k = 3, .top_p = 0.8};
  const std::vector<double> as_request = filtered(row, law);
  adjust(row, *law.adjustment(), order);
  check_close(as_request, row);
}

TEST_CASE("penalties count what the engine counts") {
  const std::vector<double> row{0.5, 0.3, 0.2};
  const double e = std::exp(-1.0);
  check_close(filtered(row, {.frequency_penalty = 1}, {0, 0}, {1, 1, 2}),
              normalised({0.5, 0.3 * e * e, 0.2 * e}));
  check_close(filtered(row, {.presence_penalty = 1}, {0}, {1, 1}), normalised({0.5, 0.3 * e, 0.2}));
  // llama.cpp counts the prompt, and the last 64 tokens.
  RequestLaw llama{.frequency_penalty = 1, .order = {"llama.cpp", {}}};
  check_close(filtered(row, llama, {0, 2}, {1}), normalised({0.5 * e, 0.3 * e, 0.2 * e}));
  llama.penalty_window = 2;
  check_close(filtered(row, llama, {0, 2}, {1}), normalised({0.5, 0.3 * e, 0.2 * e}));
  llama.penalty_window = 0;
  check_close(filtered(row, llama, {0, 2}, {1}), row);
}

TEST_CASE("the repetition penalty depends on the constant of the logits") {
  const std::vector<double> row{0.5, 0.5};
  const RequestLaw at_zero{.repetition_penalty = 2, .logit_offset = 0};
  const RequestLaw above{.repetition_penalty = 2, .logit_offset = 3};
  // log(.5) is negative and doubles; 3 + log(.5) is positive and halves.
  check_close(filtered(row, at_zero, {0}), normalised({0.25, 0.5}));
  check_close(filtered(row, above, {0}), normalised({std::exp((3 + std::log(0.5)) / 2 - 3), 0.5}));
}

TEST_CASE("a minimal length masks end tokens until it is reached; bans always") {
  const RequestLaw law{.min_tokens = 2, .end_tokens = {2}};
  check_close(filtered({0.5, 0.3, 0.2}, law, {0, 0, 0}, {1}), {0.625, 0.375, 0});
  check_close(filtered({0.5, 0.3, 0.2}, law, {}, {1, 1}), {0.5, 0.3, 0.2});
  check_close(filtered({0.5, 0.3, 0.2}, {.banned = {0}}, {}, {1, 1}), {0, 0.6, 0.4});
  CHECK(filtered({0.5, 0.5}, {.banned = {0, 1}}) == std::vector<double>{0, 0});
}

TEST_CASE("a grammar allows the tokens of its state, which the emitted tokens alone determine") {
  // First any token; after token 0 only token 2, which leads back.
  const RequestLaw law{.grammar = {{.next = {{0, 1}}, .other = 0}, {.next = {{2, 0}}}}};
  const std::vector<double> row{0.5, 0.3, 0.2};
  check_close(filtered(row, law, {0}), row);
  check_close(filtered(row, law, {}, {1, 0}), {0, 0, 1});
  check_close(filtered(row, law, {}, {0, 2}), row);
  check_close(filtered(row, law, {}, {0, 1}), {0, 0, 1});  // 1 is not allowed, and the state stays
  CHECK(law.remembers());
}

TEST_CASE("llama.cpp draws without the grammar first, which differs where another filter cuts") {
  const Grammar grammar{{.next = {{1, 0}, {2, 0}}}};
  const std::vector<double> row{0.5, 0.3, 0.2};
  const RequestLaw law{.grammar = grammar, .order = {"llama.cpp", {}}};
  check_close(filtered(row, law), {0, 0.6, 0.4});
  // The first draw is of 0 and 1, and gives token 1 with probability 0.375. Else the second draws 1 or 2.
  check_close(filtered(row, {.top_k = 2, .grammar = grammar, .order = {"llama.cpp", {}}}),
              {0, 0.375 + 0.625 * 0.6, 0.625 * 0.4});
  check_close(filtered(row, {.top_k = 2, .grammar = grammar}), {0, 0.6, 0.4});
}

TEST_CASE("joint filters decide on one row, chained ones on what is left") {
  const std::vector<double> row{0.4, 0.3, 0.2, 0.1};
  RequestLaw law{.top_k = 3, .top_p = 0.75};
  // Of the three largest, 7/9 is above .75 with two tokens; in the whole row two have .7.
  check_close(filtered(row, law), normalised({0.4, 0.3, 0, 0}));
  law.order.engine = "sglang";
  check_close(filtered(row, law), normalised({0.4, 0.3, 0.2, 0}));
}

TEST_CASE("random requests in every order agree with the definitions in probabilities") {
  for (std::uint32_t number = 0; number < 20000; ++number) {
    CAPTURE(number);
    Dice dice(number);
    std::vector<double> row(5);
    for (double& one : row) one = dice.below(6) == 0 ? 0 : dice.unit();
    row[0] += 0.01;
    row = normalised(row);
    const RequestLaw law = random_law(dice);
    const Tokens prompt = dice.tokens(4);
    const Tokens emitted = dice.tokens(5);
    const std::vector<double> expected = by_definition(row, law, prompt, emitted);
    if (std::any_of(expected.begin(), expected.end(), [](double one) { return !(one >= 0); }))
      continue;  // nothing is left
    const std::vector<double> found = filtered(row, law, prompt, emitted);
    double distance = 0;
    for (std::size_t i = 0; i < row.size(); ++i) distance += std::abs(found[i] - expected[i]);
    CHECK(distance < 1e-9);
  }
}

TEST_CASE("a NaN stays, so that sampling reports it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(filtered({0.5, nan}, {.top_k = 1, .frequency_penalty = 1}, {}, {0})[1]));
}
