#include "sim/models/cached_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sim/models/kneser_ney.hpp"
#include "sim/models/model.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/parallel.hpp"
#include "sim/text/text_target.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

static_assert(LanguageModel<CachedModel>);

constexpr std::int32_t cached_vocab = 7;

Model chain() { return TableModel(cached_vocab, 1, dirichlet_rows(cached_vocab, cached_vocab, 0.5, 4)); }

Model trigram() { return train_kneser_ney(random_tokens(5, 300, cached_vocab), cached_vocab, 3); }

/// Returns the row by the formula's definition, in time quadratic in the context.
std::vector<double> reference(const Model& base, const CacheOptions& options,
                              std::span<const Token> context) {
  std::vector<double> scratch;
  const Row plain = base.next(context, scratch);
  std::vector<double> row(plain.probabilities, plain.probabilities + plain.size);
  if (context.empty()) return row;
  const auto text = context.last(std::min(context.size(), static_cast<std::size_t>(options.window)));
  std::vector<double> pointer(row.size());
  for (const Token token : text)
    pointer[static_cast<std::size_t>(token)] += 1.0 / static_cast<double>(text.size());
  std::size_t matched = 0;
  for (std::size_t n = 1; n <= static_cast<std::size_t>(options.max_match) && n < text.size(); ++n) {
    std::vector<double> follows(row.size());
    double total = 0;
    for (std::size_t end = n; end < text.size(); ++end) {
      if (!std::equal(text.end() - static_cast<std::ptrdiff_t>(n), text.end(),
                      text.begin() + static_cast<std::ptrdiff_t>(end - n)))
        continue;
      ++follows[static_cast<std::size_t>(text[end])];
      ++total;
    }
    if (total == 0) break;
    matched = n;
    for (std::size_t id = 0; id < row.size(); ++id)
      pointer[id] = (follows[id] + options.smoothing * pointer[id]) / (total + options.smoothing);
  }
  const auto m = static_cast<double>(matched);
  const double weight = matched == 0 ? options.unigram_weight : options.weight * m / (m + options.half_match);
  for (std::size_t id = 0; id < row.size(); ++id) row[id] = (1 - weight) * row[id] + weight * pointer[id];
  return row;
}

/// Returns the largest difference over contexts that are the beginnings of random texts.
double worst_difference(const Model& base, const CacheOptions& options, const CacheOptions& told) {
  const CachedModel model(base, options);
  double worst = 0;
  std::vector<double> scratch;
  for (const std::uint64_t used : {2, 4, 7}) {
    const std::vector<Token> text = random_tokens(used, 90, used);
    for (std::size_t length = 0; length <= text.size(); ++length) {
      const auto context = std::span(text).first(length);
      const std::vector<double> expected = reference(base, told, context);
      const Row row = model.next(context, scratch);
      for (Token id = 0; id < cached_vocab; ++id)
        worst = std::max(worst, std::abs(row[id] - expected[static_cast<std::size_t>(id)]));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("cached rows are the formula's, over stored, n-gram and cached bases") {
  const Model nested = CachedModel(chain(), {.max_match = 2});
  const CacheOptions all{};
  for (const auto& base : {chain(), trigram(), nested}) {
    CHECK(worst_difference(base, all, all) < 1e-14);
    for (const CacheOptions& options :
         {CacheOptions{.max_match = 1}, CacheOptions{.max_match = 3, .window = 20}, CacheOptions{.window = 2},
          CacheOptions{.weight = 0.5, .half_match = 0, .unigram_weight = 0.3, .smoothing = 0.1}}) {
      CHECK(worst_difference(base, options, options) < 1e-14);
    }
  }
  // The comparison detects a change of each constant.
  CHECK(worst_difference(chain(), all, {.weight = 0.94}) > 1e-6);
  CHECK(worst_difference(chain(), all, {.half_match = 4.01}) > 1e-6);
  CHECK(worst_difference(chain(), all, {.unigram_weight = 0.051}) > 1e-6);
  CHECK(worst_difference(chain(), all, {.smoothing = 2.01}) > 1e-6);
  CHECK(worst_difference(chain(), {.max_match = 1}, {.max_match = 2}) > 1e-6);
  CHECK(worst_difference(chain(), {.window = 60}, {.window = 61}) > 1e-6);
}

TEST_CASE("cached rows sum to 1 and have full support") {
  const CachedModel model(trigram(), {});
  std::vector<double> scratch;
  const std::vector<Token> text = random_tokens(9, 400, cached_vocab);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const Row row = model.next(std::span(text).first(length), scratch);
    CHECK(total_probability(row) == doctest::Approx(1).epsilon(1e-13));
    CHECK(*std::min_element(row.probabilities, row.probabilities + row.size) > 0);
  }
}

TEST_CASE("cached rows by hand: after 0 1 0 the longest match is one token, once followed by 1") {
  const Model base = TableModel(4, 0, {0.4, 0.3, 0.2, 0.1});
  const CachedModel model(base, {.weight = 0.6, .half_match = 1, .unigram_weight = 0.2, .smoothing = 1});
  std::vector<double> scratch;
  const std::vector<Token> text{0, 1, 0};
  // u = 0.6 / 2; pointer_0 = 2/3, 1/3; pointer_1 = (0 + 2/3) / 2, (1 + 1/3) / 2.
  const Row row = model.next(text, scratch);
  CHECK(row[0] == doctest::Approx(0.7 * 0.4 + 0.3 / 3));
  CHECK(row[1] == doctest::Approx(0.7 * 0.3 + 0.3 * 2 / 3));
  CHECK(row[2] == doctest::Approx(0.7 * 0.2));
  // Without a match: u = 0.2, and the frequencies 1/2, 1/2.
  const Row second = model.next(std::span(text).first(2), scratch);
  CHECK(second[0] == doctest::Approx(0.8 * 0.4 + 0.1));
  CHECK(second[3] == doctest::Approx(0.8 * 0.1));
}

TEST_CASE("cached rows are functions of the context: the same from any thread, in any order") {
  const CachedModel model(trigram(), {.window = 100});
  const std::vector<Token> text = random_tokens(11, 500, cached_vocab);
  std::vector<std::vector<double>> rows(text.size());
  for_each_index(text.size(), [&](std::size_t length) {
    std::vector<double> scratch;
    const Row row = model.next(std::span(text).first(length), scratch);
    rows[length].assign(row.probabilities, row.probabilities + row.size);
  });
  std::vector<double> scratch;
  int different = 0;
  for (std::size_t length = text.size(); length-- > 0;) {
    const Row row = model.next(std::span(text).first(length), scratch);
    different += std::equal(row.probabilities, row.probabilities + row.size, rows[length].begin()) ? 0 : 1;
    if (length < 150) continue;
    // Tokens before the window do not matter.
    const Row tail = model.next(std::span(text).first(length).last(100), scratch);
    different += std::equal(tail.probabilities, tail.probabilities + tail.size, rows[length].begin()) ? 0 : 1;
  }
  CHECK(different == 0);
  CHECK(Model(model).memory() == 100);
  CHECK(Model(CachedModel(chain(), {.window = 2})).memory() == 2);
  const PointRows points(cached_vocab);
  const std::vector<Token> read{0, 1, 2};
  CHECK_FALSE(Model(CachedModel(TextTarget{read, &points}, {})).memory());
}
