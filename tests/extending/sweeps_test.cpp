// Cells share what does not depend on where they differ. What is shared too widely gives a cell the numbers
// of another one, so kinds of each family are planted here which use every value that their request holds,
// and each cell of a sweep over that value has to equal the same cell run alone.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/rules/lenience.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/journal_file.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/shards/shard_run.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/models/table_model.hpp"
#include "sim/policies/fixed.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/extending/own_kinds.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

struct NoOptions {};

struct OneOption {
  double own = 0.5;
};

Field own_field() { return field("own", &OneOption::own, number(0, 1), "A number of its own."); }

/// Lenient by its own parameter.
RuleKind rule_of_itself() {
  return rule_kind<OneOption>("rule-of-itself", "Planted: its acceptance depends on its parameter.",
                              ExpectedLossless::never, {own_field()},
                              [](const OneOption& own, const std::string&, const RuleRequest&) {
                                return LenienceRule(0.1 + own.own / 2, Residual::target_minus_draft);
                              });
}

/// Lenient by the number of drafted tokens.
RuleKind rule_of_gamma() {
  return rule_kind<NoOptions>("rule-of-gamma", "Planted: its acceptance depends on gamma.",
                              ExpectedLossless::never, {},
                              [](const NoOptions&, const std::string&, const RuleRequest& request) {
                                return LenienceRule(1.0 / request.gamma(), Residual::target_minus_draft);
                              });
}

/// Rows that depend on the target and on the corpus.
ModelKind model_of_request() {
  return kind_entry<ModelKind, OneOption>(
      "model-of-request", "Planted: its rows depend on the target, on the corpus and on its parameter.",
      {own_field()}, [](const OneOption& own, const std::string&, const ModelRequest& request) {
        const std::int32_t vocab = request.target->vocab();
        std::vector<double> scratch;
        double first = request.target->next({}, scratch)[0] * (own.own + 0.1) / 2;
        if (request.corpus != nullptr) {
          first += static_cast<double>(request.factory.text(request)->tokens.size() % 97) / 200;
        }
        std::vector<double> row(static_cast<std::size_t>(vocab), (1 - first) / (vocab - 1));
        row[0] = first;
        return BuiltModel{TableModel(vocab, 0, std::move(row))};
      });
}

class OneTokenDrafter {
 public:
  struct Memory {};
  OneTokenDrafter(std::int32_t vocab, std::uint64_t token)
      : rows_(vocab), token_(static_cast<Token>(token % static_cast<std::uint64_t>(vocab))) {}
  void read(Memory&, std::span<const Token>) const {}
  Row propose(Memory&, std::span<const Token>, std::int32_t, std::vector<double>&) const {
    return rows_[token_];
  }
  std::int32_t runs(std::int32_t drafted) const { return drafted; }

 private:
  PointRows rows_;
  Token token_;
};

DrafterKind drafter_of_request() {
  return kind_entry<DrafterKind, OneOption>(
      "drafter-of-request",
      "Planted: what it proposes depends on seed, temperature, target, corpus and its parameter.",
      {own_field()}, [](const OneOption& own, const std::string&, const DrafterRequest& request) {
        std::vector<double> scratch;
        const double likely = request.target == nullptr ? 0 : request.target->next({}, scratch)[0];
        const double number = static_cast<double>(request.seed) + 3 * request.sampling.temperature + own.own +
                              1000 * likely + static_cast<double>(request.text.tokens.size());
        return MadeDrafter{
            OneTokenDrafter(request.text.vocabulary.size(), static_cast<std::uint64_t>(std::lround(number)))};
      });
}

PolicyKind policy_of_request() {
  return kind_entry<PolicyKind, OneOption>(
      "policy-of-request", "Planted: its length depends on the time of a round and on its parameter.",
      {own_field()}, [](const OneOption& own, const std::string&, const PolicyRequest& request) {
        return FixedPolicy(
            1 + static_cast<std::int32_t>(std::lround(10 * request.round_time(1) + 4 * own.own)) % 7);
      });
}

struct ScheduleByRequest {
  double seconds;
};

template <class Events>
Elapsed run_schedule(const ScheduleByRequest& schedule, const Acceptances& text, Events&) {
  return {text.tokens, static_cast<double>(text.tokens) * schedule.seconds, static_cast<double>(text.tokens)};
}

