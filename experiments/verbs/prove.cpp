#include <fmt/format.h>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/output.hpp"
#include "experiments/proof.hpp"
#include "experiments/proof_survey.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;
using Values = po::variables_map;

Usage usage() {
  Usage usage{
      .line =
          "speclab prove --verifier NAME --target ROWS --draft ROWS [options]\n"
          "       speclab prove CONFIG.json [options]\n"
          "       speclab prove --all [--instances N] [--seed S] [--json]",
      .about =
          "Is a verifier lossless? Follows every branch of one round (drafts, coins, replacement, bonus), "
          "fills\n"
          "up with the target, and compares the joint law of gamma + 1 tokens with plain decoding's. With "
          "--exact\n"
          "in rational arithmetic: a proof for these rows. ROWS are decimals or fractions (.5,.3,.2 or "
          "1/3,2/3);\n"
          "several rows, one per last token, are separated by \";\". A config brings its own models, "
          "verifier and\n"
          "gamma. --all runs every verifier on random instances (zeros, point masses, equal and disjoint "
          "rows;\n"
          "vocabularies 2 to 4, gamma and drafts 1 to 3), always exactly.\n"
          "\n"
          "Findings, by their names in --json: verifier, gamma, lossless, tv (total variation between the "
          "laws),\n"
          "acceptance (a token is kept at the first position), optimum (the most that any lossless rule can "
          "reach\n"
          "there with candidates drawn so), expected_accepted, expected_emitted, rejection (the round ends "
          "in one),\n"
          "counterexample (the sequence with the largest error), law, target_law (null above 10,000 "
          "sequences),\n"
          "branches, arithmetic.\n"
          "Exit code: 0 lossless (with --all: every verifier keeps its promise), 1 not, 2 unusable.",
      .examples =
          "  speclab prove --verifier token --target .5,.3,.2 --draft .1,.3,.6 --exact\n"
          "  speclab prove --verifier block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact\n"
          "  speclab prove --verifier lenient --lenience .5 --target .5,.3,.2 --draft .1,.3,.6\n"
          "  speclab prove --verifier recursive --drafts 3 --target .5,.3,.2 --draft .1,.3,.6\n"
          "  speclab prove configs/prove_markov.json --exact\n"
          "  speclab prove --all --instances 200 --seed 1\n",
      .positional = "config",
      .optional_positional = true};
  usage.options.add_options()("verifier", po::value<std::string>(), "its name (see speclab list)")(
      "target", po::value<std::string>(), "the target's rows")(
      "draft", po::value<std::string>(), "the draft's rows")("gamma", po::value<int>(),
                                                             "drafted positions, 0 to 64 (default 1)")(
      "drafts", po::value<int>(), "drafts for each position, of verifiers for several")(
      "lenience", po::value<double>(), "l in (0, 1], of lenient verifiers")(
      "residual", po::value<std::string>(), "of lenient: target_minus_draft, literal, target")(
      "param", po::value<std::vector<std::string>>()->composing(),
      "name=value: any other parameter of the verifier")(
      "exact", "rational arithmetic; results are fractions")("max-branches", po::value<double>(),
                                                             "follow up to so many branches")(
      "all", "every verifier on random instances")("instances", po::value<int>(), "with --all (default 200)")(
      "seed", po::value<std::int64_t>(), "of the instances (default 1), or instead of the config's")(
      "threads", po::value<int>()->default_value(0),
      "threads of --all; 0: all cores. Results do not depend on it")(
      "set", po::value<std::vector<std::string>>()->composing(), "path=value: change the config")(
      "json", "print JSON");
  return usage;
}

/// Throws when an option is given that the chosen way of calling does not read.
void refuse(const Values& values, std::initializer_list<const char*> options, const char* way) {
  for (const char* option : options) {
    if (values.count(option) > 0) {
      throw UsageError(fmt::format("--{} does not go with {}; see speclab prove --help", option, way));
    }
  }
}

const std::string& needed(const Values& values, const char* option) {
  if (values.count(option) == 0) {
    throw UsageError(fmt::format(
        "missing --{}; give --verifier, --target and --draft, or a CONFIG.json, or --all", option));
  }
  return values[option].as<std::string>();
}

