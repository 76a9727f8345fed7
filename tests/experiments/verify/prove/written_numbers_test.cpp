// Tests that a proof uses the numbers as they were written, from the command line and from a config.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/distribution/number.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/verify/exact/exact_result.hpp"
#include "experiments/verify/prove/proof.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "tests/experiments/rule_of.hpp"

using namespace speclab;

namespace {

constexpr int tables = 1000;

/// Returns a decimal in (0, 1) with so many digits, printed so that it can be read back, sometimes in the
/// form 1e-7.
std::string random_decimal(std::mt19937_64& random, int digits) {
  const double uniform = std::uniform_real_distribution<double>(0.001, 1)(random);
  const double value = random() % 16 == 0 ? uniform * 1e-7 : uniform;
  return fmt::format("{}", std::stod(fmt::format("{:.{}g}", value, digits)));
}

/// A pair of tables over one vocabulary, as people write them.
struct WrittenPair {
  std::vector<std::vector<std::string>> target, draft;
};

WrittenPair random_pair(std::mt19937_64& random, int number) {
  const std::size_t vocab = 2 + random() % 3;
  const std::size_t contexts = random() % 2 == 0 ? 1 : vocab;
  const int digits = 1 + number % 17;
  WrittenPair pair;
  for (auto* rows : {&pair.target, &pair.draft}) {
    for (std::size_t row = 0; row < contexts; ++row) {
      rows->emplace_back();
      for (std::size_t id = 0; id < vocab; ++id) rows->back().push_back(random_decimal(random, digits));
      // Short numbers follow long ones, so that characters left over from those would show. One is at least
      // 1, as of weights.
      rows->back().back() = random() % 2 == 0 ? "1.5" : "12.25";
    }
  }
  return pair;
}

/// Returns each number over the sum of its row.
std::string as_option(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    Rational total;
    for (const std::string& word : row) total += parse_rational(word).value();
    std::vector<std::string> shares;
    for (const std::string& word : row)
      shares.push_back(Rational(parse_rational(word).value() / total).str());
    lines.push_back(fmt::format("{}", fmt::join(shares, ",")));
  }
  return fmt::format("{}", fmt::join(lines, ";"));
}

std::string as_json(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> lines;
  for (const auto& row : rows) lines.push_back(fmt::format("[{}]", fmt::join(row, ",")));
  return fmt::format("[{}]", fmt::join(lines, ","));
}

Config config_of(const std::string& target, const std::string& draft) {
  return read_config(parse_json(fmt::format(
      R"({{"title": "t", "models": {{"target": {}, "draft": {}}}, "gamma": 1, "search": {{"max_gamma": 1}}}})",
      target, draft)));
}

Config config_of(const WrittenPair& pair) {
  return config_of(fmt::format(R"({{"kind": "table", "rows": {}}})", as_json(pair.target)),
                   fmt::format(R"({{"kind": "table", "rows": {}}})", as_json(pair.draft)));
}

/// Returns the sum of min(p, q) of two rows.
Rational overlap_of(const std::vector<Rational>& p, const std::vector<Rational>& q) {
  Rational sum(0);
  for (std::size_t id = 0; id < p.size(); ++id) sum += std::min(p[id], q[id]);
  return sum;
}

}  // namespace

TEST_CASE("1,000 tables of one to seventeen digits: a config has the rows that the command line has") {
  std::mt19937_64 random(20);
  for (int number = 0; number < tables; ++number) {
    const WrittenPair pair = random_pair(random, number);
    const ProofTask task = proof_task(config_of(pair));
    CAPTURE(as_option(pair.target));
    CHECK(task.target == parse_rows(as_option(pair.target), "--target"));
    CHECK(task.draft == parse_rows(as_option(pair.draft), "--draft"));
  }
}

