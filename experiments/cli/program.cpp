#include "experiments/cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <typeinfo>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/base/support/shell_word.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/cli/reference.hpp"

namespace speclab {

namespace {

std::string list_of_verbs(const std::vector<Verb>& verbs) {
  std::string out = "Verbs:\n";
  for (const Verb& verb : verbs) out += fmt::format("  {:<15}{}\n", verb.name, verb.sentence);
  return out;
}

void print_help() {
  fmt::print(R"(speclab: a laboratory for speculative decoding

usage: speclab VERB [arguments]

{}
"speclab help VERB" or "speclab VERB --help" explains a verb, "speclab help NAME" a rule, another entry or a key of
configs. "speclab list" lists these, "speclab config list" the configs that come with the program. Exit codes: 0, 1 for a failed
check, 2 for bad input, 130 interrupted.
Example:
  speclab predict --alpha 0.8 --c 0.05
)",
             list_of_verbs(verbs()));
}

bool asks_for_help(const Words& words) {
  return std::ranges::any_of(words, [](const auto& word) { return word == "--help" || word == "-h"; });
}

[[noreturn]] void refuse_word(const std::string& called, const Verb& verb, const Words& words) {
  const std::vector<std::string> names = entry_names(verb.verbs);
  if (!words.empty() && !verb.of_number.empty() && number_in(words[0]))
    throw UsageError("{0}: unknown \"{1}\"; did you mean \"{0} {2} {1}\"?", called, words[0], verb.of_number);
  throw UsageError(words.empty()
                       ? fmt::format("{}: expected one of {}", called, fmt::join(names, ", "))
                       : fmt::format("{}: unknown \"{}\"{}", called, words[0], suggestion(words[0], names)));
}

int run_verb(const Verb& verb, const std::string& called, const Words& words, const Verb* above = nullptr) {
  if (!words.empty()) {
    if (const Verb* const next = find_named(verb.verbs, words[0]))
      return run_verb(*next, called + " " + words[0], {words.begin() + 1, words.end()}, &verb);
  }
  if (!verb.run && !asks_for_help(words)) refuse_word(called, verb, words);
  Values values;
  if (verb.run) values = parse(verb, called, words, above);
  if (!verb.run || values.has("help")) {
    fmt::print("{}", help_text(verb));
    return exit_ok;
  }
  // The command names a result, so it lacks the options that do not change it.
  Words lasting;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool alone = word == "--quiet" || word == "-q" || word == "--force" || word == "--json";
    const std::string option = word.substr(0, word.find('='));
    const bool valued = option == "--threads" || option == "--out";
    if (valued && option == word) ++i;  // its value is the next word
    if (!alone && !valued) lasting.push_back(word);
  }
  values.command = shell_command(called, lasting);
  return verb.run(values);
}

int dispatch(Words words) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    print_help();
    return words.empty() ? exit_bad_input : exit_ok;
  }
  if (words[0] == "--version") words[0] = "version";
  if (const Verb* const verb = find_named(verbs(), words[0]))
    return run_verb(*verb, "speclab " + words[0], {words.begin() + 1, words.end()});
  std::vector<std::string> names = entry_names(verbs());
  if (asks_for_help(words)) {
    fmt::print("{}", list_text(families(), words[0], std::move(names)));
    return exit_ok;
  }
  throw UsageError("unknown verb \"{}\"{}", words[0], suggestion(words[0], names));
}

/// Returns the word that help shows for an option's value; empty if the option takes none.
std::string value_word(const po::value_semantic& value) {
  if (value.max_tokens() == 0) return "";
  const std::string form = value.name();
  if (!form.starts_with("arg")) return form.substr(0, form.find(" (="));
  const auto* const typed = dynamic_cast<const po::typed_value_base*>(&value);
  if (typed == nullptr || typed->value_type() == typeid(std::string)) return "TEXT";
  return typed->value_type() == typeid(double) ? "NUMBER" : "INTEGER";
}

/// Returns a row of help. The sentence is wrapped and begins at `column`.
std::string option_line(std::string row, const std::string& sentence, std::size_t column) {
  constexpr std::size_t width = 110;
  if (row.size() + 1 > column) row += "\n" + std::string(column, ' ');
  row.resize(std::max(row.size(), column), ' ');
  std::string out;
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (row.size() > column && row.size() - (row.rfind('\n') + 1) + 1 + word.size() > width) {
      out += row + "\n";
      row = std::string(column, ' ');
    } else if (!row.ends_with(' ')) {
      row += ' ';
    }
    row += word;
  }
  return out + row + "\n";
}

std::string option_lines(const Verb& verb) {
  constexpr std::size_t max_column = 36;
  const auto& options = verb.options.options();
  const std::vector<OptionHelp> helps = option_helps(verb);
  Words rows;
  std::size_t column = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& value = helps[i].value;
    rows.push_back(fmt::format("  {}{}{}", options[i]->format_name(), value.empty() ? "" : " ", value));
    column = std::min(std::max(column, rows[i].size() + 1), max_column);
  }
  auto section = verb.sections.begin();
  std::string out = verb.sections.empty() && !rows.empty() ? "\nOptions:\n" : "";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (section != verb.sections.end() && section->first == i) out += "\n" + section++->second + ":\n";
    out += option_line(rows[i], helps[i].sentence, column);
  }
  return out;
}

