// The policy "confidence".
#include "sim/policies/confidence.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

namespace {

struct ConfidenceParameters {
  double threshold = 0.4;
  Confidence of = Confidence::top;
  std::int32_t most = 20;
};

}  // namespace

PolicyKind confidence_policy() {
  return kind_entry<PolicyKind, ConfidenceParameters>(
      "confidence", "Goes on while the draft gives a token enough probability.",
      {field("threshold", &ConfidenceParameters::threshold, number(0, 1),
             "Drafting stops below this probability."),
       field("of", &ConfidenceParameters::of,
             choice<Confidence>({{"top", Confidence::top}, {"drawn", Confidence::drawn}}),
             "Of which token: the most probable one, or the one that was drawn (Hugging Face)."),
       max_field<ConfidenceParameters>()},
      [](const ConfidenceParameters& own, const std::string&, const PolicyRequest&) {
        return ConfidencePolicy(own.threshold, own.of, own.most);
      });
}

}  // namespace speclab
