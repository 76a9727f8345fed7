// A verb of the program is a declaration: a file each, and a line in experiments/cli/all_verbs.cpp.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace speclab {

namespace po = boost::program_options;

enum ExitCode { exit_ok = 0, exit_failed_check = 1, exit_bad_input = 2, exit_interrupted = 130 };

/// Words of a command line.
using Words = std::vector<std::string>;

/// What a verb was called with: its options by name.
struct Values : po::variables_map {
  std::string command = {};  ///< as it was typed, for a shell

  bool has(const char* option) const { return count(option) > 0; }
  /// Of an option that is there.
  const std::string& text(const char* option) const { return (*this)[option].as<std::string>(); }
  /// None where the option was not given.
  template <class T = std::string>
  std::optional<T> given(const char* option) const {
    return has(option) ? std::optional((*this)[option].as<T>()) : std::nullopt;
  }
  /// Of an option that may be given several times: empty where it was not.
  Words texts(const char* option) const { return given<Words>(option).value_or(Words()); }
};

/// How a verb is called, and what it does. Help, completion, the manual page and documents are made of this;
/// nothing runs for them.
struct Verb {
  std::string name;             ///< one word
  std::string sentence;         ///< for the list of verbs
  std::string line = {};        ///< "speclab run CONFIG.json [options]"
  std::string about = {};       ///< a raw string, printed as it stands
  std::string examples = {};    ///< indented lines
  std::string positional = {};  ///< name of the one positional option; empty for none
  bool optional_positional = false;
  bool several_positional = false;  ///< one or more, a vector
  std::function<int(const Values& values)> run =
      {};                        ///< gives the exit code; none of a verb that only has verbs
  std::vector<Verb> verbs = {};  ///< that follow its name: "bench sim"
  po::options_description options{"Options", 110, 55};

  /// An option without a value.
  void add(const char* option, const char* what) { options.add_options()(option, what); }
  void add(const char* option, const po::value_semantic* value, const char* what) {
    options.add_options()(option, value, what);
  }
  /// One with a value; of a vector it may be given several times.
  template <class T>
  void add(const char* option, const char* what) {
    add(option, po::value<T>(), what);
  }
  template <class T>
  void add(const char* option, const std::type_identity_t<T>& usual, const char* what) {
    add(option, po::value<T>()->default_value(usual), what);
  }
};

/// Says on standard error that a signal ended the work early, and what became of it: "nothing was tested".
/// Gives the exit code.
int interrupted_exit(const char* what);

}  // namespace speclab
