// Describes every gamma policy, and lists them in the order of `speclab list`.
#include "experiments/catalog/policies/policy_kind.hpp"
#include "sim/policies/adaedl.hpp"
#include "sim/policies/bandit.hpp"
#include "sim/policies/confidence.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/policies/goodput.hpp"
#include "sim/policies/heuristic.hpp"
#include "sim/policies/specdec_pp.hpp"

namespace speclab {

namespace {

PolicyKind fixed_policy() {
  struct P {
    std::int32_t gamma = 0;
  };
  return kind_entry<PolicyKind, P>(
      "fixed", "The same number of drafted tokens every round.",
      {required(integer_field("gamma", &P::gamma, 0, max_tokens_drafted, "Tokens."))},
      [](const P& own, const auto&...) { return FixedPolicy(own.gamma); });
}

PolicyKind heuristic_policy() {
  struct P {
    std::int32_t start = 5;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "heuristic", "Two more after a round of γ accepted tokens, one fewer after a rejection (Hugging Face).",
      {integer_field("start", &P::start, 1, max_tokens_drafted, "Tokens in the first round."),
       max_field<P>()},
      [](const P& own, const auto&...) { return HeuristicPolicy(own.start, own.most); });
}

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

PolicyKind adaedl_policy() {
  struct P {
    double kappa = 0.2;
    double least = 0.3;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "adaedl", "AdaEDL: drafts while 1 - sqrt(kappa H(draft)) stays above a bound.",
      {with_unit(field("kappa", &P::kappa, number(0, 100), "Factor of the entropy."), "1/nat"),
       field("least", &P::least, number(0, 1), "Drafting stops below this bound."), max_field<P>()},
      [](const P& own, const auto&...) { return AdaEdlPolicy(own.kappa, own.least, own.most); });
}

PolicyKind specdec_pp_policy() {
  struct P {
    double risk = 0.7;
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "specdec++",
      "SpecDec++: drafts while the predicted probability of a rejection so far stays below a risk.",
      {field("risk", &P::risk, number(0, 1), "Drafting stops above this probability."), max_field<P>()},
      [](const P& own, const auto&...) { return SpecDecPpPolicy(own.risk, own.most); });
}

PolicyKind goodput_policy() {
  struct P {
    std::int32_t most = 20;
  };
  return kind_entry<PolicyKind, P>(
      "goodput",
      "The gamma with the most expected tokens per time, from the acceptance rates by position so far.",
      {max_field<P>()}, [](const P& own, const std::string&, const PolicyRequest& request) {
        return GoodputPolicy(request.round_times(own.most), own.most);
      });
}

PolicyKind bandit_policy() {
  struct P {
    double width = 0.2;
    std::int32_t most = 10;
  };
  return kind_entry<PolicyKind, P>(
      "bandit", "Upper confidence bounds: every gamma is an arm whose reward is tokens per time.",
      {field("width", &P::width, number(0, 100),
             "Width of the bounds, as a multiple of the largest reward; UCB1 has 1.414."),
       max_field<P>()},
      [](const P& own, const std::string&, const PolicyRequest& request) {
        return BanditPolicy(request.round_times(own.most), own.most, own.width);
      });
}

PolicyKind upper_bound_policy() {
  struct P {
    std::int32_t most = 32;
  };
  return kind_entry<PolicyKind, P>(
      "upper-bound",
      "Drafts exactly the tokens that will be accepted, which no real policy knows: an upper bound for all policies, where drafting a token takes less time than a target run.",
      {max_field<P>()}, [](const P& own, const auto&...) { return UpperBoundPolicy(own.most); });
}

}  // namespace

Family<PolicyKind>& policy_family() {
  static const auto common = object<PolicyKind::Common>(
      "policy", "Keys of every policy.",
      {field("name", &PolicyKind::Common::label, text(), "Name in tables (default: the kind).")});
  static Family<PolicyKind> family("gamma policy", "Gamma policies", common.type, [] {
    return std::vector{fixed_policy(),      heuristic_policy(), confidence_policy(), adaedl_policy(),
                       specdec_pp_policy(), goodput_policy(),   bandit_policy(),     upper_bound_policy()};
  });
  return family;
}

RoundTimes PolicyRequest::round_times(std::int32_t most) const {
  RoundTimes times;
  for (std::int32_t drafted = 0; drafted <= most; ++drafted) times.times.push_back(round_time(drafted));
  return times;
}

const std::string& label_of(const PolicyConfig& policy) {
  return policy.label.empty() ? policy.name() : policy.label;
}

AnyPolicy make_policy(const PolicyConfig& policy, const PolicyRequest& request) {
  return policy.entry().make(policy, request);
}

}  // namespace speclab
