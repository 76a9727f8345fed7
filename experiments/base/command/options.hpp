// Declares options that several verbs share, and reads their values.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <string>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"

namespace speclab {

/// Adds --set, for verbs that read configs. `sentence` is its help text.
void add_set_option(Verb& verb, const char* sentence);
/// Adds --threads. `what` names what is limited: "threads".
void add_thread_option(Verb& verb, const char* what = "threads");
/// Adds the options of verbs that read a config: --seed, --threads and --set.
void add_config_options(Verb& verb, const char* example = "gamma=3");
/// Adds the options of verbs that run a config: --seed, --threads, --set, --out, --json, --quiet, and those
/// that continue an earlier run.
void add_run_options(Verb& verb, const char* example = "gamma=3");
/// Adds --backend, for verbs that can run on a GPU.
void add_backend_option(Verb& verb);
/// Adds --csv-marked, for verbs that write results.csv.
void add_csv_option(Verb& verb);
/// --threads: 0 is all cores. Throws UsageError below 0 and above 4096.
int thread_option(const Values& values);
/// Returns the value of an option that must lie in [least, most]; else throws UsageError.
template <class T = int>
T ranged_option(const Values& values, const char* name, T least, T most) {
  const T value = values[name].as<T>();
  if (value >= least && value <= most) return value;
  throw UsageError("--{} {}: expected {} to {}", name, value, least, most);
}
/// Returns the --set options as they were typed, each after a space, for the command that redraws a figure.
std::string set_arguments(const Values& values);

}  // namespace speclab
