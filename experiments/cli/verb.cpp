#include "experiments/cli/verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/run/config.hpp"
#include "experiments/support/data_files.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "experiments/support/printable.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

void print_help() {
  fmt::print("speclab: a laboratory for speculative decoding\n\nusage: speclab VERB [arguments]\n\nVerbs:\n");
  for (const Verb& verb : verbs()) fmt::print("  {:<15}{}\n", verb.name, verb.sentence);
  fmt::print(R"(
"speclab help VERB" or "speclab VERB --help" explains one; "speclab list" names what configs may hold, "speclab
config list" the configs that come with the program. Exit codes: 0, 1 for a failed check, 2 for bad input, 130 interrupted.
Example:
  speclab predict --alpha 0.8 --c 0.05
)");
}

int dispatch(std::vector<std::string> words) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    print_help();
    return words.empty() ? exit_bad_input : exit_ok;
  }
  if (words[0] == "--version") words[0] = "version";
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (verb.name == words[0]) return verb.run({words.begin() + 1, words.end()});
    names.emplace_back(verb.name);
  }
  throw UsageError(fmt::format("unknown verb \"{}\"{}", words[0], suggestion(words[0], names)));
}

/// Where `parse` puts the usage of a verb instead of parsing; null for the usual.
thread_local VerbHelp* asked_help = nullptr;

/// What --set changed of what is decoded, as it was typed; empty when nothing, and when it names the title
/// itself. The size of a run and how it is shown are no part of a title.
std::string changes_of(const std::vector<std::string>& assignments) {
  static const std::set<std::string> elsewhere{"about",      "source",       "seed",    "simulation",
                                               "confidence", "simultaneous", "engine",  "sweep",
                                               "cases",      "metrics",      "figures", "input_rounding"};
  std::string changed;
  for (const std::string& assignment : assignments) {
    const std::string path = assignment.substr(assignment.front() == '/' ? 1 : 0);
    const std::string section = path.substr(0, path.find_first_of("./="));
    if (section == "title") return "";
    if (!elsewhere.contains(section)) changed += (changed.empty() ? "" : ", ") + assignment;
  }
  return changed;
}

/// The values of a JSON document that are this text.
void replace_text(Json& value, const std::string& from, const std::string& to) {
  if (value.is_string() && value.get_ref<const std::string&>() == from) {
    value = to;
  } else if (value.is_structured()) {
    for (Json& inner : value) replace_text(inner, from, to);
  }
}

/// What may name files in a JSON document: texts with folders.
void add_paths(const Json& value, std::vector<std::string>& paths) {
  if (value.is_string() && value.get_ref<const std::string&>().find('/') != std::string::npos)
    paths.push_back(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const Json& inner : value) add_paths(inner, paths);
}

/// Files are looked for in the working folder, beside the config, and among those that come with the program.
/// What varies from cell to cell has no types yet: a path there is one of a file if there is such a file.
Config with_files_found(Config config, const std::filesystem::path& file) {
  std::vector<std::string> named;
  config_type().type->add_input_files(&config, named);
  Json input = *config.input;
  for (const char* const varied : {"sweep", "cases"}) {
    if (input.contains(varied)) add_paths(input[varied], named);
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  bool moved = false;
  for (const std::string& one : named) {
    std::error_code ignored;
    if (one.empty() || std::filesystem::exists(one, ignored)) continue;
    const std::filesystem::path beside = (file.parent_path() / one).lexically_normal();
    const std::filesystem::path found = std::filesystem::exists(beside, ignored) ? beside : data_file(one);
    if (found == one) continue;
    replace_text(input, one, found.string());
    moved = true;
  }
  return moved ? read_config(input) : config;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  // A file that grows beyond its limit is an error like a full disk, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  const InterruptGuard guard(exit_interrupted);
  std::string message;
  try {
    const int code = dispatch(words);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw std::runtime_error("the standard output cannot be written: the device is full, or was closed");
    }
    return code;
  } catch (const Stopped&) {
    fmt::print(stderr, "interrupted; the same command begins again\n");
    return exit_interrupted;
  } catch (const ConfigError& error) {
    message = error.sentence();
  } catch (const po::error& error) {
    message = fmt::format("{} (see speclab {} --help)", error.what(), words[0]);
  } catch (const std::bad_alloc&) {
    constexpr double gigabyte = 1e9;
    const std::optional<double> left = available_memory();
    message = fmt::format(
        "out of memory after {:.3g} GB{}: make what was asked for smaller (fewer cells, trials, samples, "
        "tokens or threads)",
        static_cast<double>(peak_memory()) / gigabyte,
        left ? fmt::format(", with {:.3g} GB left", *left / gigabyte) : "");
  } catch (const std::exception& error) {
    message = error.what();
  }
  fmt::print(stderr, "error: {}\n", printable(message));
  return exit_bad_input;
}

VerbHelp help_of(const Verb& verb) {
  VerbHelp help;
  asked_help = &help;
  try {
    verb.run({});
  } catch (...) {
    asked_help = nullptr;
    throw;
  }
  asked_help = nullptr;
  return help;
}

