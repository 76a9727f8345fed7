// The policies of the section "serving": how many tokens a step drafts.
#include <algorithm>

#include "experiments/base/format/config_error.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

namespace {

/// Makes a kind of policy without keys.
template <class Make>
StepPolicyKind plain_kind(const char* name, const char* sentence, Make make) {
  struct NoKeys {};
  return kind_entry<StepPolicyKind, NoKeys>(
      name, sentence, {},
      [make](const NoKeys&, const std::string&, const StepPolicyRequest& request) -> StepPolicy {
        return make(request);
      });
}

StepPolicyKind gamma_table() {
  using R = GammaTable::Row;
  const auto row = object<R>(
      "serving table row", "A gamma for batches and contexts.",
      {required(integer_field("batch", &R::batch, 1, 65536, "Largest number of sequences for this row.")),
       field("context", &R::context, number(0, 1e9),
             "Largest mean number of tokens per sequence for this row; 0: any."),
       required(integer_field("gamma", &R::gamma, 0, longest_draft, "Drafted tokens."))});
  auto kind = kind_entry<StepPolicyKind, GammaTable>(
      "table", "Chooses gamma by batch and mean context.",
      {required(field(
          "rows", &GammaTable::rows, list(row, 1, 4096),
          "Rows of the table. The first row that covers batch and context decides; gamma is 0 if none does."))},
      [](const GammaTable& own, const auto&...) -> StepPolicy { return own; });
  kind.max_drafted = [](const SelectedKind& selected) {
    std::uint32_t longest = 0;
    for (const R& one : selected.as<GammaTable>().rows) longest = std::max(longest, one.gamma);
    return longest;
  };
  return kind;
}

StepPolicyKind sglang_slots() {
  auto kind = plain_kind("sglang", "SGLang's default slots by batch, adjusted by the accepted tokens.",
                         [](const StepPolicyRequest&) { return EmaTiers::defaults(); });
  kind.max_drafted = [](const SelectedKind&) {
    std::uint32_t longest = 0;
    for (const EmaTiers::Slot& slot : EmaTiers::defaults().slots)
      longest = std::max(longest, slot.candidates.back());
    return longest;
  };
  return kind;
}

struct AdaptiveKeys {
  std::optional<double> correlation;
  bool waits = false;
  double step_ms = 0;
};

/// Returns the distribution of the draft's confidences; empty if confidences are recorded with rounds.
std::optional<ConfidenceLaw> confidence_of(const AdaptiveKeys& known, const std::string& path,
                                           const StepPolicyRequest& request) {
  if (std::holds_alternative<RecordedRounds>(request.law)) {
    if (known.correlation)
      throw ConfigError(path + "/correlation", "confidences are recorded with the rounds: leave it out");
    return std::nullopt;
  }
  if (!known.correlation)
    throw ConfigError(path + "/correlation",
                      "missing: how much the draft knows of the acceptance of its tokens");
  return ConfidenceLaw(*known.correlation, position_rates(request.law, request.gamma));
}

StepPolicyKind adaptive_verification() {
  using K = AdaptiveKeys;
  auto kind = kind_entry<StepPolicyKind, K>(
      "adaptive",
      "Adaptive verification (vLLM): drafts \"gamma\" tokens and verifies those that their confidences choose.",
      {field(
           "correlation", &K::correlation, number(0, 1),
           "Correlation of a confidence with the acceptance of its token, given that those before it are accepted."),
       field(
           "waits", &K::waits, boolean(),
           "The budget follows the confidences of this step, for which the host waits; otherwise those of the step before."),
       field("step_ms", &K::step_ms, number(0, 1e9),
             "Additional milliseconds of every decoding step, for ranking and waiting.")},
      [](const K& own, const std::string& path, const StepPolicyRequest& request) -> StepPolicy {
        return AdaptiveVerification{.gamma = request.gamma,
                                    .confidence = confidence_of(own, path, request),
                                    .waits = own.waits,
                                    .step_ms = own.step_ms,
                                    .time = request.time};
      });
  kind.verifies_part = true;
  return kind;
}

}  // namespace

Family<StepPolicyKind>& step_policy_family() {
  static Family<StepPolicyKind> family("policy of a server", "Policies of servers", nullptr, [] {
    return std::vector{
        plain_kind("fixed", "Drafts \"gamma\" tokens at every step.",
                   [](const StepPolicyRequest& request) { return FixedGamma{request.gamma}; }),
        gamma_table(),
        sglang_slots(),
        plain_kind(
            "goodput",
            "Drafts up to \"gamma\" tokens and maximises the expected tokens per millisecond, with alpha as observed.",
            [](const StepPolicyRequest& request) {
              return GoodputGamma{.most = request.gamma, .time = request.time};
            }),
        adaptive_verification(),
        plain_kind("clairvoyant", "Drafts as many tokens as will be accepted, which no engine knows.",
                   [](const StepPolicyRequest& request) {
                     return Clairvoyant{request.gamma, request.time};
                   })};
  });
  return family;
}

}  // namespace speclab
