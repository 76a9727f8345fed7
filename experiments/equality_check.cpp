#include "speclab/experiments/equality_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "speclab/experiments/format/config_error.hpp"
#include "speclab/experiments/format/validate.hpp"
#include "speclab/experiments/registry.hpp"
#include "speclab/sim/sequences.hpp"

namespace speclab {

namespace {

constexpr std::uint64_t hashed_cells = 64;

/// 64-bit mixing of a token sequence; only equality and spread matter, not secrecy.
std::uint64_t hash_tokens(std::span<const Token> tokens) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const Token token : tokens) {
    hash ^= static_cast<std::uint64_t>(token) + 0x9e3779b97f4a7c15ULL;
    hash *= 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

struct Pair {
  std::uint64_t speculative = 0;
  std::uint64_t plain = 0;
  std::uint64_t rare_cell = 0;  ///< where the sequence goes when it is too rare for a cell of its own
};

/// Counts of each sequence in both samples; sequences too rare in both together share hashed cells.
void count_cells(const std::vector<Token>& speculative, const std::vector<Token>& plain, std::size_t length,
                 std::vector<std::uint64_t>& first, std::vector<std::uint64_t>& second) {
  std::unordered_map<std::uint64_t, Pair> seen;
  const auto add = [&](const std::vector<Token>& sample, std::uint64_t Pair::*count) {
    for (std::size_t start = 0; start < sample.size(); start += length) {
      const std::span<const Token> sequence(sample.data() + start, length);
      Pair& pair = seen[hash_tokens(sequence)];
      ++(pair.*count);
      const Token ends[2] = {sequence.front(), sequence.back()};
      pair.rare_cell = hash_tokens(ends) % hashed_cells;
    }
  };
  add(speculative, &Pair::speculative);
  add(plain, &Pair::plain);

  std::vector<std::uint64_t> rare_first(hashed_cells);
  std::vector<std::uint64_t> rare_second(hashed_cells);
  std::vector<std::pair<std::uint64_t, const Pair*>> ordered;
  ordered.reserve(seen.size());
  for (const auto& [hash, pair] : seen) ordered.emplace_back(hash, &pair);
  std::sort(ordered.begin(), ordered.end());
  for (const auto& [hash, pair] : ordered) {
    // Half of the pair's total is its expectation in each sample under the null. Deciding by the total, which
    // the null says nothing about, leaves the test unbiased.
    if (static_cast<double>(pair->speculative + pair->plain) / 2 >= minimum_expectation_for_power) {
      first.push_back(pair->speculative);
      second.push_back(pair->plain);
    } else {
      rare_first[pair->rare_cell] += pair->speculative;
      rare_second[pair->rare_cell] += pair->plain;
    }
  }
  first.insert(first.end(), rare_first.begin(), rare_first.end());
  second.insert(second.end(), rare_second.begin(), rare_second.end());
}

/// Below the smallest normal double the tail is not resolved.
std::string p_text(double p) { return p < 1e-300 ? "< 1e-300" : fmt::format("= {:.3g}", p); }

}  // namespace

EqualityReport check_equality(const Json& input) {
  const Json config = resolve(input);
  for (const char* many : {"sweep", "cases"}) {
    if (config.contains(many)) {
      throw ConfigError(std::string("/") + many,
                        fmt::format("check tests one configuration: leave this out with --set {}=null, and "
                                    "choose values with --set",
                                    many));
    }
  }
  const Json settings = section(config, "check");
  const int gamma = config.at("gamma").get<int>();
  Registry registry;
  Setup setup = registry.build(config);

  EqualityReport report;
  report.level = settings.at("level").get<double>();
  report.power = settings.at("power").get<double>();
  report.tokens = settings.at("tokens").get<int>();
  report.samples_each = settings.at("samples").get<std::uint64_t>();
  if (report.power <= report.level) {
    throw ConfigError("/check/power",
                      fmt::format("{} is not above the level {}", report.power, report.level));
  }
  setup.plan.trials = static_cast<std::uint32_t>(report.samples_each);
  const auto length = static_cast<std::size_t>(report.tokens);
  std::vector<Token> speculative;
  std::vector<Token> plain;
  std::visit(
      [&](const auto& rule) {
        speculative = speculative_sequences(setup.target, setup.draft, rule, gamma, setup.plan, length);
        plain = plain_sequences(setup.target, rule, setup.plan, length);
      },
      setup.rule);

  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
  count_cells(speculative, plain, length, first, second);
  report.test = two_sample_test(first, second, minimum_expectation_for_power);
  if (report.test.degrees > 0) {
    // The two-sample test with n each is a one-sample test with n/2: the variances of both samples add.
    const std::uint64_t effective = report.samples_each / 2;
    report.detectable_effect =
        detectable_effect(report.test.degrees, effective, report.level / 2, report.power);
    report.detectable_distance = std::min(
        1.0, detectable_total_variation(report.test.degrees, effective, report.level / 2, report.power));
  } else if (setup.target.vocab() > 1) {
    // A deterministic target (temperature 0) has one cell when all is well; any other sequence would add
    // cells.
    report.detectable_distance = minimum_expectation_for_power / static_cast<double>(report.samples_each);
  }
  return report;
}

Json equality_json(const EqualityReport& report) {
  return {{"verdict", report.different() ? "different" : "equal"},
          {"tokens", report.tokens},
          {"samples_each", report.samples_each},
          {"level", report.level},
          {"pearson", report.test.pearson},
          {"pearson_p", report.test.pearson_p},
          {"g", report.test.g},
          {"g_p", report.test.g_p},
          {"degrees", report.test.degrees},
          {"cells", report.test.cells},
          {"pooled_cells", report.test.pooled_cells},
          {"power", report.power},
          {"detectable_effect", report.detectable_effect},
          {"detectable_total_variation", report.detectable_distance}};
}

std::string equality_text(const EqualityReport& report) {
  const FitTest& test = report.test;
  return fmt::format(
      "null      the first {} tokens have one joint law under speculative and plain decoding\n"
      "samples   {} sequences each, {} cells ({} pooled), {} degrees of freedom\n"
      "Pearson   χ² = {:.2f}, p {}\n"
      "G         G = {:.2f}, p {}\n"
      "power     an effect w = {:.4f} (total variation {:.4f}) is found with probability {} at level {}\n"
      "verdict   {}\n",
      report.tokens, report.samples_each, test.cells, test.pooled_cells, test.degrees, test.pearson,
      p_text(test.pearson_p), test.g, p_text(test.g_p), report.detectable_effect, report.detectable_distance,
      report.power, report.level,
      report.different() ? "DIFFERENT: speculative decoding does not have the target's law"
                         : "equal: no difference found");
}

}  // namespace speclab
