// A verb of the program: one file each, one line in all_verbs.cpp.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/format/fields.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/run/backend.hpp"

namespace speclab {

struct Config;
struct RunResult;

enum ExitCode { exit_ok = 0, exit_failed_check = 1, exit_bad_input = 2, exit_interrupted = 130 };

struct Verb {
  const char* name;  ///< one word
  const char* sentence;
  int (*run)(const std::vector<std::string>& arguments);
};

/// Every verb, in the order of help; tests and other programs may add some.
std::vector<Verb>& verbs();

/// Runs the verb that the words name, and turns whatever went wrong into one sentence and an exit code.
int run_program(const std::vector<std::string>& words);

/// How one verb is called: its options, its positional argument if any, and the text around them in --help.
struct Usage {
  std::string line;      ///< "speclab run CONFIG.json [options]"
  std::string about;     ///< a raw string, printed as it stands
  std::string examples;  ///< indented lines
  boost::program_options::options_description options{"Options"};
  std::string positional = {};  ///< name of the one positional option; empty for none
  bool optional_positional = false;
  bool several_positional = false;  ///< one or more, a vector
};

/// Parses the arguments; prints the help and returns nothing for --help. Throws UsageError for a missing
/// positional argument and boost::program_options::error for the rest.
std::optional<boost::program_options::variables_map> parse(Usage& usage,
                                                           const std::vector<std::string>& arguments);

/// What --help says of a verb, for completion and the manual page.
struct VerbHelp {
  struct Option {
    std::string name;  ///< with dashes
    std::string sentence;
    bool takes_value = false;
  };
  std::string line;
  std::string about;
  std::string examples;
  std::vector<Option> options;
};
VerbHelp help_of(const Verb& verb);

/// Options of every verb that reads a config: --seed, --threads, --set.
void add_config_options(boost::program_options::options_description& options);
/// Options of verbs that run a config.
void add_run_options(boost::program_options::options_description& options);
/// --backend, of verbs that can run on a GPU.
void add_backend_option(boost::program_options::options_description& options);
/// --csv-marked, of verbs that write results.csv.
void add_csv_option(boost::program_options::options_description& options);
CsvText csv_option(const boost::program_options::variables_map& values);
/// --threads: 0 is all cores. Throws UsageError below 0 and above 4096.
int thread_option(const boost::program_options::variables_map& values);
/// The value of an option that is a number from `least` to `most`, else UsageError.
template <class T = int>
T ranged_option(const boost::program_options::variables_map& values, const char* name, T least, T most) {
  const T value = values[name].as<T>();
  if (value >= least && value <= most) return value;
  throw UsageError(fmt::format("--{} {}: expected {} to {}", name, value, least, most));
}
/// The --set options as they were typed, each after a space: for the command that redraws a figure.
std::string set_arguments(const boost::program_options::variables_map& values);
/// The config of a file with --seed and --set applied; its title says what --set changed. `uses` receives the
/// former names that were replaced.
Config load_config(const std::string& file, const boost::program_options::variables_map& values,
                   std::vector<RenamedUse>* uses = nullptr);

/// A document on standard output.
void print_json(const Json& json);
/// The value that `value` points to, of this type.
void print_json(const void* value, const Type& type);
/// The same as text.
std::string json_text_of(const void* value, const Type& type);
template <class T>
std::string json_text_of(const T& result) {
  return json_text_of(&result, *described<T>().type);
}
template <class T>
void print_json(const T& result, const Typed<T>& type) {
  print_json(&result, *type.type);
}
/// A result on standard output, as JSON or as text.
template <class T, class Text>
void print(const T& result, const Typed<T>& type, bool as_json, const Text& text_of) {
  if (as_json) return print_json(result, type);
  fmt::print("{}", text_of(result));
}

/// --out, or out/NAME after the config's file and what --set and --seed change in it. Throws UsageError for a
/// file whose name names no folder.
std::filesystem::path run_folder(const boost::program_options::variables_map& values,
                                 const std::string& file);

/// Where a result goes, and what is said of it.
struct RunOutput {
  std::filesystem::path folder;
  std::string command;  ///< that gives it, for a shell
  Backend backend = Backend::cpu;
  bool as_json = false;
  bool quiet = false;
  CsvText csv_text = CsvText::as_it_is;
};
/// Writes the files and the report of a result, and prints it.
void write_and_print(const RunResult& run, const RunOutput& output);

/// Runs the config, or a shard of it, writes its folder, prints its table: what run, sweep and compare have
/// in common. `check` may refuse a config.
int run_and_write(const boost::program_options::variables_map& values, const char* verb,
                  void (*check)(const Config& config));

/// `speclab bench kernels` and its like, and those of `check`, which have options of their own.
/// `arguments` are those after that word.
int bench_kernels_verb(const std::vector<std::string>& arguments);
int bench_recordings_verb(const std::vector<std::string>& arguments);
int bench_rows_verb(const std::vector<std::string>& arguments);
int check_kernels_verb(const std::vector<std::string>& arguments);
int check_rows_verb(const std::vector<std::string>& arguments);

}  // namespace speclab
