// Tests room (view) 1 of the explorer: it offers the catalogue's rules, and draws what the simulator draws.
#include "explorer/engine/one_round.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "sim/models/table_model.hpp"

using namespace speclab;
using namespace speclab::explorer;

namespace {

struct Planted {
  bool flag = false;
  double large = 7;
  double share = 0.25;
};

const bool added = [] {
  rule_family().add(
      rule_kind<Planted>("planted", "Planted: lenient by its third parameter.", ExpectedLossless::never,
                         {field("flag", &Planted::flag, boolean(), "No number."),
                          field("large", &Planted::large, number(0, 1000), "Too large for a slider."),
                          field("share", &Planted::share, number_above(0, 1), "What the slider sets.")},
                         [](const Planted& own, const std::string&, const RuleRequest&) {
                           return LenienceRule(own.share, Residual::target_minus_draft);
                         }));
  return true;
}();

/// Returns the lists and numbers of a record.
std::map<std::string, std::vector<double>> numbers_of(const Record& record) {
  std::map<std::string, std::vector<double>> all;
  std::istringstream names(record.names());
  auto at = record.numbers().begin();
  std::string kind;
  std::string name;
  std::ptrdiff_t count = 0;
  while (names >> kind >> name >> count) {
    if (kind != "n" && kind != "l") continue;
    all[name].assign(at, at + count);
    at += count;
  }
  return all;
}

const std::vector<std::int32_t> target{50, 30, 20};
const std::vector<std::int32_t> draft{10, 30, 60};
constexpr std::int32_t drafted = 2;

RoundTask task_of(const OfferedRule& rule) { return {rule.name, rule.value, drafted, target, draft}; }

Model table_of_weights(const std::vector<std::int32_t>& weights) {
  std::vector<double> row(weights.begin(), weights.end());
  normalise(row);
  const auto vocab = static_cast<std::int32_t>(row.size());
  return TableModel(vocab, 0, std::move(row));
}

}  // namespace

TEST_CASE("every rule of the catalogue is offered, with the first parameter that a slider can set") {
  REQUIRE(added);
  std::set<std::string> kinds;
  for (const OfferedRule& rule : offered_rules()) kinds.insert(rule.kind);
  for (const std::string& name : rule_family().names()) CHECK(kinds.contains(name));
  const auto offered = [](std::string_view name) {
    const auto& all = offered_rules();
    return *std::find_if(all.begin(), all.end(), [&](const auto& rule) { return rule.name == name; });
  };
  CHECK(offered("token").parameter.empty());
  CHECK(offered("planted").parameter == "share");
  CHECK(offered("planted").value == 0.25);
  CHECK(offered("planted").least > 0);
  // At their default, l = 1, they would be lossless.
  CHECK(offered("lenient").value == 0.5);
  CHECK(offered("lenient-greedy").value == 0.5);
  CHECK(offered("planted").most == 1);
  CHECK(offered("recursive").whole);
  CHECK(offered("tree, dynamic").fixed.find("growth=dynamic") != std::string::npos);
  CHECK_THROWS_AS(rule_named("no-rule", 0, 1), std::invalid_argument);
}

TEST_CASE("rounds of the page are the simulator's, draw by draw") {
  const Model p = table_of_weights(target);
  const Model q = table_of_weights(draft);
  for (const OfferedRule& rule : offered_rules()) {
    CAPTURE(rule.name);
    const RulePrograms programs = rule_named(rule.name, rule.value, drafted);
    for (std::uint32_t round = 0; round < 50; ++round) {
      CAPTURE(round);
      Record record;
      draw_round(task_of(rule), 7, round, record);
      const auto drawn = numbers_of(record);
      std::vector<Token> context;
      RoundScratch<double> scratch;
      SampledRandomSource random = sampled_random_source(7, 0, round);
      const Round done = programs.sampled->round(p, q, drafted, context, random, scratch, RoundWatch());
      CHECK(drawn.at("accepted").front() == done.accepted);
      CHECK(drawn.at("emitted") == std::vector<double>(context.begin(), context.end()));
    }
  }
}

TEST_CASE("what a rule does with the first token adds up to what its proof says") {
  for (const OfferedRule& rule : offered_rules()) {
    CAPTURE(rule.name);
    Record record;
    describe_rows(task_of(rule), record);
    const auto rows = numbers_of(record);
    if (!rows.contains("kept")) continue;
    Record proof;
    prove_round(task_of(rule), proof);
    if (numbers_of(proof).at("made").front() == 1) continue;
    double emitted = 0;
    for (std::size_t token = 0; token < target.size(); ++token) {
      emitted += rows.at("kept")[token] + rows.at("replaced")[token];
      CHECK(rows.at("kept")[token] + rows.at("refused")[token] == doctest::Approx(rows.at("q")[token]));
      CHECK(rows.at("kept")[token] == doctest::Approx(rows.at("accept")[token] * rows.at("q")[token]));
    }
    CHECK(emitted == doctest::Approx(1));
    CHECK(1 - numbers_of(proof).at("accepted").front() == doctest::Approx(rows.at("acceptance").front()));
  }
}
