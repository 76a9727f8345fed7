// The program: finds the verb that a command line names, reads its options and runs it.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"

namespace speclab {

/// Returns the list of all verbs, in the order of help; tests and other programs may add some.
std::vector<Verb>& verbs();

/// Runs the verb that the words name. Turns any failure into one sentence and an exit code.
int run_program(const Words& words);

/// Parses the options of a verb; with "help" the other options are ignored. `called` is the command so far,
/// such as "speclab plan log"; `above` is the verb that contains this one, or null. Throws UsageError for
/// missing values and for options that the verb does not declare, naming sibling verbs that do.
Values parse(const Verb& verb, const std::string& called, const Words& words, const Verb* above = nullptr);

/// Returns the text that --help prints.
std::string help_text(const Verb& verb);

/// An option in help and completion.
struct OptionHelp {
  std::string name;      ///< includes the dashes
  std::string sentence;  ///< ends with the default, if there is one
  std::string value;     ///< the form of the value, such as "NUMBER"; empty for an option without one
};
/// Returns the options in order of declaration, then --help.
std::vector<OptionHelp> option_helps(const Verb& verb);

}  // namespace speclab