std::optional<po::variables_map> parse(Usage& usage, const std::vector<std::string>& arguments) {
  usage.options.add_options()("help,h", "this text");
  if (asked_help != nullptr) {
    *asked_help = {usage.line, usage.about, usage.examples, {}};
    for (const auto& option : usage.options.options()) {
      asked_help->options.push_back(
          {"--" + option->long_name(), option->description(), option->semantic()->max_tokens() > 0});
    }
    return std::nullopt;
  }
  po::options_description all;
  all.add(usage.options);
  po::positional_options_description positions;
  if (!usage.positional.empty()) {
    if (usage.several_positional) {
      all.add_options()(usage.positional.c_str(), po::value<std::vector<std::string>>());
    } else {
      all.add_options()(usage.positional.c_str(), po::value<std::string>());
    }
    positions.add(usage.positional.c_str(), usage.several_positional ? -1 : 1);
  }
  po::variables_map values;
  // Abbreviations are refused: a later option could change what they mean.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::store(po::command_line_parser(arguments).options(all).positional(positions).style(style).run(), values);
  if (values.count("help") > 0) {
    std::ostringstream options;
    options << usage.options;
    const char* const end = usage.about.ends_with('\n') ? "" : "\n";
    fmt::print("usage: {}\n\n{}{}\n{}\nExamples:\n{}", usage.line, usage.about, end, options.str(),
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
  options.add_options()(
      "out", po::value<std::string>(),
      "folder for the results (default: out/<config's name>, and what --set and --seed change)");
  add_config_options(options);
  options.add_options()("json", "print result.json to standard output instead of a table")(
      "quiet,q", "no table, no progress")(
      "shard", po::value<std::string>(),
      "I/N: run this part of the work only, into the folder's shards/; speclab merge puts them together")(
      "force", "overwrite the results of another config, or of an interrupted run")(
      "resume", po::value<std::string>()->default_value("auto"),
      "auto goes on with an interrupted run when config, version and input files are as they were, else "
      "starts "
      "anew; require refuses to start anew");
  add_csv_option(options);
}

void add_csv_option(po::options_description& options) {
  options.add_options()("csv-marked",
                        "results.csv for spreadsheets: text that they would run (=, +, -, @) begins with '");
}

CsvText csv_option(const po::variables_map& values) {
  return values.count("csv-marked") > 0 ? CsvText::marked : CsvText::as_it_is;
}

void add_backend_option(po::options_description& options) {
  options.add_options()("backend", po::value<std::string>()->default_value("cpu"),
                        "cpu or cuda: where rounds are simulated. Results do not depend on it");
}

int thread_option(const po::variables_map& values) {
  // Each takes a stack and tables of its own.
  constexpr int most = 4096;
  const int threads = values["threads"].as<int>();
  if (threads < 0 || threads > most) {
    throw UsageError(fmt::format("--threads {}: expected 0 (all cores) to {}", threads, most));
  }
  return threads;
}

std::string set_arguments(const po::variables_map& values) {
  std::string arguments;
  if (values.count("set") == 0) return arguments;
  for (const auto& set : values["set"].as<std::vector<std::string>>())
    arguments += " " + shell_line(option_words("--set", set));
  return arguments;
}

Config load_config(const std::string& file, const po::variables_map& values, std::vector<RenamedUse>* uses) {
  std::vector<RenamedUse> found;
  // "configs/first.json" also means the one that comes with the program.
  const std::filesystem::path found_file = data_file(file);
  const auto present = [&found](const std::string& path) {
    const std::string now = with_present_names(path);
    if (now != path) found.push_back({"--set", path, now});
    return now;
  };
  Config config = in_file(file, [&] {
    Json document = parse_json(read_text(found_file));
    if (!document.is_object()) throw ConfigError("/", "a config is an object, { ... }");
    document = with_present_names(document, found);
    if (values.count("seed") > 0) document["seed"] = values["seed"].as<std::int64_t>();
    if (values.count("set") > 0) {
      const auto& assignments = values["set"].as<std::vector<std::string>>();
      for (const std::string& assignment : assignments) apply_assignment(document, assignment, present);
      // A title describes the config as it was written.
      const std::string changed = changes_of(assignments);
      if (!changed.empty() && document.contains("title") && document["title"].is_string()) {
        constexpr std::size_t longest = 200;
        document["title"] =
            fmt::format("{}, with {}", document["title"].get<std::string>(), printable(changed, longest));
      }
    }
    return with_files_found(read_config(with_present_names(document, found)), found_file);
  });
  if (uses != nullptr) *uses = std::move(found);
  return config;
}

std::string json_text_of(const void* value, const Type& type) {
  Json json;
  type.write(value, json);
  return json.dump(1);
}

void print_json(const void* value, const Type& type) { fmt::print("{}\n", json_text_of(value, type)); }

void print_json(const Json& json) { fmt::print("{}\n", json.dump(1)); }

}  // namespace speclab
