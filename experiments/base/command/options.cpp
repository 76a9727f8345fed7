#include "experiments/base/command/options.hpp"

#include <cstdint>

#include "experiments/base/support/csv_reader.hpp"
#include "experiments/base/support/shell_word.hpp"

namespace speclab {

void add_set_option(Verb& verb, const char* sentence) { verb.add<Words>("set", sentence); }

void add_thread_option(Verb& verb, const char* what) {
  verb.add<int>("threads", 0, fmt::format("{}; 0: all cores. Results do not depend on it", what).c_str());
}

void add_config_options(Verb& verb) {
  verb.add<std::int64_t>("seed", "seed, instead of the config's");
  add_thread_option(verb);
  add_set_option(verb, "path=value: change the config, e.g. gamma=3; path=null: leave it out");
}

void add_run_options(Verb& verb) {
  verb.add<std::string>(
      "out", "folder for the results (default: out/<config's name>, and what --set and --seed change)");
  add_config_options(verb);
  verb.add("json", "print result.json to standard output instead of a table");
  verb.add("quiet,q", "no table, no progress");
  verb.add<std::string>(
      "shard",
      "I/N: run this part of the work only, into the folder's shards/; speclab merge puts them together");
  verb.add("force", "overwrite the results of another config, or of an interrupted run");
  verb.add<std::string>(
      "resume", "auto",
      "auto: go on with an interrupted run when config, program and input files are as they were, else start anew; "
      "require: refuse to start anew");
  add_csv_option(verb);
}

void add_csv_option(Verb& verb) {
  verb.add("csv-marked", "results.csv for spreadsheets: text that they would run (=, +, -, @) begins with '");
}

void add_backend_option(Verb& verb) {
  verb.add<std::string>("backend", "cpu",
                        "cpu or cuda: where rounds are simulated. Results do not depend on it");
}

int thread_option(const Values& values) {
  // The number is limited because each thread takes its own stack and tables.
  constexpr int most = 4096;
  const int threads = values["threads"].as<int>();
  if (threads < 0 || threads > most) {
    throw UsageError("--threads {}: expected 0 (all cores) to {}", threads, most);
  }
  return threads;
}

std::string set_arguments(const Values& values) {
  std::string arguments;
  for (const std::string& set : values.texts("set"))
    arguments += " " + shell_line(option_words("--set", set));
  return arguments;
}

Words only_option(const Values& values) {
  Words names;
  for (const std::string& name : split(values.given("only").value_or(""), ',')) {
    if (!name.empty()) names.push_back(name);  // A comma at the end of the list leaves an empty name.
  }
  return names;
}

}  // namespace speclab
