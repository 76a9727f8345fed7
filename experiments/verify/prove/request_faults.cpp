#include "experiments/verify/prove/request_faults.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
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
      {"round-start",
       "All rows of a round count the tokens before the round.",
       "sgl-project/sglang#40244",
       {.within_round = false}},
      {"late-round",
       "All rows of a round count the tokens before the last round.",
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
          {with_unit(integer_field("tokens", &P::tokens, 1, 64,
                                   "Emitted tokens to compare over several rounds (default: 2 gamma + 2)."),
                     "tokens"),
           field("fault", &P::fault, text(), "A planted mistake about filters: " + names + ".")})
          .type};
}

std::optional<RequestTask> request_of(const Config& config) {
  const auto& [target, draft] = *config.models;
  const RequestLaw& target_law = sampling_of(target, config.sampling);
  const RequestLaw& draft_law = sampling_of(draft, config.sampling);
  const auto& section = config.section<ProveSection>();
  const NamedFault* fault = find_named(history_faults(), section.fault);
  if (fault == nullptr) {
    throw ConfigError("/prove/fault", "unknown fault \"{}\"{}", section.fault,
                      suggestion(section.fault, entry_names(history_faults())));
  }
  const bool planted = fault != &history_faults().front();
  if (!planted && !section.tokens && !target_law.remembers() && !draft_law.remembers()) return std::nullopt;
  RequestTask task{target_law, draft_law, fault->fault, static_cast<std::size_t>(2 * config.gamma + 2)};
  if (section.tokens) task.tokens = static_cast<std::size_t>(*section.tokens);
  if (fault->fault.counted == HistoryFault::Counted::with_rejected &&
      !make_rule(config.rule, config.gamma).sampled->one_draft()) {
    throw ConfigError("/prove/fault", "\"{}\" needs a rule of one draft, and \"{}\" drafts several",
                      fault->name, config.rule.name());
  }
  return task;
}

std::string request_words(const RequestLaw& law) {
  Json given;
  Json usual;
  write(sampling_type(), law, given);
  write(sampling_type(), RequestLaw{}, usual);
  for (const auto& [key, value] : usual.items()) {
    if (given[key] == value) given.erase(key);
  }
  std::string text;
  for (const char letter : given.dump()) {
    if (letter == ',' && !text.empty()) text += letter, text += ' ';
    if (std::string_view("\"{},").find(letter) == std::string_view::npos) text += letter;
  }
  return text;
}

SPECLAB_RESULT(OptionRow, "option_row", option, order, tv, from_first);
SPECLAB_RESULT(FaultRow, "fault_row", fault, option, tv, block_tv, emitted, right_emitted);
SPECLAB_RESULT(NominalRow, "nominal_row", nominal, emitted, by_length, by_length_tv, closest, closest_tv);
SPECLAB_RESULT(RequestSurvey, "request_survey", gamma, tokens, options, faults, nominal, as_expected);

namespace {

constexpr std::array surveyed_rules{"token", "block", "match", "scheduled"};
constexpr std::array strengths{0.5, 1.0, 2.0};

/// Returns each option at a strength; two filters where their order matters.
std::vector<RequestLaw> options_at(double strength, std::int32_t vocab) {
  const double offset = 2;
  return {{.repetition_penalty = 1 + strength, .logit_offset = offset},
          {.frequency_penalty = strength},
          {.presence_penalty = strength},
          {.logit_bias = {{0, strength}}},
          {.min_tokens = static_cast<std::int32_t>(std::lround(2 * strength)), .end_tokens = {vocab - 1}},
          {.banned = {0}},
          {.top_k = 2, .top_p = 0.65},
          {.temperature = 1 / (1 + strength), .top_p = 0.65},
          {.top_p = 0.9, .min_p = 0.3},
          {.repetition_penalty = 1 + strength, .logit_offset = offset, .logit_bias = {{0, strength}}}};
}

/// Examines requests on the rows of one task.
class RequestExaminer {
 public:
  RequestExaminer(const ProofTask& task, std::size_t tokens) : task_(task), tokens_(tokens) {}

  Losslessness<double> operator()(const std::string& rule, const RequestLaw& law, const HistoryFault& fault) {
    const Typed<RuleConfig> type = kind_of(rule_family());
    task_.rule = read(type, Json{{"kind", rule}}, "/rule");
    task_.request = RequestTask{law, law, fault, tokens_};
    check_branches(task_, Arithmetic::floating_point, std::nullopt);
    return examine_by_context<double>(task_).round;
  }

 private:
  ProofTask task_;
  std::size_t tokens_;
};

/// Finds how strong a frequency penalty is that counts the last token of each round.
NominalRow nominal_row(RequestExaminer& examine, double nominal) {
  const HistoryFault& fault = find_named(history_faults(), "last-of-round")->fault;
  const auto found = examine("token", {.frequency_penalty = nominal}, fault);
  const auto tv_at = [&](double penalty) {
    const auto plain = examine("token", {.frequency_penalty = penalty}, {.draft_filtered = false});
    return distribution_distance(found.distribution, plain.target_distribution);
  };
  NominalRow row{
      .nominal = nominal, .emitted = found.expected_emitted, .by_length = nominal / found.expected_emitted};
  row.by_length_tv = tv_at(row.by_length);
  constexpr int steps = 100;
  for (int step = 0; step <= steps; ++step) {
    const double penalty = nominal * step / steps;
    const double tv = tv_at(penalty);
    if (tv >= row.closest_tv) continue;
    row.closest = penalty;
    row.closest_tv = tv;
  }
  return row;
}

/// Returns "0" without digits for a distance that is rounding.
Cell tv_cell(double tv) { return {tv <= enumeration_rounding ? "0" : fmt::format("{:.4f}", tv), tv}; }

}  // namespace

