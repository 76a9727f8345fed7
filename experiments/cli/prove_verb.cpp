#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/finding_page.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/verify/prove/proof_figures.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "experiments/verify/prove/row_proofs.hpp"
#include "experiments/verify/prove/survey.hpp"

namespace speclab {

namespace {

/// Throws UsageError if an option is given that this way of calling the verb does not read.
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
  for (const std::string& assignment : values.texts("param")) apply_assignment(spec, assignment);
  const Typed<RuleConfig> type = kind_of(rule_family());
  return read(type, spec, "--rule");
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
  const std::filesystem::path folder = page_folder(values);
  const Arithmetic arithmetic = arithmetic_option(values);
  refuse(values, {"instances"}, "one proof");
  const bool wants_optimum = values.has("optimum");
  const auto checked = [&](ProofTask found) {
    check_branches(found, arithmetic, values.given<double>("max-branches"));
    if (wants_optimum) check_optimum(found);
    return found;
  };
  ProofTask task;
  if (values.has("config")) {
    refuse(values, {"rule", "target", "draft", "gamma", "drafts", "lenience", "residual", "param"},
           "a config (use --set)");
    const auto file = values.text("config");
    const auto config = load_config(file, values);
    task = in_file(file, [&] { return checked(proof_task(*config)); });
  } else {
    refuse(values, {"set", "seed"}, "--rule");
    task = checked(task_of_options(values));
  }
  constexpr double unsaid_seconds = 10;
  if (const BranchCost cost = branch_cost(task, arithmetic); cost.seconds > unsaid_seconds) {
    fmt::print(stderr, "{}\n", cost_words(cost));
  }
  Proof proof = prove(task, arithmetic);
  if (wants_optimum) proof.optimum = optimum_of(task, arithmetic);
  show_finding(values, folder, fmt::format("Is {} lossless?", proof.rule.name()), proof, proof_text,
               proof_headline, proof_figures, values.given("config").value_or(""));
  return proof.lossless ? exit_ok : exit_failed_check;
}

int prove_recording(const Values& values) {
  const std::filesystem::path folder = page_folder(values);
  refuse(values, {"config", "target", "draft", "gamma", "set", "seed", "instances", "optimum"},
         "--recording");
  const auto file = values.text("recording");
  const RowProofs proofs = prove_rows(read_top_rows(file), rule_of(values), arithmetic_option(values),
                                      values.given<double>("max-branches"));
  show_finding(values, folder, fmt::format("Is {} lossless on rows of real contexts?", proofs.rule.name()),
               proofs, row_proofs_text, row_proofs_headline, nullptr, file);
  return proofs.lossless == proofs.contexts ? exit_ok : exit_failed_check;
}

int prove_every(const Values& values) {
  const std::filesystem::path folder = page_folder(values);
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
  if (survey.partial) return interrupted_exit("nothing is proved of every rule");
  show_finding(values, folder, "Which rules are lossless?", survey, survey_text, survey_headline,
               survey_figures);
  return survey.as_expected ? exit_ok : exit_failed_check;
}

int prove_main(const Values& values) {
  if (values.has("all")) return prove_every(values);
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
       speclab prove --all [--instances N] [--seed S] [--optimum] [--json])",
      .about =
          R"(Is a rule lossless? Follows every branch of one round (drafts, acceptances, replacement, bonus),
completes it with plain decoding, and compares the joint distribution of gamma + 1 tokens with that
of plain decoding. With --exact in rational arithmetic: a proof for these rows. ROWS are decimals
or fractions (.5,.3,.2 or 1/3,2/3) of sum 1; several rows, one per last token, are separated by ";". A config
brings its own models, rule and gamma; a number of a config stands for the shortest decimal of its
double. Where all rows that were read are alike, as with one row each, a rule that reads those of
another position would not be found out: it must be lossless as well on rows that differ by the
last token. After token x > 0 the weights of a row over V tokens are multiplied by 1, 2, ..., V,
moved on by x ids and normalised. --recording proves one step in every context of a recording
with rows (speclab record --top-k): rows of real models, cut to their largest probabilities and
normalised. --all runs every rule on random instances (zeros, point
masses, equal and disjoint rows; vocabularies 2 to 4, gamma and drafts 1 to 3), always exactly.
--optimum solves a linear program over all ways to emit tokens given what was drafted: the most
tokens that any lossless scheme emits in a round. The solver's basis is checked in fractions, so that
the number is proved; where it is not, the bound that is proved stands beside it. With --all, what
part of it each lossless rule emits.

Results, by their names in --json: rule, gamma, target and draft (the rows that the numbers are
about, up to 10,000 numbers), context, rows (whether they are the given ones), lossless, tv (total variation between the
distributions), acceptance (P[a token is accepted at the first position]), optimal_transport_bound
(the largest acceptance of any lossless rule there, with candidates drawn so), expected_accepted,
expected_emitted, rejection (P[the round ends in a rejection]), optimum (with --optimum), counterexample (the sequence with
the largest error), distribution and target_distribution (up to 10,000 sequences), branches,
arithmetic.
Exit code: 0 lossless (with --all: every rule as expected), 1 not, 2 unusable.)",
      .examples =
          R"(  speclab prove --rule token --target .5,.3,.2 --draft .1,.3,.6 --exact
  speclab prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact
  speclab prove --rule lenient --lenience .5 --target .5,.3,.2 --draft .1,.3,.6
  speclab prove --rule recursive --drafts 3 --target .5,.3,.2 --draft .1,.3,.6 --optimum
  speclab prove configs/prove_markov.json --exact
  speclab prove --rule block --recording configs/recorded/austen_rows.jsonl --exact
  speclab prove --all --instances 200 --seed 1
)",
      .positional = "config",
      .optional_positional = true,
      .run = prove_main};
  verb.add<std::string>("rule", "its name (see speclab list)");
  verb.add<std::string>("target", "the target's rows");
  verb.add<std::string>("draft", "the draft's rows");
  verb.add<std::string>("recording", "JSON lines with the largest probabilities of both rows");
  verb.add<int>("gamma", "drafted positions, 0 to 64 (default 1)");
  verb.add<int>("drafts", "drafts for each position, of rules for several");
  verb.add<double>("lenience", "l in (0, 1], of lenient rules");
  verb.add<std::string>("residual", "of lenient: target_minus_draft, literal, target");
  verb.add<Words>("param", "name=value: any other parameter of the rule");
  verb.add("exact", "rational arithmetic; results are fractions");
  verb.add("optimum", "also the most tokens that any lossless scheme emits given what the rule drafts");
  verb.add<double>("max-branches", "largest number of branches to follow");
  verb.add("all", "every rule on random instances");
  verb.add<int>("instances", "with --all (default 200)");
  verb.add<std::int64_t>("seed", "of the instances (default 1), or instead of the config's");
  add_thread_option(verb, "threads of --all");
  add_set_option(verb, "path=value: change the config");
  verb.add("json", "print JSON");
  add_page_option(verb);
  return verb;
}

}  // namespace speclab
