#include "experiments/verbs/verb.hpp"

#include <fmt/format.h>

#include <sstream>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"

namespace speclab {

namespace po = boost::program_options;

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"run", "run one experiment from a config file", run_verb},
      {"reproduce", "redraw the paper's tables and figures, and say which printed numbers reproduce",
       reproduce_verb},
      {"sweep", "run a config over a grid of values", sweep_verb},
      {"compare", "drafters x gamma policies x tasks of real text, in one table and chart", compare_verb},
      {"predict", "closed forms for an acceptance rate: tokens, speed, operations, the optimal gamma",
       predict_verb},
      {"plan",
       "choose drafter, gamma and server settings from an acceptance rate, a log or models, and costs",
       plan_verb},
      {"prove", "decide exactly whether a verifier is lossless, by following every branch", prove_verb},
      {"check", "test that speculative decoding, or a GPU kernel, has the target's law", check_verb},
      {"exact", "exact values for models with context, beside the i.i.d. formulas and a simulation",
       exact_verb},
      {"bench", "measure the speed of the simulator or of GPU kernels, beside what the machine allows",
       bench_verb},
      {"list", "what there is: models, drafters, verifiers, policies, experiments", list_verb},
      {"validate", "check a config without running it", validate_verb},
      {"schema", "the config format as JSON Schema", schema_verb},
      {"version", "what this program was built from", version_verb}};
  return all;
}

bool about_kernels(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments.front() == "kernels";
}

std::optional<po::variables_map> parse(Usage& usage, const std::vector<std::string>& arguments) {
  usage.options.add_options()("help,h", "this text");
  po::options_description all;
  all.add(usage.options);
  po::positional_options_description positions;
  if (!usage.positional.empty()) {
    all.add_options()(usage.positional.c_str(), po::value<std::string>());
    positions.add(usage.positional.c_str(), 1);
  }
  po::variables_map values;
  // Abbreviations are refused: a later option could change what they mean.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::store(po::command_line_parser(arguments).options(all).positional(positions).style(style).run(), values);
  if (values.count("help") > 0) {
    std::ostringstream options;
    options << usage.options;
    fmt::print("usage: {}\n\n{}\n\n{}\nExamples:\n{}", usage.line, usage.about, options.str(),
               usage.examples);
    return std::nullopt;
  }
  po::notify(values);
  if (!usage.positional.empty() && !usage.optional_positional && values.count(usage.positional) == 0) {
    throw UsageError(fmt::format("missing {}\nusage: {}", usage.positional, usage.line));
  }
  return values;
}

void add_config_options(po::options_description& options) {
  options.add_options()("seed", po::value<std::int64_t>(), "seed, instead of the config's")(
      "threads", po::value<int>()->default_value(0), "threads; 0: all cores. Results do not depend on it")(
      "set", po::value<std::vector<std::string>>()->composing(),
      "path=value: change the config, e.g. gamma=3; path=null: leave it out");
}

void add_run_options(po::options_description& options) {
  options.add_options()("out", po::value<std::string>(),
                        "folder for the results (default: out/<config's name>)");
  add_config_options(options);
  options.add_options()("json", "print result.json to standard output instead of a table")(
      "quiet,q", "no table, no progress")(
      "force", "overwrite the results of another config, or of an interrupted run");
}

void add_backend_option(po::options_description& options) {
  options.add_options()("backend", po::value<std::string>()->default_value("cpu"),
                        "cpu or cuda: where rounds are simulated. Results do not depend on it");
}

int thread_option(const po::variables_map& values) {
  const int threads = values["threads"].as<int>();
  if (threads < 0) throw UsageError(fmt::format("--threads {}: expected 0 (all cores) or more", threads));
  return threads;
}

std::string set_arguments(const po::variables_map& values) {
  std::string arguments;
  if (values.count("set") == 0) return arguments;
  for (const auto& set : values["set"].as<std::vector<std::string>>()) arguments += " --set " + set;
  return arguments;
}

Json load_config(const std::string& file, const po::variables_map& values) {
  return in_file(file, [&] {
    Json document = parse_json(read_text(file));
    if (!document.is_object()) throw ConfigError("/", "a config is an object, { ... }");
    if (values.count("seed") > 0) document["seed"] = values["seed"].as<std::int64_t>();
    if (values.count("set") > 0) {
      for (const std::string& assignment : values["set"].as<std::vector<std::string>>()) {
        apply_assignment(document, assignment);
      }
    }
    return document;
  });
}

}  // namespace speclab