/// Returns the sibling verbs that know an option; empty if none does.
std::string known_beside(const std::string& option, const std::string& called, const Verb& above) {
  const std::string up = called.substr(0, called.rfind(' '));
  std::vector<std::string> found;
  for (const Verb& verb : above.verbs) {
    if (verb.positional == option || verb.options.find_nothrow(option, false) != nullptr)
      found.push_back(up + " " + verb.name);
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Returns "--set gamma=3" for "--gamma 3" or "--gamma=3" if the verb takes --set and the option is a config
/// key; else empty.
std::string as_set_option(const Verb& verb, const std::string& option, const Words& words) {
  if (verb.options.find_nothrow("set", false) == nullptr) return "";
  const std::string path = path_of_key(boost::algorithm::replace_all_copy(option, "-", "_"));
  if (path.empty()) return "";
  std::string value = "VALUE";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--" + option && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with("--" + option + "=")) value = words[i].substr(option.size() + 3);
  }
  return shell_line(option_words("--set", path + "=" + value));
}

}  // namespace

int run_program(const Words& words) {
  // Exceeding a file-size limit then causes an error, like a full disk, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  // No file that is opened later takes the place of a closed standard stream, whose writes would go into it.
  int spare = 0;
  while (spare >= 0 && spare <= STDERR_FILENO) spare = ::open("/dev/null", O_RDONLY);
  ::close(spare);
  const InterruptGuard guard(exit_interrupted);
  std::string message;
  try {
    const int code = dispatch(words);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::runtime_error("the standard output cannot be written: the device is full, or was closed");
    return code;
  } catch (const Stopped&) {
    print_error("interrupted; the same command starts over");
    return exit_interrupted;
  } catch (const ConfigError& error) {
    message = error.sentence();
  } catch (const std::bad_alloc&) {
    constexpr double gigabyte = 1e9;
    const std::optional<double> left = available_memory();
    message =
        fmt::format("out of memory after {:.3g} GB{}: use fewer cells, trials, samples, tokens or threads",
                    static_cast<double>(peak_memory()) / gigabyte,
                    left ? fmt::format(", with {:.3g} GB left", *left / gigabyte) : "");
  } catch (const std::exception& error) {
    message = error.what();
  }
  print_error("error: " + message);
  return exit_bad_input;
}

Values parse(const Verb& verb, const std::string& called, const Words& words, const Verb* above) try {
  po::options_description all;
  all.add(verb.options).add_options()("help,h", "this text");
  po::positional_options_description positions;
  if (!verb.positional.empty()) {
    if (verb.several_positional) {
      all.add_options()(verb.positional.c_str(), po::value<Words>());
    } else {
      all.add_options()(verb.positional.c_str(), po::value<std::string>());
    }
    positions.add(verb.positional.c_str(), verb.several_positional ? -1 : 1);
  }
  Values values;
  // Abbreviations are refused: a later option could change what they mean.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::store(po::command_line_parser(words).options(all).positional(positions).style(style).run(), values);
  if (values.has("help")) return values;
  po::notify(values);
  if (!verb.positional.empty() && !verb.optional_positional && !values.has(verb.positional.c_str()))
    throw UsageError("missing {}\nusage: {}", verb.positional, verb.line);
  return values;
} catch (const po::unknown_option& error) {
  const std::string option = error.get_option_name();
  const std::size_t begin = std::min(option.find_first_not_of('-'), option.size());
  const std::string name = option.substr(begin, option.find('=') - begin);
  const std::string others = above == nullptr ? "" : known_beside(name, called, *above);
  if (const std::string set = as_set_option(verb, name, words); others.empty() && !set.empty())
    throw UsageError("--{} is a key of the config, no option: {} (see {} --help)", name, set, called);
  throw UsageError(others.empty() ? fmt::format("{} (see {} --help)", error.what(), called)
                                  : fmt::format("--{} goes with {}, not with {}", name, others, called));
} catch (const po::error& error) {
  throw UsageError("{} (see {} --help)", error.what(), called);
}

std::string help_text(const Verb& verb) {
  std::string text = fmt::format("usage: {}\n\n{}", verb.line, verb.about);
  if (!text.ends_with('\n')) text += '\n';
  if (!verb.verbs.empty()) text += "\n" + list_of_verbs(verb.verbs);
  text += "\nExamples:\n" + verb.examples;
  return verb.run ? text + option_lines(verb) : text;
}

std::vector<OptionHelp> option_helps(const Verb& verb) {
  std::vector<OptionHelp> found;
  for (const auto& option : verb.options.options()) {
    OptionHelp help{"--" + option->long_name(), option->description(), value_word(*option->semantic())};
    const std::string form = option->semantic()->name();  // "arg", or "arg (=8)" with a default
    const std::size_t usual = form.find(" (=");
    if (usual != std::string::npos && !form.ends_with("(=)"))
      help.sentence += " (default " + form.substr(usual + 3);
    found.push_back(help);
  }
  found.push_back({"--help", "print this text", ""});
  return found;
}

}  // namespace speclab
