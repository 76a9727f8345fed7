#include <fmt/format.h>

#include "experiments/base/support/version.hpp"
#include "experiments/cli/program.hpp"

namespace speclab {

namespace {

/// Escapes text for troff: backslashes and dashes are literal, and no line begins a request.
std::string roff(const std::string& text) {
  std::string out;
  bool at_start = true;
  for (const char letter : text) {
    if (at_start && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    at_start = letter == '\n';
  }
  return out;
}

/// Returns lines that troff does not fill.
std::string unfilled(const std::string& text) {
  const char* const end = text.ends_with('\n') ? "" : "\n";
  return ".nf\n" + roff(text) + end + ".fi\n";
}

/// Prints a verb and its subverbs. `before` is the text before its name, such as "bench ".
void print_verbs(const std::vector<Verb>& verbs, const std::string& before) {
  for (const Verb& verb : verbs) {
    fmt::print(".SS {}{}\n{}.\n.PP\n{}.PP\n{}", before, verb.name, roff(verb.sentence), unfilled(verb.line),
               unfilled(verb.about));
    for (const OptionHelp& option : option_helps(verb)) {
      fmt::print(".TP\n.B {}{}\n{}\n", roff(option.name),
                 option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR", roff(option.sentence));
    }
    fmt::print(".PP\nExamples:\n{}", unfilled(verb.examples));
    print_verbs(verb.verbs, before + verb.name + " ");
  }
}

int man_main(const Values&) {
  fmt::print(".TH SPECLAB 1 \"\" \"speclab {}\" \"User Commands\"\n", roff(version_string()));
  fmt::print(".SH NAME\nspeclab \\- a laboratory for speculative decoding\n");
  fmt::print(".SH SYNOPSIS\n.B speclab\n.I VERB\n[arguments]\n.SH VERBS\n");
  print_verbs(verbs(), "");
  fmt::print(".SH EXIT STATUS\n0, 1 for a failed check, 2 for bad input, 130 interrupted.\n");
  return exit_ok;
}

}  // namespace

Verb man_verb() {
  return {.name = "man",
          .sentence = "print the manual page",
          .line = "speclab man",
          .about = "Prints the manual page. An installed speclab already has it.\n",
          .examples = "  speclab man | man -l -\n",
          .run = man_main};
}

}  // namespace speclab
