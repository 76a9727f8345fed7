#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/finding_page.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "experiments/verify/prove/request_faults.hpp"
#include "experiments/verify/prove/request_survey.hpp"
#include "experiments/verify/prove/row_proofs.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

namespace {

/// Throws UsageError for an option that this way of calling the verb does not read.
void refuse(const Values& values, std::initializer_list<const char*> options, const char* way) {
  for (const char* option : options) {
    if (values.has(option)) {
      throw UsageError("--{} does not go with {}; see speclab prove --help", option, way);
    }
  }
}

const std::string& needed(const Values& values, const char* option) {
  if (!values.has(option)) {
    throw UsageError("missing --{}; give --rule, --target and --draft, or a CONFIG.json, or --all", option);
  }
  return values.text(option);
}

RuleConfig rule_of(const Values& values) {
  Json spec{{"kind", needed(values, "rule")}};
  if (const auto drafts = values.given<int>("drafts")) spec["drafts"] = *drafts;
  if (const auto lenience = values.given<double>("lenience")) spec["lenience"] = *lenience;
  if (const auto residual = values.given("residual")) spec["residual"] = *residual;
  for (const std::string& assignment : values.texts("param")) {
    const std::size_t first = assignment.starts_with('/') ? 1 : 0;
    if (const std::string key = assignment.substr(first, assignment.find_first_of("=./", first) - first);
        spec.contains(key))
      throw UsageError("--param {}: {} is given twice", assignment, key);
    apply_assignment(spec, assignment);
  }
  return read(kind_of(rule_family()), spec, "--rule");
}

ProofTask task_of_options(const Values& values) {
  ProofTask task;
  task.rule = rule_of(values);
  task.target = parse_rows(needed(values, "target"), "--target");
  task.draft = parse_rows(needed(values, "draft"), "--draft");
  if (task.target.front().size() != task.draft.front().size()) {
    throw UsageError("--target has {} tokens and --draft {}; rows are over one vocabulary",
                     task.target.front().size(), task.draft.front().size());
  }
  constexpr int largest_gamma = 64;
  if (values.has("gamma")) task.gamma = ranged_option(values, "gamma", 0, largest_gamma);
  return task;
}

Arithmetic arithmetic_option(const Values& values) {
  return values.has("exact") ? Arithmetic::rational : Arithmetic::floating_point;
}

int prove_one(const Values& values) {
  const auto lock = page_lock(values);
  const Arithmetic arithmetic = arithmetic_option(values);
  refuse(values, {"instances"}, "one proof");
  const bool wants_optimum = values.has("optimum");
  const auto checked = [&](ProofTask found) {
    found.max_branches = values.given<double>("max-branches");
    check_branches(found, arithmetic);
    if (wants_optimum) check_optimum(found);
    return found;
  };
  ProofTask task;
  std::shared_ptr<const Config> config;
  if (values.has("config")) {
    refuse(values, {"rule", "target", "draft", "gamma", "drafts", "lenience", "residual", "param"},
           "a config (use --set)");
    const auto file = values.text("config");
    config = load_config(file, values);
    task = in_file(file, [&] { return checked(proof_task(*config)); });
  } else {
    refuse(values, {"set", "seed"}, "--rule");
    task = checked(task_of_options(values));
  }
  constexpr double unsaid_seconds = 10;
  if (const BranchCost cost = branch_cost(task, arithmetic); cost.seconds > unsaid_seconds)
    print_error(cost_words(cost));
  Proof proof = in_file(values.given("config").value_or(""), [&] { return prove(task, arithmetic); });
  task.context = proof.context;
  if (wants_optimum) proof.optimum = optimum_of(task, arithmetic);
  show_finding(values, finding_of(fmt::format("Is {} lossless?", proof.rule.name()), proof, proof_text,
                                  proof_headline, proof_figures, config));
  return proof.lossless ? exit_ok : exit_failed_check;
}

int prove_recording(const Values& values) {
  const auto lock = page_lock(values);
  refuse(values, {"config", "target", "draft", "gamma", "set", "seed", "instances", "optimum"},
         "--recording");
  const auto file = values.text("recording");
  const RowProofs proofs = prove_rows(read_top_rows(file), rule_of(values), arithmetic_option(values),
                                      values.given<double>("max-branches"));
  show_finding(values, finding_of(fmt::format("Is {} lossless on rows of real contexts?", proofs.rule.name()),
                                  proofs, row_proofs_text, row_proofs_headline, nullptr, {}, {file}));
  return proofs.lossless == proofs.contexts ? exit_ok : exit_failed_check;
}

int prove_every(const Values& values) {
  const auto lock = page_lock(values);
  refuse(values,
         {"config", "recording", "rule", "target", "draft", "gamma", "drafts", "lenience", "residual",
          "param", "set", "max-branches"},
         "--all");
  constexpr int max_instances = 1000000;
  const int instances = values.has("instances") ? ranged_option(values, "instances", 1, max_instances) : 200;
  const std::int64_t seed = values.given<std::int64_t>("seed").value_or(1);
  if (seed < 0) throw UsageError("--seed {}: expected 0 or more", seed);
  const ThreadLimit limit(thread_option(values));
  TerminalWatch watch("prove --all", false);
  const Control control = watch.control(survey_tasks().size() * static_cast<std::size_t>(instances));
  const Survey survey = prove_all(static_cast<std::uint32_t>(instances), static_cast<std::uint64_t>(seed),
                                  values.has("optimum"), control);
  if (survey.partial) return interrupted_exit("no rule was proved");
  show_finding(values,
               finding_of("Which rules are lossless?", survey, survey_text, survey_headline, survey_figures));
  return survey.as_expected ? exit_ok : exit_failed_check;
}

int prove_requests(const Values& values) {
  const auto lock = page_lock(values);
  refuse(values,
         {"recording", "rule", "target", "draft", "gamma", "drafts", "lenience", "residual", "param",
          "optimum", "instances", "exact", "max-branches"},
         "--requests");
  if (!values.has("config")) throw UsageError("--requests: missing CONFIG.json, whose rows it filters");
  const auto file = values.text("config");
  const auto config = load_config(file, values);
  const RequestSurvey survey = in_file(file, [&] {
    const auto tokens = config->section<ProveSection>().tokens.value_or(2 * config->gamma + 2);
    return survey_requests(proof_task(*config), static_cast<std::size_t>(tokens));
  });
  show_finding(values, finding_of("Are requests with penalties and filters lossless?", survey,
                                  request_survey_text, request_survey_headline, nullptr, config));
  return survey.as_expected ? exit_ok : exit_failed_check;
}

int prove_main(const Values& values) {
  if (values.has("all")) return prove_every(values);
  if (values.has("requests")) return prove_requests(values);
  return values.has("recording") ? prove_recording(values) : prove_one(values);
}

}  // namespace

