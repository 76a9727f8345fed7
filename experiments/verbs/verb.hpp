// The verbs of the program, one file each, and what they share.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/format/shape.hpp"

namespace speclab {

enum ExitCode { exit_ok = 0, exit_failed_check = 1, exit_bad_input = 2, exit_interrupted = 130 };

struct Verb {
  const char* name;
  const char* sentence;
  int (*run)(const std::vector<std::string>& arguments);
};

int run_verb(const std::vector<std::string>& arguments);
int reproduce_verb(const std::vector<std::string>& arguments);
int sweep_verb(const std::vector<std::string>& arguments);
int compare_verb(const std::vector<std::string>& arguments);
int predict_verb(const std::vector<std::string>& arguments);
int plan_verb(const std::vector<std::string>& arguments);
int prove_verb(const std::vector<std::string>& arguments);
int check_verb(const std::vector<std::string>& arguments);
int check_kernels_verb(const std::vector<std::string>& arguments);
int exact_verb(const std::vector<std::string>& arguments);
int bench_verb(const std::vector<std::string>& arguments);
int bench_kernels_verb(const std::vector<std::string>& arguments);
int list_verb(const std::vector<std::string>& arguments);
int validate_verb(const std::vector<std::string>& arguments);
int schema_verb(const std::vector<std::string>& arguments);
int version_verb(const std::vector<std::string>& arguments);

/// Is this `speclab bench kernels ...` or `speclab check kernels ...`? They have options of their own.
bool about_kernels(const std::vector<std::string>& arguments);

const std::vector<Verb>& verbs();

/// How one verb is called: its options, its positional argument if any, and the text around them in --help.
struct Usage {
  std::string line;      ///< "speclab run CONFIG.json [options]"
  std::string about;     ///< a paragraph
  std::string examples;  ///< indented lines
  boost::program_options::options_description options{"Options"};
  std::string positional;  ///< name of the one positional option; empty for none
  bool optional_positional = false;
};

/// Parses the arguments; prints the help and returns nothing for --help. Throws UsageError for a missing
/// positional argument and boost::program_options::error for the rest.
std::optional<boost::program_options::variables_map> parse(Usage& usage,
                                                           const std::vector<std::string>& arguments);

/// Options of every verb that reads a config: --seed, --threads, --set.
void add_config_options(boost::program_options::options_description& options);

/// Options of verbs that run a config.
void add_run_options(boost::program_options::options_description& options);

/// --backend, of verbs that can run on a GPU.
void add_backend_option(boost::program_options::options_description& options);

/// --threads: 0 is all cores. Throws UsageError below 0.
int thread_option(const boost::program_options::variables_map& values);

/// The --set options as they were typed, each after a space: for the command that redraws a figure.
std::string set_arguments(const boost::program_options::variables_map& values);

/// The config of a file with --seed and --set applied, not yet checked.
Json load_config(const std::string& file, const boost::program_options::variables_map& values);

/// `run`, `sweep` and `compare`: runs the config, writes its folder, prints its table. `check` may refuse a
/// resolved config.
int run_and_write(const boost::program_options::variables_map& values, const char* verb,
                  void (*check)(const Json& resolved));

}  // namespace speclab