Json verifier_of(const Values& values) {
  Json spec{{"kind", needed(values, "verifier")}};
  if (values.count("drafts") > 0) spec["drafts"] = values["drafts"].as<int>();
  if (values.count("lenience") > 0) spec["lenience"] = values["lenience"].as<double>();
  if (values.count("residual") > 0) spec["residual"] = values["residual"].as<std::string>();
  if (values.count("param") > 0) {
    Json parameters = Json::object();
    for (const std::string& assignment : values["param"].as<std::vector<std::string>>()) {
      apply_assignment(parameters, assignment);
    }
    spec.update(parameters);
  }
  return resolve_kind(spec, verifier_family(), "--verifier");
}

ProofTask task_of_options(const Values& values) {
  ProofTask task;
  task.verifier = verifier_of(values);
  task.target = parse_rows(needed(values, "target"), "--target");
  task.draft = parse_rows(needed(values, "draft"), "--draft");
  if (task.target.front().size() != task.draft.front().size()) {
    throw UsageError(fmt::format("--target has {} tokens and --draft {}; rows are over one vocabulary",
                                 task.target.front().size(), task.draft.front().size()));
  }
  constexpr int largest_gamma = 64;
  if (values.count("gamma") > 0) task.gamma = values["gamma"].as<int>();
  if (task.gamma < 0 || task.gamma > largest_gamma) {
    throw UsageError(fmt::format("--gamma {}: expected 0 to {}", task.gamma, largest_gamma));
  }
  return task;
}

int prove_one(const Values& values) {
  const bool exact = values.count("exact") > 0;
  const bool from_config = values.count("config") > 0;
  ProofTask task;
  if (from_config) {
    refuse(values, {"verifier", "target", "draft", "gamma", "drafts", "lenience", "residual", "param"},
           "a config (use --set)");
    const auto file = values["config"].as<std::string>();
    const Json config = load_config(file, values);
    task = in_file(file, [&] { return proof_task(resolve(config)); });
  } else {
    refuse(values, {"set", "seed"}, "--verifier");
    task = task_of_options(values);
  }
  refuse(values, {"instances"}, "one proof");
  check_branches(
      task, values.count("max-branches") > 0 ? values["max-branches"].as<double>() : branch_limit(exact));
  const Json proof = prove(task, exact);
  if (values.count("json") > 0) {
    fmt::print("{}\n", proof.dump(1));
  } else {
    fmt::print("{}", proof_text(proof));
  }
  return proof.at("lossless").get<bool>() ? exit_ok : exit_failed_check;
}

int prove_every(const Values& values) {
  refuse(values,
         {"config", "verifier", "target", "draft", "gamma", "drafts", "lenience", "residual", "param", "set",
          "max-branches"},
         "--all");
  constexpr int most_instances = 1000000;
  const int instances = values.count("instances") > 0 ? values["instances"].as<int>() : 200;
  if (instances < 1 || instances > most_instances) {
    throw UsageError(fmt::format("--instances {}: expected 1 to {}", instances, most_instances));
  }
  const std::int64_t seed = values.count("seed") > 0 ? values["seed"].as<std::int64_t>() : 1;
  if (seed < 0) throw UsageError(fmt::format("--seed {}: expected 0 or more", seed));
  const ThreadLimit limit(thread_option(values));
  Progress progress("prove --all", surveyed_verifiers().size() * static_cast<std::size_t>(instances));
  const Control control{.stop = [] { return interrupted(); },
                        .progress = [&](std::uint64_t steps) { progress.advance(steps); }};
  const Json survey =
      prove_all(static_cast<std::uint32_t>(instances), static_cast<std::uint64_t>(seed), control);
  if (survey.at("partial").get<bool>()) {
    fmt::print(stderr, "interrupted: nothing is proved of every verifier\n");
    return exit_interrupted;
  }
  if (values.count("json") > 0) {
    fmt::print("{}\n", survey.dump(1));
  } else {
    fmt::print("{}", survey_text(survey));
  }
  return survey.at("kept").get<bool>() ? exit_ok : exit_failed_check;
}

}  // namespace

int prove_verb(const std::vector<std::string>& arguments) {
  Usage how = usage();
  const auto values = parse(how, arguments);
  if (!values) return exit_ok;
  return values->count("all") > 0 ? prove_every(*values) : prove_one(*values);
}

}  // namespace speclab
