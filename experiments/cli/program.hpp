// The program: finds the verb that a command line names, reads its options and runs it.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"

namespace speclab {

/// Every verb, in the order of help; tests and other programs may add some.
std::vector<Verb>& verbs();

/// Runs the verb that the words name, and turns whatever went wrong into one sentence and an exit code.
int run_program(const Words& words);

/// The values of a verb's options. `called` is what leads to it, "speclab plan log", and `above` the verb
/// that has it among its own, or null. Only "help" counts where it is given. Throws UsageError for what the
/// verb does not declare, with the verbs beside it that do, and for what is missing.
Values parse(const Verb& verb, const std::string& called, const Words& words, const Verb* above = nullptr);

/// What --help prints.
std::string help_text(const Verb& verb);

/// An option as help, completion and the manual page name it.
struct OptionHelp {
  std::string name;  ///< with dashes
  std::string sentence;
  bool takes_value = false;
};
std::vector<OptionHelp> option_helps(const Verb& verb);

}  // namespace speclab
