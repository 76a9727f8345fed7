#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/cli/verb.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace {

std::vector<std::string> option_names(const Verb& verb) {
  std::vector<std::string> names;
  for (const VerbHelp::Option& option : help_of(verb).options) names.push_back(option.name);
  return names;
}

/// Where nothing is offered the shell itself completes files, whatever their names hold.
std::string bash_completion() {
  std::string cases;
  std::vector<std::string> names{"help"};
  for (const Verb& verb : verbs()) {
    names.emplace_back(verb.name);
    cases += fmt::format("    {}) options=\"{}\" ;;\n", verb.name, fmt::join(option_names(verb), " "));
  }
  return fmt::format(R"(# bash completion of speclab, made by "speclab completion bash"
_speclab() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" options=""
  if [ "$COMP_CWORD" -eq 1 ] || {{ [ "$COMP_CWORD" -eq 2 ] && [ "$verb" = help ]; }}; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case "$verb" in
{}  esac
  if [ "${{word:0:1}}" = - ]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi
}}
complete -o default -F _speclab speclab
)",
                     fmt::join(names, " "), cases);
}

std::string fish_completion() {
  std::string out = "# fish completion of speclab, made by \"speclab completion fish\"\n";
  for (const Verb& verb : verbs()) {
    out += fmt::format("complete -c speclab -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       shell_word(verb.sentence));
    for (const VerbHelp::Option& option : help_of(verb).options) {
      out +=
          fmt::format("complete -c speclab -n \"__fish_seen_subcommand_from {}\" -l {}{} -d {}\n", verb.name,
                      option.name.substr(2), option.takes_value ? " -r" : "", shell_word(option.sentence));
    }
  }
  return out;
}

int completion_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab completion bash|zsh|fish",
      .about = "Prints what makes a shell complete verbs and options, made from the verbs themselves.\n",
      .examples =
          "  eval \"$(speclab completion bash)\"     # or in ~/.bashrc\n"
          "  speclab completion fish > ~/.config/fish/completions/speclab.fish\n",
      .positional = "shell"};
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto shell = (*values)["shell"].as<std::string>();
  if (shell == "bash") {
    fmt::print("{}", bash_completion());
  } else if (shell == "zsh") {
    fmt::print("autoload -U +X bashcompinit && bashcompinit\n{}", bash_completion());
  } else if (shell == "fish") {
    fmt::print("{}", fish_completion());
  } else {
    throw UsageError(fmt::format("completion: unknown shell \"{}\"; expected bash, zsh or fish", shell));
  }
  return exit_ok;
}

}  // namespace

Verb completion_verb() {
  return {"completion", "completion of verbs and options for a shell", completion_main};
}

}  // namespace speclab