Verb prove_verb() {
  Verb verb{
      .name = "prove",
      .sentence = "decide exactly whether a rule is lossless, by following every branch",
      .line =
          R"(speclab prove --rule NAME --target ROWS --draft ROWS [options]
       speclab prove CONFIG.json [options]
       speclab prove --rule NAME --recording ROWS.jsonl [options]
       speclab prove CONFIG.json --requests [--json]
       speclab prove --all [--instances N] [--seed S] [--optimum] [--json])",
      .about =
          R"(Decides whether a rule is lossless. It follows every branch of one round (drafts, acceptances, replacement,
bonus), completes it from the target, and compares the joint distribution of gamma + 1 tokens with the
target's. With --exact it uses rational arithmetic, so that the result is a proof for these rows.
If rows depend on the last tokens, it does so from each context that decoding reaches, or from as many as
--max-branches allows.

ROWS are decimals or fractions that sum to 1 (.5,.3,.2 or 1/3,2/3); ";" separates several rows, one for each
last token. A config brings its own models, rule and gamma; prove reads each of its numbers as the shortest
decimal of the double. Identical rows cannot reveal a rule that reads the row of another position, so prove
also tries rows that differ by the last token: after token x > 0 it multiplies the V weights of a row by
1, 2, ..., V, shifts them by x ids and normalises them.

