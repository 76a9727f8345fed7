// The program: finds the verb that a command line names, reads its options and runs it.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"

namespace speclab {

/// Returns the list of all verbs, in the order of help; tests and other programs may add some.
std::vector<Verb>& verbs();

/// Runs the verb that the words name, and turns any failure into one sentence and an exit code.
int run_program(const Words& words);

/// Parses the options of a verb. `called` is the text before them, such as "speclab plan log"; `above` is the
/// verb to which this one belongs, or null. If "help" is given, the other options are ignored. Throws
/// UsageError for options that the verb does not declare, naming its sibling verbs that do, and for missing
/// values.
Values parse(const Verb& verb, const std::string& called, const Words& words, const Verb* above = nullptr);

/// Returns the text that --help prints.
std::string help_text(const Verb& verb);

/// An option as help and completion name it.
struct OptionHelp {
  std::string name;      ///< includes the dashes
  std::string sentence;  ///< ends with the default, if there is one
  std::string value;     ///< the form of the value, such as "NUMBER"; empty for an option without one
};
/// Returns the options in the order of `Verb::options`, then --help.
std::vector<OptionHelp> option_helps(const Verb& verb);

}  // namespace speclab
