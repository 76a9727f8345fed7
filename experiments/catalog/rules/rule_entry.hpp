// For the files of rules: how an entry is made, and parameters that several rules have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/exact/enumeration_program.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/format/fields.hpp"

namespace speclab {

/// Parameters of rules that have none.
struct NoParameters {};

/// Parameters of rules for several drafted paths.
struct SeveralDrafts {
  std::int32_t drafts = 2;
};

template <class P>
Field drafts_field(std::string_view sentence) {
  return integer_field("drafts", &P::drafts, 1, 64, sentence);
}
inline Field drafted_paths_field() { return drafts_field<SeveralDrafts>("Drafted paths of gamma tokens."); }

/// Parameters P for the survey; with P::drafts they have that many.
template <class P>
SurveyedRule surveyed_rule(std::string label, P parameters) {
  return {.label = std::move(label), .parameters = [parameters](std::int32_t drafts) {
            auto made = std::make_shared<P>(parameters);
            if constexpr (requires { made->drafts; }) made->drafts = drafts;
            return std::shared_ptr<const void>(std::move(made));
          }};
}

/// An entry whose factory takes its parameters as P: `make(parameters, path, request)` gives any rule of
/// core/rules/all_rules. The survey examines its defaults.
template <class P, class Make>
RuleKind rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected,
                   std::vector<Field> fields, Make make) {
  RuleKind kind;
  kind.parameters = object<P>(name, sentence, std::move(fields)).type;
  kind.surveyed = {surveyed_rule(std::string(name), P{})};
  kind.name = name;
  kind.sentence = sentence;
  kind.expected_lossless = expected;
  kind.make = [make](const SelectedKind& selected, const RuleRequest& request) {
    const auto rule = make(*static_cast<const P*>(selected.parameters.get()), selected.path, request);
    return RulePrograms{AnyRule(rule), EnumerableRule(rule)};
  };
  return kind;
}

/// A rule without parameters.
template <class Rule>
RuleKind plain_rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected) {
  return rule_kind<NoParameters>(
      name, sentence, expected, {},
      [](const NoParameters&, const std::string&, const RuleRequest&) { return Rule{}; });
}

/// A rule for several drafted paths.
template <class Rule>
RuleKind paths_rule_kind(std::string_view name, std::string_view sentence, ExpectedLossless expected) {
  return rule_kind<SeveralDrafts>(name, sentence, expected, {drafted_paths_field()},
                                  [](const SeveralDrafts& parameters, const std::string&,
                                     const RuleRequest&) { return Rule(parameters.drafts); });
}

/// A planted fault: a mistake that proofs and tests must find. Never surveyed.
inline RuleKind planted_fault(RuleKind kind) {
  kind.surveyed.clear();
  return kind;
}

}  // namespace speclab