TEST_CASE(
    "1,000 tables: proofs print the rows that were written, and exact and models have them as doubles") {
  std::mt19937_64 random(21);
  ModelFactory factory;
  for (int number = 0; number < tables; ++number) {
    const WrittenPair pair = random_pair(random, number);
    CAPTURE(as_option(pair.target));
    const Config config = config_of(pair);
    const ExactRows target = parse_rows(as_option(pair.target), "--target");
    const ExactRows draft = parse_rows(as_option(pair.draft), "--draft");

    ProofTask task = proof_task(config);
    task.rule = rule_named("token");
    const Proof proof = prove(task, Arithmetic::floating_point);
    const Rational overlap = overlap_of(target.front(), draft.front());
    CHECK(as_double(proof.acceptance) == doctest::Approx(static_cast<double>(overlap)).epsilon(1e-12));
    for (std::size_t row = 0; row < target.size(); ++row) {
      for (std::size_t id = 0; id < target[row].size(); ++id) {
        CHECK(as_double(proof.target.value()[row][id]) == static_cast<double>(target[row][id]));
        CHECK(as_double(proof.draft.value()[row][id]) == static_cast<double>(draft[row][id]));
      }
    }

    if (target.size() == 1) {
      const ExactResult exact = analyse_exactly(config, false);
      CHECK(exact.classes.front().exact.alpha.value() ==
            doctest::Approx(static_cast<double>(overlap)).epsilon(1e-12));
    }

    const BuiltModel built = model_of_config(config, false, factory);
    std::vector<double> scratch;
    for (std::size_t row = 0; row < target.size(); ++row) {
      const std::vector<Token> context(static_cast<std::size_t>(*built.model.memory()),
                                       static_cast<Token>(row));
      const Row found = built.model.next(context, scratch);
      REQUIRE(found.size == static_cast<std::int32_t>(target[row].size()));
      for (std::int32_t id = 0; id < found.size; ++id) {
        const auto wanted = static_cast<double>(target[row][static_cast<std::size_t>(id)]);
        CHECK(found[id] == doctest::Approx(wanted).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("1,000 numbers: epsilon of a mixture and parameters of rules are the decimals that were written") {
  std::mt19937_64 random(22);
  for (int number = 0; number < tables; ++number) {
    const std::string written = random_decimal(random, 1 + number % 17);
    CAPTURE(written);
    const Rational value = parse_rational(written).value();
    CHECK(from_decimal<Rational>(std::stod(written)) == value);
    const ProofTask mixed = proof_task(config_of(
        R"({"kind": "table", "rows": [[0.25, 0.75]]})",
        fmt::format(R"({{"kind": "mixture", "epsilon": {}, "other": {{"kind": "uniform"}}}})", written)));
    CHECK(mixed.draft == ExactRows{{Rational(1, 4) + value / 4, Rational(3, 4) - value / 4}});
    if (number % 10 != 0) continue;
    // The acceptance of a lenient rule is the sum of min(q, p / l).
    ProofTask task;
    task.target = parse_rows(".5,.3,.2", "--target");
    task.draft = parse_rows(".1,.3,.6", "--draft");
    task.rule = rule_of(fmt::format(R"({{"kind": "lenient", "lenience": {}}})", written));
    Rational acceptance(0);
    for (std::size_t id = 0; id < 3; ++id) {
      acceptance += std::min(task.draft.front()[id], task.target.front()[id] / value);
    }
    CHECK(std::get<std::string>(prove(task, Arithmetic::rational).acceptance) == acceptance.str());
  }
}

TEST_CASE("decimals at the ends of the range, and signs of their exponents") {
  CHECK(decimal_fraction(0) == "0");
  CHECK(decimal_fraction(-0.25) == "-25/100");
  CHECK(Rational(decimal_fraction(1e22)) == parse_rational("1e22"));
  CHECK(Rational(decimal_fraction(1e300)) == parse_rational("1e+300"));
  CHECK(Rational(decimal_fraction(5e-324)) == parse_rational("5e-324"));
  CHECK(Rational(decimal_fraction(1.7976931348623157e308)) == parse_rational("1.7976931348623157e308"));
  for (const char* bad : {"1e", "1e+", "1e+-3", "1e 3", "1e3 4", "1e99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_rational(bad).has_value());
  }
}

TEST_CASE("what exact arithmetic takes is said before the work, by the digits of the rows") {
  ProofTask task;
  task.target = parse_rows(".5,.3,.1,.1", "--target");
  task.draft = parse_rows(".1,.3,.3,.3", "--draft");
  task.rule = rule_named("block");
  task.gamma = 7;
  check_branches(task, Arithmetic::rational);
  check_branches(task, Arithmetic::floating_point);
  task.target = parse_rows("0.12345678901234567,0.27654321098765433,0.2,0.4", "--target");
  CHECK_THROWS_WITH(check_branches(task, Arithmetic::rational), doctest::Contains("fractions of 18 digits"));
  task.max_branches = 1e9;
  check_branches(task, Arithmetic::rational);
  check_branches(task, Arithmetic::floating_point);
  CHECK(branch_cost(task, Arithmetic::rational).seconds > 60);
}
