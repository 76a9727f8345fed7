#include "core/rules/hsd.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Hierarchical {
  HsdReading reading = HsdReading::program;
};

const Typed<HsdReading>& hsd_reading_type() {
  static const auto type =
      choice<HsdReading>({{"program", HsdReading::program}, {"pseudocode", HsdReading::pseudocode}});
  return type;
}

}  // namespace

RuleKind hsd_rule() {
  RuleKind kind = rule_kind<Hierarchical>(
      "hsd",
      "Hierarchical verification: block verification whose last token is accepted by the uncapped ratio. Lossy.",
      ExpectedLossless::never,
      {field("reading", &Hierarchical::reading, hsd_reading_type(),
             "The authors' program or their pseudocode.")},
      [](const Hierarchical& parameters, const std::string&, const RuleRequest&) {
        return HsdRule(parameters.reading);
      });
  kind.surveyed = {surveyed_rule("hsd", Hierarchical{}),
                   surveyed_rule("hsd pseudocode", Hierarchical{HsdReading::pseudocode})};
  return kind;
}

}  // namespace speclab