ScheduleKind schedule_of_request() {
  return kind_entry<ScheduleKind, OneOption>(
      "schedule-of-request", "Planted: its time depends on gamma, c, the length and its parameter.",
      {own_field()}, [](const OneOption& own, const std::string&, const ScheduleRequest& request) {
        const double seconds = 1 + own.own + request.gamma + request.c / 7 + request.length / 1000.0;
        return MadeSchedule{.name = "schedule-of-request",
                            .schedule = ScheduleByRequest{seconds},
                            .formula = [=](double) -> std::optional<double> { return 1 / seconds; }};
      });
}

struct PlantedSection {
  double weight = 1;
};

/// A number of every part of a config that decides what is run, made once for all cells that agree in them.
struct PlantedNumber {
  double number = 0;
};

double planted_number(const ConfigReader& config) {
  const SimulationConfig& simulation = config[&Config::simulation];
  const RequestLaw& sampling = config[&Config::sampling];
  double number = static_cast<double>(config[&Config::seed]) + 1e-1 * config[&Config::gamma] +
                  1e-2 * config[&Config::alpha].value_or(0) + 1e-3 * config[&Config::cost].c +
                  1e-4 * config[&Config::cost].c_hat + 1e-5 * sampling.temperature + 1e-6 * sampling.top_k +
                  1e-7 * simulation.trials + 1e-9 * simulation.length;
  number += config.section<PlantedSection>().weight + static_cast<double>(config[&Config::engine]);
  if (const auto& corpus = config[&Config::corpus]) number += static_cast<double>(corpus->hold_out);
  for (const char letter : config[&Config::rule].name()) number += letter;
  return number;
}

/// The number by a builder that is shared, and as decoding at another seed and gamma, which is shared, too.
Work prepare_planted(const CellSpec& cell, JobList& jobs) {
  const auto shared = jobs.shared<PlantedNumber>(
      cell.config, "",
      [](const ConfigReader& config, const SharedPlace&) { return PlantedNumber{planted_number(config)}; });
  if (!cell.config.models) {
    return {.finish = [shared](CellResult& result, const auto&) { result.own = *shared; }};
  }
  Config other = cell.config;
  other.seed += static_cast<std::uint64_t>(10 * cell.config.section<PlantedSection>().weight);
  other.gamma += 1;
  Job& job = jobs.decode(jobs.setup(other), other.gamma);
  return {.jobs = {&job}, .finish = [shared, &job](CellResult& result, const auto&) {
            result.own = PlantedNumber{shared->number + static_cast<double>(job.outcome.total().accepted)};
          }};
}

}  // namespace

namespace speclab {
SPECLAB_RESULT(PlantedNumber, "planted_number", number);
}  // namespace speclab

namespace {

const Experiment& planted_experiment() {
  static const Experiment experiment{
      .name = "planted",
      .sentence = "Planted: a number that depends on everything.",
      .sections = {"planted"},
      .reads = {"corpus", "models", "sampling", "rule", "engine", "alpha", "gamma", "cost", "simulation"},
      .prepare = prepare_planted,
      .own_key = "planted_number",
      .own_result = described<PlantedNumber>().type,
      .presentation = presented({.tables = own_tables})};
  return experiment;
}

const bool sweeps_added = [] {
  section_kinds().push_back({"planted", object<PlantedSection>("planted", "Of the experiment planted.",
                                                               {field("weight", &PlantedSection::weight,
                                                                      number(0, 10), "A number.")})
                                            .type});
  experiments().push_back(&planted_experiment());
  rule_family().add(rule_of_itself());
  rule_family().add(rule_of_gamma());
  model_family().add(model_of_request());
  drafter_family().add(drafter_of_request());
  policy_family().add(policy_of_request());
  schedule_family().add(schedule_of_request());
  return true;
}();

/// Returns the measurements in the cells of a run, without the cells' names.
std::vector<Json> cells_of(const Json& config) {
  std::vector<Json> cells;
  const Json result = result_json(run_of(config).result);
  for (Json cell : result.at("cells")) {
    cell.erase("label");
    cell.erase("set");
    cells.push_back(std::move(cell));
  }
  return cells;
}

/// Runs `config` for `values` at `path` in one sweep and one by one. At least two of the cells must differ,
/// or the planted kinds do not look at the value.
void check_sweep(const Json& config, const std::string& path, const std::vector<Json>& values) {
  REQUIRE(sweeps_added);
  CAPTURE(path);
  Json sweep = config;
  sweep["sweep"][path] = values;
  const std::vector<Json> together = cells_of(sweep);
  REQUIRE(together.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i].dump());
    Json alone = config;
    alone[Json::json_pointer(path)] = values[i];
    CHECK(together[i] == cells_of(alone).front());
  }
  CHECK(together.front() != together.back());
}

