#include "experiments/verify/prove/request_faults.hpp"

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

const std::vector<NamedFault>& history_faults() {
  using enum RequestFilter;
  using Rows = HistoryFault::Rows;
  using Counted = HistoryFault::Counted;
  static const std::vector<RequestFilter> penalties{repetition_penalty, frequency_penalty, presence_penalty};
  static const std::vector<NamedFault> all{
      {"none", "Every row is filtered, and counts the tokens before it.", "", {}},
      {"plain-draft",
       "The draft's rows are not filtered. This is lossless.",
       "NVIDIA/TensorRT-LLM#17701",
       {.draft_filtered = false}},
      {"forgetful-draft",
       "The draft's rows count the drafts of their round alone. This is lossless.",
       "",
       {.draft_forgets = true}},
      {"plain-target",
       "Only the draft's rows are filtered.",
       "vllm-project/vllm#18902",
       {.target_rows = Rows::none}},
      {"bonus-only",
       "Penalties act on the bonus row alone.",
       "sgl-project/sglang#28242",
       {.target_rows = Rows::bonus, .filters = penalties, .draft_filtered = false}},
      {"bias-on-bonus",
       "The bias acts on the bonus row alone.",
       "",
       {.target_rows = Rows::bonus, .filters = {logit_bias}}},
      {"grammar-on-bonus",
       "The grammar masks the bonus row alone.",
       "",
       {.target_rows = Rows::bonus, .filters = {grammar}}},
      {"grammar-off-bonus",
       "The grammar masks all rows but the bonus row.",
       "vllm-project/vllm#44006",
       {.target_rows = Rows::drafted, .filters = {grammar}}},
      {"token-late",
       "Each row counts the tokens before it but the last, and has the grammar's state before that token.",
       "",
       {.token_late = true}},
      {"round-start",
       "All rows of a round count the tokens before the round.",
       "sgl-project/sglang#40244",
       {.within_round = false}},
      {"late-round",
       "All rows of a round count the tokens before the previous round.",
       "sgl-project/sglang#28200",
       {.within_round = false, .round_late = true}},
      {"last-of-round",
       "All rows of a round count one token of each round before it, the last; the draft is not filtered.",
       "SGLang 0.5.23, srt/speculative/eagle_utils.py:562-581, 860-863; sgl-project/sglang#33643",
       {.draft_filtered = false, .within_round = false, .counted = Counted::last_of_round}},
      {"rejected-counted",
       "Rejected drafts are counted.",
       "osaurus-ai/vmlx-swift#357",
       {.counted = Counted::with_rejected}},
      {"accepted-twice",
       "Accepted drafts are counted twice.",
       "osaurus-ai/vmlx-swift#361",
       {.counted = Counted::accepted_twice}},
      {"chained-filters",
       "Rounds apply top-k, then top-p to what is left; plain decoding may apply them jointly.",
       "ztxz16/fastllm#738; SGLang 0.5.23, srt/layers/sampler.py:435-440, eagle_utils.py:725-743",
       {.engine = "sglang-verify"}}};
  return all;
}

SectionKind prove_section() {
  using P = ProveSection;
  std::string names;
  for (const NamedFault& one : history_faults()) names += (names.empty() ? "" : ", ") + one.name;
  return {
      "prove",
      object<P>(
          "prove", "How `speclab prove` treats sampling options.",
          {with_unit(
               integer_field(
                   "tokens", &P::tokens, 1, 64,
                   "Emitted tokens to compare, and to take means over: gamma + 1 or more (default: 2 gamma + 2)."),
               "tokens"),
           field("fault", &P::fault, text(), "A planted mistake about filters: " + names + ".")})
          .type,
      true};
}

std::optional<RequestTask> request_of(const Config& config) {
  const auto& [target, draft] = *config.models;
  const RequestLaw& target_law = sampling_of(target, config.sampling);
  const RequestLaw& draft_law = sampling_of(draft, config.sampling);
  const auto& section = config.section<ProveSection>();
  const NamedFault& fault = named_entry(history_faults(), section.fault, [&](const std::string& near) {
    return ConfigError("/prove/fault", "unknown fault \"{}\"{}", section.fault, near);
  });
  const bool planted = &fault != &history_faults().front();
  if (!planted && !section.tokens && !target_law.remembers() && !draft_law.remembers()) return std::nullopt;
  RequestTask task{target_law, draft_law, fault.fault, static_cast<std::size_t>(2 * config.gamma + 2)};
  if (section.tokens) {
    if (*section.tokens <= config.gamma) {
      throw ConfigError(
          "/prove/tokens",
          "{} tokens never contain the one after gamma = {} accepted ones, so that its faults would go unseen; give {} or more",
          *section.tokens, config.gamma, config.gamma + 1);
    }
    task.tokens = static_cast<std::size_t>(*section.tokens);
  }
  if (fault.fault.counted == HistoryFault::Counted::with_rejected &&
      !make_rule(config.rule, config.gamma).sampled->one_draft()) {
    throw ConfigError("/prove/fault", "\"{}\" needs a rule of one draft, and \"{}\" drafts several",
                      fault.name, config.rule.name());
  }
  return task;
}

}  // namespace speclab
