// Functions with which the files of rules make their catalogue entries.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "core/rules/recursive.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "sim/compiled_rule.hpp"

namespace speclab {

/// Returns parameters P for `speclab prove --all`, which sets the number of drafts of rules for several
/// drafts.
template <class P>
SurveyedRule surveyed_rule(std::string label, P parameters) {
  return {.label = std::move(label), .parameters = [parameters](std::int32_t drafts) {
            auto made = std::make_shared<P>(parameters);
            if constexpr (std::derived_from<P, SeveralPaths>) made->paths = drafts;
            if constexpr (requires { made->drafts = drafts; }) made->drafts = drafts;
            return std::shared_ptr<const void>(std::move(made));
          }};
}

/// Compiles decoding and enumeration of a rule.
template <class Rule>
RulePrograms programs_of(const Rule& rule) {
  return {AnyRule(rule), EnumerableRule(rule)};
}

/// Returns the entry of a rule that `make(parameters, path, request)` builds from parameters of type P;
/// `make` returns any rule of core/rules/all_rules. `prove --all` examines the default parameters.
template <class P, class Make>
RuleKind rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected,
                   std::vector<Field> fields, Make make) {
  RuleKind kind =
      kind_entry<RuleKind, P>(name, sentence, std::move(fields),
                              [make](const P& own, const std::string& path, const RuleRequest& request) {
                                return programs_of(make(own, path, request));
                              });
  kind.surveyed = {surveyed_rule(kind.name, P{})};
  kind.expected_lossless = expected;
  return kind;
}

/// Returns the entry of a rule that is its own parameter struct.
template <class Rule>
RuleKind rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected,
                   std::vector<Field> fields = {}) {
  return rule_kind<Rule>(name, sentence, expected, std::move(fields),
                         [](const Rule& own, const auto&...) { return own; });
}

/// Returns the entry of such a rule whose parameters decide whether it is lossless: `lossless(rule)`.
template <class Rule, std::predicate<const Rule&> Lossless>
RuleKind rule_kind(std::string_view name, std::string_view sentence, Lossless lossless,
                   std::vector<Field> fields) {
  const auto by_default = lossless(Rule{}) ? ExpectedLossless::always : ExpectedLossless::never;
  RuleKind kind = rule_kind<Rule>(name, sentence, by_default, std::move(fields));
  kind.lossless_by_parameters = [lossless](const SelectedKind& selected) {
    return lossless(selected.as<Rule>());
  };
  return kind;
}

template <class Rule>
Field drafted_paths_field() {
  return integer_field<Rule>("drafts", &Rule::paths, 1, 64, "Drafted paths of gamma tokens.");
}
/// Returns the entry of a rule for several drafted paths.
template <class Rule>
RuleKind paths_rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected) {
  return rule_kind<Rule>(name, sentence, expected, {drafted_paths_field<Rule>()});
}

/// Returns the entry of a planted fault: a deliberate mistake that proofs and tests must find. `prove --all`
/// skips it.
inline RuleKind planted_fault(RuleKind kind) {
  kind.surveyed.clear();
  return kind;
}
template <class Rule>
RuleKind planted_fault(std::string_view name, std::string_view sentence) {
  return planted_fault(rule_kind<Rule>(name, sentence, ExpectedLossless::never));
}

}  // namespace speclab
