#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/cli/program.hpp"

namespace speclab {

namespace {

std::string verb_names(const std::vector<Verb>& verbs) {
  return fmt::format("{}", fmt::join(entry_names(verbs), " "));
}

/// Returns a line of bash's case statement for a verb; `pattern` matches its name and the word after it.
std::string bash_case(const Verb& verb, const std::string& pattern) {
  return fmt::format("    {}) options=\"{}\" verbs=\"{}\" ;;\n", pattern,
                     fmt::join(entry_names(option_helps(verb)), " "), verb_names(verb.verbs));
}

/// Returns the script. If it offers nothing, the shell completes file names, whatever their characters.
std::string bash_completion() {
  std::string cases;
  for (const Verb& verb : verbs()) {
    for (const Verb& next : verb.verbs)
      cases += bash_case(next, fmt::format("\"{} {}\"", verb.name, next.name));
    cases += bash_case(verb, fmt::format("\"{} \"*", verb.name));
  }
  return fmt::format(R"(# bash completion of speclab, made by "speclab completion bash"
_speclab() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" options="" verbs=""
  if [ "$COMP_CWORD" -eq 1 ] || {{ [ "$COMP_CWORD" -eq 2 ] && [ "$verb" = help ]; }}; then
    COMPREPLY=($(compgen -W "help {}" -- "$word"))
    return
  fi
  case "$verb ${{COMP_WORDS[2]}}" in
{}  esac
  if [ "${{word:0:1}}" = - ]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  fi
}}
complete -o default -F _speclab speclab
)",
                     verb_names(verbs()), cases);
}

int completion_main(const Values& values) {
  const std::string& shell = values.text("shell");
  if (shell == "bash") {
    fmt::print("{}", bash_completion());
  } else if (shell == "zsh") {
    fmt::print("autoload -U +X bashcompinit && bashcompinit\n{}", bash_completion());
  } else {
    throw UsageError("completion: unknown shell \"{}\"; expected bash or zsh", shell);
  }
  return exit_ok;
}

}  // namespace

Verb completion_verb() {
  return {.name = "completion",
          .sentence = "print a script by which a shell completes verbs and options",
          .line = "speclab completion bash|zsh",
          .about = "Prints a script by which the shell completes verbs and options.\n",
          .examples = "  speclab completion bash > speclab.bash && source ./speclab.bash\n",
          .positional = "shell",
          .run = completion_main};
}

}  // namespace speclab