Json pair_config(const char* rule, const Json& draft) {
  return {{"title", "planted"},
          {"models", {{"target", {{"kind", "table"}, {"rows", {{0.6, 0.3, 0.1}}}}}, {"draft", draft}}},
          {"rule", {{"kind", rule}}},
          {"gamma", 3},
          {"simulation", {{"trials", 32}, {"length", 40}}}};
}

const Json uniform_draft{{"kind", "uniform"}};

TempFile words_file() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += i % 3 == 0 ? "a b c d " : (i % 20 == 19 ? "e\f" : "d a e ");
  return TempFile(text);
}

}  // namespace

TEST_CASE("a rule that asks for gamma or is measured is right in sweeps, in every experiment that shares") {
  for (const char* experiment : {"decode", "acceptance", "rules"}) {
    CAPTURE(experiment);
    Json config = pair_config("rule-of-gamma", uniform_draft);
    config["experiment"] = experiment;
    check_sweep(config, "/gamma", {1, 2, 5});
  }
  Json tree = pair_config("tree", uniform_draft);
  check_sweep(tree, "/gamma", {1, 2, 4});
  tree["rule"].update({{"growth", "optimal"}, {"nodes", 8}, {"node_cost", 0.05}});
  check_sweep(tree, "/gamma", {1, 2, 4});
  check_sweep(tree, "/cost/c", {0.01, 0.2, 3});
}

TEST_CASE("cells that differ in what only their numbers depend on are those cells") {
  const Json config = pair_config("token", uniform_draft);
  check_sweep(config, "/gamma", {1, 4});
  check_sweep(config, "/cost/c", {0.1, 0.4});
  check_sweep(config, "/seed", {1, 2});
  check_sweep(config, "/sampling/temperature", {0.5, 1});
  check_sweep(config, "/simulation/trials", {16, 32});
  check_sweep(config, "/simulation/length", {40, 80});
  check_sweep(config, "/simulation/batches", {4, 8});
  check_sweep(config, "/rule/kind", {"token", "match"});
  check_sweep(config, "/models/target/rows/0", {{0.6, 0.3, 0.1}, {0.2, 0.3, 0.5}});
}

TEST_CASE("an interval that is wanted depends on the cost of its cell") {
  Json config = pair_config("token", uniform_draft);
  config["simulation"] = {{"trials", 16},
                          {"length", 20},
                          {"until", {{"metric", "speedup"}, {"half_width", 0.02}, {"max_rounds", 100000}}}};
  check_sweep(config, "/cost/c", {0.01, 0.5, 2});
  check_sweep(config, "/simulation/until/half_width", {0.05, 0.01});
}

TEST_CASE("a model that asks for the target and the corpus is right in sweeps") {
  const TempFile text = words_file();
  Json config = pair_config("token", {{"kind", "model-of-request"}});
  check_sweep(config, "/models/target/rows/0", {{0.6, 0.3, 0.1}, {0.2, 0.3, 0.5}});
  config["corpus"] = {{"file", text.path().string()}, {"tokenization", "words"}};
  check_sweep(config, "/corpus/hold_out", {0, 3, 7});
  check_sweep(config, "/corpus/tokenization", {"words", "bytes"});
  check_sweep(config, "/models/draft/own", {0.1, 0.9});
  check_sweep(config, "/models/draft/sampling/temperature", {0.5, 1});
}

