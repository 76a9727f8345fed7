#include "sim/policies/confidence.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"

namespace speclab {

PolicyKind confidence_policy() {
  struct P {
    double threshold = 0.4;
    Confidence of = Confidence::top;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "confidence", "Drafts while the draft gives a token enough probability.",
      {field("threshold", &P::threshold, number(0, 1), "Drafting stops below this probability."),
       field("of", &P::of, choice<Confidence>({{"top", Confidence::top}, {"drawn", Confidence::drawn}}),
             "Token whose probability counts: the most probable one, or the drawn one (Hugging Face)."),
       max_field<P>()},
      [](const P& own, const auto&...) { return ConfidencePolicy(own.threshold, own.of, own.most); });
}

}  // namespace speclab
