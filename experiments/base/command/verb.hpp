// Declares a verb of the program (a subcommand, such as `run`). Each verb has its own file and a line in
// experiments/cli/all_verbs.cpp.
#pragma once

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace po = boost::program_options;

enum ExitCode { exit_ok = 0, exit_failed_check = 1, exit_bad_input = 2, exit_interrupted = 130 };

/// The words of a command line.
using Words = std::vector<std::string>;

/// The options with which a verb was called, by name.
struct Values : po::variables_map {
  std::string command = {};  ///< the command as it was typed, for a shell

  bool has(const char* option) const { return count(option) > 0; }
  /// Returns the text of an option that is present.
  const std::string& text(const char* option) const { return (*this)[option].as<std::string>(); }
  /// Returns the value of an option; empty if it was not given.
  template <class T = std::string>
  std::optional<T> given(const char* option) const {
    return has(option) ? std::optional((*this)[option].as<T>()) : std::nullopt;
  }
  /// Returns the values of an option that may be given several times; empty if it was not given.
  Words texts(const char* option) const { return given<Words>(option).value_or(Words()); }
};

/// Describes how a verb is called and what it does. Help, completion and documents are generated
/// from it without running the verb.
struct Verb {
  std::string name;             ///< one word
  std::string sentence;         ///< shown in the list of verbs
  std::string line = {};        ///< "speclab run CONFIG.json [options]"
  std::string about = {};       ///< a raw string, printed unchanged
  std::string examples = {};    ///< indented lines
  std::string positional = {};  ///< name of the one positional option; empty for none
  bool optional_positional = false;
  bool several_positional = false;  ///< takes one or more positional values, as a vector
  std::function<int(const Values& values)> run =
      {};                        ///< returns the exit code; empty for a verb that only has subverbs
  std::vector<Verb> verbs = {};  ///< subverbs, such as "sim" of "bench sim"
  std::string of_number = {};    ///< the subverb that takes a number, suggested where one stands in its place
  po::options_description options{};
  /// Titles of help's sections, each with the number of options before it. Empty: one section.
  std::vector<std::pair<std::size_t, std::string>> sections = {};

  /// Begins a section of help; the options that are added next belong to it.
  void section(const char* title) { sections.emplace_back(options.options().size(), title); }
  /// Adds an option without a value.
  void add(const char* option, const char* what) { options.add_options()(option, what); }
  /// Adds an option with a value. `option` is its name, and after a space the word that help shows for the
  /// value: "out FOLDER". Without this word help shows the type. If T is a vector, the option may be given
  /// several times.
  template <class T>
  void add(const char* option, const char* what) {
    add_value(option, po::value<T>(), what);
  }
  template <class T>
  void add(const char* option, const std::type_identity_t<T>& usual, const char* what) {
    add_value(option, po::value<T>()->default_value(usual), what);
  }
  template <class T>
  void add_value(const std::string& option, po::typed_value<T>* value, const char* what) {
    const std::size_t end = option.find(' ');
    if (end != std::string::npos) value->value_name(option.substr(end + 1));
    options.add_options()(option.substr(0, end).c_str(), value, what);
  }
};

/// Prints on standard error that a signal ended the work early, and the consequence `what` ("nothing was
/// tested"). Returns the exit code.
inline int interrupted_exit(const char* what) {
  print_error(fmt::format("interrupted: {}", what));
  return exit_interrupted;
}

}  // namespace speclab