TEST_CASE("drafters and policies that ask for everything are right in sweeps") {
  const TempFile text = words_file();
  const Json corpus{{"file", text.path().string()}, {"tokenization", "words"}, {"hold_out", 2}};
  Json config{{"title", "planted"},
              {"experiment", "compare"},
              {"compare",
               {{"tasks",
                 {{{"name", "text"},
                   {"corpus", corpus},
                   {"target", {{"kind", "bigram"}}},
                   {"sequences", 33},
                   {"tokens", 30},
                   {"prompt_tokens", 4}}}},
                {"drafters", {{{"kind", "drafter-of-request"}, {"c", 0.1}}}},
                {"gammas", {1, 3}},
                {"policies", {{{"kind", "policy-of-request"}}}},
                {"batches", 20}}}};
  check_sweep(config, "/seed", {1, 2, 3});
  check_sweep(config, "/sampling/temperature", {0.3, 1});
  check_sweep(config, "/compare/verify", {0, 0.3});
  check_sweep(config, "/compare/drafters/0/c", {0.1, 0.5});
  check_sweep(config, "/compare/batches", {10, 20});
  check_sweep(config, "/compare/tasks/0/tokens", {20, 30});
  check_sweep(config, "/compare/tasks/0/corpus/hold_out", {2, 3});
  check_sweep(config, "/compare/tasks/0/prompt_tokens", {4, 6});
  check_sweep(config, "/compare/tasks/0/sequences", {30, 40});
  check_sweep(config, "/compare/tasks/0/target", {{{"kind", "bigram"}}, {{"kind", "unigram"}}});
  check_sweep(config, "/compare/drafters/0/own", {0, 1});
  check_sweep(config, "/compare/policies/0/own", {0, 1});
  config["rule"] = {{"kind", "rule-of-gamma"}};
  CHECK(config_error_of([&] { run_of(config); }).find("made for one gamma") != std::string::npos);
}

TEST_CASE("a schedule that asks for everything is right in sweeps") {
  const Json config{{"title", "planted"},
                    {"experiment", "schedules"},
                    {"alpha", 0.7},
                    {"gamma", 4},
                    {"schedules", {{"compare", {{{"kind", "schedule-of-request"}}}}}},
                    {"simulation", {{"trials", 4}, {"length", 100}}}};
  check_sweep(config, "/gamma", {1, 4});
  check_sweep(config, "/cost/c", {0.1, 0.9});
  check_sweep(config, "/simulation/length", {100, 300});
  check_sweep(config, "/alpha", {0.3, 0.7});
  check_sweep(config, "/schedules/compare/0/own", {0, 1});
}

TEST_CASE("every part of a served load is right in sweeps") {
  Json config{{"title", "served"},
              {"experiment", "serving"},
              {"alpha", 0.7},
              {"gamma", 4},
              {"serving",
               {{"requests_per_second", 20},
                {"output", 20},
                {"requests", 40},
                {"settle", 4},
                {"runs", 3},
                {"cost", {{"kind", "steps"}, {"step", 5}, {"position", 0.2}, {"draft_run", 0.4}}}}}};
  check_sweep(config, "/gamma", {1, 4});
  check_sweep(config, "/alpha", {0.3, 0.7});
  check_sweep(config, "/seed", {1, 2});
  check_sweep(config, "/serving/requests_per_second", {10, 30});
  check_sweep(config, "/serving/cost/draft_run", {0.1, 1});
  check_sweep(config, "/serving/engine/max_sequences", {1, 3});
  check_sweep(config, "/serving/policy/kind", {"fixed", "goodput", "clairvoyant"});
  config.erase("alpha");
  check_sweep(
      config, "/serving/acceptance",
      {{{"kind", "all_or_none"}, {"mean", 1.5}}, {{"kind", "positions"}, {"rates", {0.9, 0.5, 0.4, 0.3}}}});
}

TEST_CASE("a rule with a parameter of its own is right in sweeps, in every experiment that shares") {
  for (const char* experiment : {"decode", "acceptance", "rules", "optimal_gamma"}) {
    CAPTURE(experiment);
    Json config = pair_config("rule-of-itself", uniform_draft);
    config["experiment"] = experiment;
    check_sweep(config, "/rule/own", {0, 0.5, 1});
  }
}

const std::vector<std::pair<std::string, std::vector<Json>>>& planted_sweeps() {
  static const std::vector<std::pair<std::string, std::vector<Json>>> sweeps{
      {"/seed", {1, 2}},
      {"/gamma", {2, 5}},
      {"/cost/c", {0.1, 0.2}},
      {"/cost/c_hat", {0.1, 0.2}},
      {"/sampling/temperature", {1, 0.5}},
      {"/sampling/top_k", {0, 2}},
      {"/simulation/trials", {32, 16}},
      {"/simulation/length", {40, 80}},
      {"/engine", {"auto", "plain"}},
      {"/rule/kind", {"token", "match"}},
      {"/planted/weight", {1, 3}}};
  return sweeps;
}

