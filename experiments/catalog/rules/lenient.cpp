#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Lenience {
  double lenience = 1;
  Residual residual = Residual::target_minus_draft;
};

const Typed<Residual>& residual_type() {
  static const auto type = choice<Residual>({{"target_minus_draft", Residual::target_minus_draft},
                                             {"literal", Residual::literal},
                                             {"target", Residual::target}});
  return type;
}

SurveyedRule half(const char* residual, Residual reading) {
  constexpr double lenience = 0.5;
  SurveyedRule surveyed =
      surveyed_rule(std::string("lenient l=0.5 ") + residual, Lenience{lenience, reading});
  surveyed.lenience = lenience;
  return surveyed;
}

}  // namespace

RuleKind lenient_rule() {
  RuleKind kind = rule_kind<Lenience>(
      "lenient", "A.5 at temperature > 0: accept with min(1, p/(l q)). Lossy for l < 1.",
      ExpectedLossless::never,
      {field("lenience", &Lenience::lenience, number_above(0, 1), "l in (0, 1]."),
       field("residual", &Lenience::residual, residual_type(), "Which reading of the paper's residual.")},
      [](const Lenience& parameters, const std::string&, const RuleRequest&) {
        return LenienceRule(parameters.lenience, parameters.residual);
      });
  // At l = 1 two of the residuals make it token verification.
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    const auto& parameters = selected.as<Lenience>();
    return parameters.lenience == 1 && parameters.residual != Residual::target;
  };
  kind.surveyed = {half("target_minus_draft", Residual::target_minus_draft),
                   half("literal", Residual::literal), half("target", Residual::target)};
  return kind;
}

}  // namespace speclab
