// Options that several verbs declare, and their values.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"

namespace speclab {

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
/// --threads: 0 is all cores. Throws UsageError below 0 and above 4096.
int thread_option(const Values& values);
/// A number from `least` to `most`, else UsageError, which names the option.
template <class T>
T within(const char* option, T value, T least, T most) {
  if (value >= least && value <= most) return value;
  throw UsageError("--{} {}: expected {} to {}", option, value, least, most);
}
/// The value of an option that is such a number.
template <class T = int>
T ranged_option(const Values& values, const char* name, T least, T most) {
  return within(name, values[name].as<T>(), least, most);
}
/// Those of an option that may be given several times; `usual` where it was not.
template <class T>
std::vector<T> ranged_options(const Values& values, const char* name, T least, T most,
                              const std::vector<T>& usual) {
  const auto numbers = values.given<std::vector<T>>(name).value_or(usual);
  for (const T number : numbers) within(name, number, least, most);
  return numbers;
}
/// The names that --only lists, between commas; none without it.
Words only_option(const Values& values);
/// The --set options as they were typed, each after a space: for the command that redraws a figure.
std::string set_arguments(const Values& values);

}  // namespace speclab