TEST_CASE("an experiment that asks for everything is right in sweeps, whatever its cells share") {
  const TempFile text = words_file();
  Json config = pair_config("token", uniform_draft);
  config["experiment"] = "planted";
  for (const auto& [path, values] : planted_sweeps()) check_sweep(config, path, values);
  config.erase("models");
  for (const auto& [path, values] : planted_sweeps()) check_sweep(config, path, values);
  check_sweep(config, "/alpha", {0.1, 0.2});
  config["corpus"] = {{"file", text.path().string()}, {"tokenization", "words"}};
  check_sweep(config, "/corpus/hold_out", {0, 3});
}

TEST_CASE("a journal is gone on with by no run that differs in anything that a result depends on") {
  const TempFile text = words_file();
  Json config = pair_config("rule-of-itself", {{"kind", "model-of-request"}});
  config["experiment"] = "planted";
  config["corpus"] = {{"file", text.path().string()}, {"tokenization", "words"}};
  const auto head_of = [](const Json& of) {
    JournalHead head;
    const auto stopped = [](std::uint64_t) { return Control{.stop = [] { return true; }}; };
    run_config(read_config(of), stopped, [&](const RunIdentity& identity) {
      head = journal_head(identity);
      return Resumption{};
    });
    return head;
  };
  const JournalHead head = head_of(config);
  CHECK(difference(head, head_of(config)).empty());
  auto sweeps = planted_sweeps();
  sweeps.insert(sweeps.end(), {{"/rule/own", {0.5, 0.6}},
                               {"/models/draft/own", {0.5, 0.6}},
                               {"/models/target/rows/0", {{0.6, 0.3, 0.1}, {0.2, 0.3, 0.5}}},
                               {"/corpus/hold_out", {0, 3}},
                               {"/confidence", {0.95, 0.9}}});
  for (const auto& [path, values] : sweeps) {
    CAPTURE(path);
    Json changed = config;
    changed[Json::json_pointer(path)] = values.back();
    CHECK(difference(head, head_of(changed)) == "it belongs to another config");
  }
  std::ofstream(text.path(), std::ios::app) << "one more";
  CHECK(difference(head, head_of(config)).find("has changed since") != std::string::npos);
}

TEST_CASE("shards of sweeps over what planted kinds read give the bytes of one process") {
  const auto folder = std::filesystem::temp_directory_path() / "speclab_planted_shards";
  Json whole = pair_config("rule-of-itself", {{"kind", "model-of-request"}});
  for (const char* experiment : {"decode", "planted"}) {
    whole["experiment"] = experiment;
    for (const auto& [path, values] : std::vector<std::pair<std::string, std::vector<Json>>>{
             {"/rule", {{{"kind", "rule-of-gamma"}}, {{"kind", "rule-of-itself"}, {"own", 1}}}},
             {"/models/draft/own", {0.1, 0.9}},
             {"/planted/weight", {1, 3}}}) {
      if (!reads_key(*find_experiment(experiment), path.substr(1))) continue;
      CAPTURE(experiment);
      CAPTURE(path);
      Json config = whole;
      config["sweep"] = {{path, values}, {"/gamma", {2, 5}}, {"/cost/c", {0.1, 0.4}}};
      std::filesystem::remove_all(folder);
      const auto control = [](std::uint64_t) { return Control{}; };
      constexpr int shards = 3;
      for (int shard = 1; shard <= shards; ++shard) {
        CHECK(run_shard(*with_sections(read_config(config)),
                        {.folder = folder, .shard = {shard, shards}, .command = "", .control_for = control}));
      }
      CHECK(bytes_of(merge_shards(folder).result) == bytes_of(run_of(config).result));
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("what runs several gammas with one program refuses rules that are made for one") {
  Json config = pair_config("rule-of-gamma", uniform_draft);
  config["experiment"] = "optimal_gamma";
  CHECK(config_error_of([&] { run_of(config); }).find("made for one gamma") != std::string::npos);
}
