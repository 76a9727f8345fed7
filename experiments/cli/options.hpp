// Options that several verbs declare, and their values.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>

#include "experiments/cli/verb.hpp"
#include "experiments/format/config_error.hpp"

namespace speclab {

enum class CsvText;

/// --set, of verbs that read configs.
void add_set_option(Verb& verb, const char* sentence);
/// --threads, which `what` has: "threads".
void add_thread_option(Verb& verb, const char* what = "threads");
/// Of verbs that read a config: --seed, --threads, --set.
void add_config_options(Verb& verb);
/// Of verbs that run a config: these, --out, --json, --quiet, and how a run goes on.
void add_run_options(Verb& verb);
/// --backend, of verbs that can run on a GPU.
void add_backend_option(Verb& verb);
/// --csv-marked, of verbs that write results.csv.
void add_csv_option(Verb& verb);
CsvText csv_option(const Values& values);
/// --python, of verbs that let a Python program do a part: `sentence` says which.
void add_python_option(Verb& verb, const char* sentence);
/// Throws UsageError for a name without a /: a PATH may be somebody else's.
std::filesystem::path python_option(const Values& values);
/// --threads: 0 is all cores. Throws UsageError below 0 and above 4096.
int thread_option(const Values& values);
/// The value of an option that is a number from `least` to `most`, else UsageError.
template <class T = int>
T ranged_option(const Values& values, const char* name, T least, T most) {
  const T value = values[name].as<T>();
  if (value >= least && value <= most) return value;
  throw UsageError(fmt::format("--{} {}: expected {} to {}", name, value, least, most));
}
/// The --set options as they were typed, each after a space: for the command that redraws a figure.
std::string set_arguments(const Values& values);

}  // namespace speclab
