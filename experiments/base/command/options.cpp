#include "experiments/base/command/options.hpp"

#include <cstdint>

#include "experiments/base/support/shell_word.hpp"

namespace speclab {

void add_set_option(Verb& verb, const char* sentence) { verb.add<Words>("set PATH=VALUE", sentence); }

void add_thread_option(Verb& verb, const char* what) {
  verb.add<int>("threads", 0, fmt::format("{}; 0: all cores. Results do not depend on it", what).c_str());
}

void add_config_options(Verb& verb, const char* example) {
  verb.add<std::int64_t>("seed", "seed to use instead of the config's");
  add_thread_option(verb);
  add_set_option(verb, fmt::format("change the config, e.g. {}; PATH=null removes a key", example).c_str());
}

void add_run_options(Verb& verb, const char* example) {
  verb.add<std::string>(
      "out FOLDER",
      "folder for the results (default: out/<config's name>, followed by what --set and --seed change)");
  add_config_options(verb, example);
  verb.add("json", "print result.json to standard output instead of a table");
  verb.add("quiet,q", "print neither table nor progress");
  verb.add<std::string>(
      "shard I/N",
      "run only part I of N, and write it to shards/ in the folder; speclab merge joins the parts");
  verb.add("force", "overwrite the results of another config");
  verb.add<std::string>(
      "resume auto|require", "auto",
      "auto: continue an interrupted run if config, program and input files are unchanged, else start again; require: refuse to start again");
  add_csv_option(verb);
}

void add_csv_option(Verb& verb) {
  verb.add("csv-marked",
           "make results.csv safe for spreadsheets: text that begins with =, +, - or @ gets a leading '");
}

void add_backend_option(Verb& verb) {
  verb.add<std::string>("backend cpu|cuda", "cpu", "where rounds are simulated. Results do not depend on it");
}

int thread_option(const Values& values) {
  // The number is limited because each thread takes its own stack and tables.
  constexpr int most = 4096;
  const int threads = values["threads"].as<int>();
  if (threads < 0 || threads > most)
    throw UsageError("--threads {}: expected 0 (all cores) to {}", threads, most);
  return threads;
}

std::string set_arguments(const Values& values) {
  std::string arguments;
  for (const std::string& set : values.texts("set"))
    arguments += " " + shell_line(option_words("--set", set));
  return arguments;
}

}  // namespace speclab
