// The program: finds the verb, runs it, and turns whatever went wrong into one sentence and an exit code.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <exception>
#include <string>
#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/verbs/verb.hpp"

namespace {

using namespace speclab;

void print_help() {
  fmt::print("speclab: a laboratory for speculative decoding\n\nusage: speclab VERB [arguments]\n\nVerbs:\n");
  for (const Verb& verb : verbs()) fmt::print("  {:<11}{}\n", verb.name, verb.sentence);
  fmt::print(
      "\n\"speclab VERB --help\" explains one. Exit codes: 0, 1 for a failed check, 2 for bad input, 130 "
      "interrupted.\n"
      "Example:\n  speclab predict --alpha 0.8 --c 0.05\n");
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help();
    return words.empty() ? exit_bad_input : exit_ok;
  }
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (words[0] == verb.name || (words[0] == "--version" && verb.name == std::string("version"))) {
      return verb.run({words.begin() + 1, words.end()});
    }
    names.emplace_back(verb.name);
  }
  throw UsageError(fmt::format("unknown verb \"{}\"{}", words[0], suggestion(words[0], names)));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    return dispatch(words);
  } catch (const ConfigError& error) {
    fmt::print(stderr, "error: {}\n", error.sentence());
  } catch (const boost::program_options::error& error) {
    fmt::print(stderr, "error: {} (see speclab {} --help)\n", error.what(), words[0]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return exit_bad_input;
}
