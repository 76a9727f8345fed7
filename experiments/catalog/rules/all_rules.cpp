// Lists every verification rule, one line each, in the order of `speclab list`, and then the planted faults.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"

// clang-format off
#define SPECLAB_RULES(ENTRY) \
  ENTRY(token)               \
  ENTRY(match)               \
  ENTRY(gumbel)              \
  ENTRY(rejection)           \
  ENTRY(greedy)              \
  ENTRY(block)               \
  ENTRY(hsd)                 \
  ENTRY(scheduled)           \
  ENTRY(lenient)             \
  ENTRY(lenient_greedy)      \
  ENTRY(typical)             \
  ENTRY(cascade)             \
  ENTRY(deferral)            \
  ENTRY(ensemble)            \
  ENTRY(tolerant)            \
  ENTRY(fuzzy)               \
  ENTRY(fly)                 \
  ENTRY(mars)                \
  ENTRY(bild)                \
  ENTRY(substitute)          \
  ENTRY(sigmoid)             \
  ENTRY(recursive)           \
  ENTRY(without_replacement) \
  ENTRY(k_seq)               \
  ENTRY(importance)          \
  ENTRY(gbv)                 \
  ENTRY(tree)                \
  ENTRY(traversal)
// clang-format on

namespace speclab {

namespace {

const std::vector<double> target_row{0.5, 0.3, 0.2};
const std::vector<double> draft_row{0.1, 0.3, 0.6};

/// Describes a round of the rule with one drafted token, by enumeration.
std::string example_of(const std::string& name) {
  const ExactTable<double> target({target_row});
  const ExactTable<double> draft({draft_row});
  const EnumerableRule rule = make_rule(selected(*rule_family().find_entry(name)), 1).enumerated;
  const auto found = examine<double>(ModelRef<double>(target), ModelRef<double>(draft), rule, 1, {});
  std::vector<double> first(target_row.size());
  for (const auto& [tokens, probability] : found.distribution)
    first[static_cast<std::size_t>(tokens.front())] += probability;
  return fmt::format("accepts with probability {:.4g}, emits ({:.4g})", found.acceptance(),
                     fmt::join(first, ", "));
}

}  // namespace

#define SPECLAB_DECLARE_RULE(name) RuleKind name##_rule();
SPECLAB_RULES(SPECLAB_DECLARE_RULE)
std::vector<RuleKind> rule_faults();

Family<RuleKind>& rule_family() {
#define SPECLAB_LIST_RULE(name) name##_rule(),
  static Family<RuleKind> family("rule", "Rules", nullptr, [] {
    family.set_example_input(fmt::format("the first token, with target ({:.3g}), draft ({:.3g}) and gamma 1",
                                         fmt::join(target_row, ", "), fmt::join(draft_row, ", ")));
    std::vector<RuleKind> all{SPECLAB_RULES(SPECLAB_LIST_RULE)};
    for (RuleKind& fault : rule_faults()) all.push_back(std::move(fault));
    for (RuleKind& kind : all) kind.example = [name = kind.name] { return example_of(name); };
    return all;
  });
  return family;
}

bool expected_lossless(const RuleConfig& rule, double temperature) {
  const RuleKind& kind = rule.entry();
  if (kind.lossless_by_parameters) return kind.lossless_by_parameters(rule);
  return kind.expected_lossless == ExpectedLossless::always ||
         (kind.expected_lossless == ExpectedLossless::at_temperature_zero && temperature == 0);
}

RulePrograms make_rule(const RuleConfig& rule, std::int32_t gamma) {
  return make_rule(rule, [gamma] { return gamma; });
}

RulePrograms make_rule(const RuleConfig& rule, std::function<std::int32_t()> gamma) {
  return rule.entry().make(rule, RuleRequest(std::move(gamma)));
}

void require_every_gamma(const RuleConfig& rule, const std::string& what) {
  // A rule whose parameters may be measured is measured for one gamma.
  bool asked = rule.entry().measure != nullptr;
  if (!asked) {
    make_rule(rule, [&] {
      asked = true;
      return 1;
    });
  }
  if (!asked) return;
  throw ConfigError(rule.path + "/kind",
                    "\"{}\" is made for one gamma, and {} uses several with one program; choose "
                    "a rule that serves every gamma, or sweep /gamma in the experiment decode",
                    rule.name(), what);
}

}  // namespace speclab