Sampling options that depend on emitted tokens (penalties, min_tokens, grammar) are proved over several
rounds, up to prove.tokens tokens, over which means are taken: every row counts the tokens before it.
prove.fault plants an engine's mistake about that.
Filtered rows are computed in double precision; with --exact the proof is about these doubles, as fractions.
--requests tries each option in each engine's order, each fault, and other rows of the draft, on the rows of a
config.

--recording proves one step in every context of a recording with rows (speclab record --top-k). These rows of
real models are cut to their largest probabilities and normalised.
--all proves every rule on random instances, always exactly: zeros, point masses, equal and disjoint rows;
vocabularies of 2 to 4 tokens, gamma and drafts from 1 to 3.
--optimum finds the most tokens that any lossless scheme can emit in a round from the same drafts, by a linear
program. The solution is checked in fractions; if the check fails, the proved bound is printed beside it.
With --all it prints the share of this optimum that each lossless rule emits.

The names in --json are: rule, gamma, target and draft (the rows that the numbers describe, up to 10,000
numbers), context, contexts and all_contexts (from how many a round was followed, and whether from all), rows
(whether they are the given ones), fault (the planted one), forced (the share of the compared tokens that the
grammar determines), lossless, tv (total variation between the distributions), tv_in_doubles (if rounding
decided a tie there), acceptance (P[a token is accepted at the first position]), optimal_transport_bound (the
largest acceptance of any lossless rule there with the same candidates), expected_accepted, expected_emitted,
rejection (P[the round ends in a rejection]), optimum (with --optimum), counterexample (the sequence with the
largest error), distribution and target_distribution (up to 10,000 sequences), branches, arithmetic.
Exit code: 0 lossless (with --all: every rule as expected), 1 not lossless, 2 bad input.)",
      .examples =
          R"(  speclab prove --rule token --target .5,.3,.2 --draft .1,.3,.6 --exact
  speclab prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact
  speclab prove --rule lenient --lenience .5 --target .5,.3,.2 --draft .1,.3,.6
  speclab prove --rule recursive --drafts 3 --target .5,.3,.2 --draft .1,.3,.6 --optimum
  speclab prove configs/prove_markov.json --exact
  speclab prove configs/prove_requests.json --set prove.fault=bonus-only
  speclab prove configs/prove_requests.json --requests
  speclab prove --rule block --recording configs/recorded/austen_rows.jsonl --exact
  speclab prove --all --instances 200 --seed 1
)",
      .positional = "config",
      .optional_positional = true,
      .run = prove_main};
  verb.section("Rule");
  verb.add<std::string>("rule NAME", "name of the rule (speclab list rules)");
  verb.add<int>("drafts", "drafts for each position, for rules that take several");
  verb.add<double>("lenience", "l in (0, 1], for lenient rules");
  verb.add<std::string>("residual NAME", "for lenient: target_minus_draft, literal or target");
  verb.add<Words>("param NAME=VALUE", "any other parameter of the rule");
  verb.section("Rows");
  verb.add<std::string>("target ROWS", "rows of the target");
  verb.add<std::string>("draft ROWS", "rows of the draft");
  verb.add<int>("gamma", "drafted positions, 0 to 64 (default 1)");
  verb.add<std::string>("recording FILE", "JSON lines with the largest probabilities of both rows");
  add_set_option(verb, "change the config");
  verb.add("requests", "try every sampling option, order of filters and fault on the config's rows");
  verb.section("Proof");
  verb.add("exact", "use rational arithmetic; results are fractions");
  verb.add("optimum", "also compute the most tokens that any lossless scheme emits from these drafts");
  verb.add<double>("max-branches", "largest number of branches to follow");
  verb.section("All rules");
  verb.add("all", "prove every rule on random instances");
  verb.add<int>("instances", "random instances with --all (default 200)");
  verb.add<std::int64_t>("seed", "seed of the instances (default 1), or instead of the config's");
  add_thread_option(verb, "threads of --all");
  verb.section("Output");
  verb.add("json", "print JSON");
  add_page_option(verb);
  return verb;
}

}  // namespace speclab