RequestSurvey survey_requests(const ProofTask& task, std::size_t tokens) {
  RequestExaminer examine(task, tokens);
  RequestSurvey survey{.gamma = task.gamma, .tokens = tokens, .as_expected = true};
  const auto vocab = static_cast<std::int32_t>(task.target.front().size());
  for (RequestLaw law : options_at(1, vocab)) {
    const std::string option = request_words(law);
    SequenceDistribution<double> first;
    for (const EngineOrder& order : engine_orders()) {
      law.order.engine = order.name;
      OptionRow row{.option = option, .order = std::string(order.name)};
      for (const char* rule : surveyed_rules) {
        const auto found = examine(rule, law, {});
        row.tv.emplace_back(rule, found.distance);
        survey.as_expected = survey.as_expected && found.lossless();
        if (first.empty()) first = found.target_distribution;
        row.from_first = distribution_distance(first, found.target_distribution);
      }
      survey.options.push_back(std::move(row));
    }
  }
  for (const NamedFault& fault : std::span(history_faults()).subspan(1)) {
    bool refuted = false;
    for (std::size_t which = 0; which < options_at(1, vocab).size(); ++which) {
      // Filters apply jointly in SGLang's order alone.
      const auto law_at = [&](double strength) {
        RequestLaw law = options_at(strength, vocab)[which];
        law.order.engine = "sglang";
        return law;
      };
      FaultRow row{.fault = fault.name, .option = request_words(options_at(1, vocab)[which])};
      for (const double strength : strengths)
        row.tv.emplace_back(fmt::format("{}", strength),
                            examine("token", law_at(strength), fault.fault).distance);
      const auto found = examine("token", law_at(1), fault.fault);
      row.block_tv = examine("block", law_at(1), fault.fault).distance;
      row.emitted = found.expected_emitted;
      row.right_emitted = examine("token", law_at(1), {}).expected_emitted;
      refuted = refuted || !found.lossless();
      survey.faults.push_back(std::move(row));
    }
    survey.as_expected = survey.as_expected && refuted == (fault.name != "plain-draft");
  }
  for (const double nominal : strengths) survey.nominal.push_back(nominal_row(examine, nominal));
  return survey;
}

std::string request_survey_headline(const RequestSurvey& survey) {
  return survey.as_expected
             ? "Every option is lossless where every row counts the tokens before it; every fault is refuted."
             : "Not every option and fault is as expected.";
}

Listing request_survey_text(const RequestSurvey& survey) {
  Table options{
      "options", "Right rows: total variation of rounds to plain decoding, to rounding", {"option", "order"}};
  for (const char* rule : surveyed_rules) options.columns.emplace_back(rule);
  options.columns.emplace_back("TV of orders");
  for (const OptionRow& row : survey.options) {
    options.rows.push_back({text_cell(row.option), text_cell(row.order)});
    for (const auto& [rule, tv] : row.tv) options.rows.back().push_back(tv_cell(tv));
    options.rows.back().push_back(tv_cell(row.from_first));
  }
  Table faults{
      "faults", "Faults, token verification: total variation by strength of the option", {"fault", "option"}};
  for (const double strength : strengths) faults.columns.push_back(fmt::format("TV at {}", strength));
  for (const char* title : {"block, at 1", "tokens a round", "without fault"})
    faults.columns.emplace_back(title);
  for (const FaultRow& row : survey.faults) {
    if (row.tv[1].second <= enumeration_rounding && row.fault != "plain-draft") continue;
    faults.rows.push_back({text_cell(row.fault), text_cell(row.option)});
    for (const auto& [strength, tv] : row.tv) faults.rows.back().push_back(tv_cell(tv));
    faults.rows.back().push_back(tv_cell(row.block_tv));
    for (const double number : {row.emitted, row.right_emitted})
      faults.rows.back().push_back({fmt::format("{:.3f}", number), number});
  }
  Table nominal{
      "nominal",
      "A frequency penalty that counts the last token of each round, against plain decoding with less",
      {"nominal", "tokens a round", "nominal / tokens", "TV there", "closest", "TV there"}};
  for (const NominalRow& row : survey.nominal) {
    nominal.rows.emplace_back();
    for (const double number :
         {row.nominal, row.emitted, row.by_length, row.by_length_tv, row.closest, row.closest_tv})
      nominal.rows.back().push_back({fmt::format("{:.4g}", number), number});
  }
  Listing out;
  out += fmt::format(
      "The first {} tokens by rounds of {} drafts. Repetition penalties are those of this logit_offset.\n",
      survey.tokens, survey.gamma);
  out += std::move(options);
  out += "Pairs of a fault and an option that are not listed are lossless at strength 1.\n";
  out += std::move(faults);
  out += std::move(nominal);
  return out;
}

}  // namespace speclab
