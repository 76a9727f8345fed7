#include "experiments/verify/prove/request_survey.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/catalog/models/sampling.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/verify/prove/request_faults.hpp"

namespace speclab {

SPECLAB_RESULT(OptionRow, "option_row", option, order, tv, from_first);
SPECLAB_RESULT(FaultRow, "fault_row", fault, option, tv, block_tv, emitted, right_emitted);
SPECLAB_RESULT(RequestSurvey, "request_survey", gamma, tokens, options, faults, as_expected);

namespace {

constexpr std::array surveyed_rules{"token", "block", "match", "scheduled"};
constexpr std::array strengths{0.5, 1.0, 2.0};
constexpr std::size_t usual = 1;  ///< place of the strength with which options are compared

/// Returns each option at a strength; two filters where their order matters.
std::vector<RequestLaw> options_at(double strength, std::int32_t vocab) {
  const double offset = 2;
  // After token 0 follow only this token, or the last and then any token.
  const Grammar grammar{{.next = {{0, 1}}, .other = 0}, {.next = {{0, 1}, {vocab - 1, 0}}}};
  return {{.repetition_penalty = 1 + strength, .logit_offset = offset},
          {.frequency_penalty = strength},
          {.presence_penalty = strength},
          {.logit_bias = {{0, strength}}},
          {.min_tokens = static_cast<std::int32_t>(std::lround(2 * strength)), .end_tokens = {vocab - 1}},
          {.banned = {0}},
          {.grammar = grammar},
          {.top_k = 2, .grammar = grammar},
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
    task_.rule = read(kind_of(rule_family()), Json{{"kind", rule}}, "/rule");
    task_.request = RequestTask{law, law, fault, tokens_};
    check_branches(task_, Arithmetic::floating_point);
    return examine_by_context<double>(task_).round;
  }

 private:
  ProofTask task_;
  std::size_t tokens_;
};

/// Returns "0" without digits for a distance that is rounding.
Cell tv_cell(double tv) { return {tv <= enumeration_rounding ? "0" : fmt::format("{:.4f}", tv), tv}; }

}  // namespace

RequestSurvey survey_requests(const ProofTask& task, std::size_t tokens) {
  RequestExaminer examine(task, tokens);
  RequestSurvey survey{.gamma = task.gamma, .tokens = tokens, .as_expected = true};
  const auto vocab = static_cast<std::int32_t>(task.target.front().size());
  for (RequestLaw law : options_at(strengths[usual], vocab)) {
    const std::string option = request_words(law);
    SequenceDistribution<double> first;
    for (const EngineOrder& order : engine_orders()) {
      law.order.engine = order.name;
      OptionRow row{.option = option, .order = std::string(order.name)};
      SequenceDistribution<double> plain;
      for (const char* rule : surveyed_rules) {
        auto found = examine(rule, law, {});
        row.tv.emplace_back(rule, found.distance);
        survey.as_expected = survey.as_expected && found.lossless();
        plain = std::move(found.target_distribution);
      }
      if (first.empty()) first = plain;
      row.from_first = distribution_distance(first, plain);
      survey.options.push_back(std::move(row));
    }
  }

  // Filters apply jointly in SGLang's order alone.
  std::vector<std::vector<RequestLaw>> laws;  // by strength and option
  for (const double strength : strengths) {
    laws.push_back(options_at(strength, vocab));
    for (RequestLaw& law : laws.back()) law.order.engine = "sglang";
  }
  const std::vector<RequestLaw>& usual_laws = laws[usual];
  std::vector<double> right_emitted;
  for (const RequestLaw& law : usual_laws)
    right_emitted.push_back(examine("token", law, {}).expected_emitted);
  for (const NamedFault& fault : std::span(history_faults()).subspan(1)) {
    bool refuted = false;
    for (std::size_t which = 0; which < usual_laws.size(); ++which) {
      FaultRow row{.fault = fault.name, .option = survey.options[which * engine_orders().size()].option};
      for (std::size_t i = 0; i < strengths.size(); ++i) {
        const auto found = examine("token", laws[i][which], fault.fault);
        row.tv.emplace_back(fmt::format("{}", strengths[i]), found.distance);
        if (i != usual) continue;
        row.emitted = found.expected_emitted;
        refuted = refuted || !found.lossless();
      }
      row.block_tv = examine("block", usual_laws[which], fault.fault).distance;
      row.right_emitted = right_emitted[which];
      survey.faults.push_back(std::move(row));
    }
    // A fault in the draft's rows alone leaves decoding lossless.
    const bool of_draft = fault.name == "plain-draft" || fault.name == "forgetful-draft";
    survey.as_expected = survey.as_expected && refuted != of_draft;
  }
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
  const auto tokens_cell = [](double tokens) { return Cell{fmt::format("{:.3f}", tokens), tokens}; };
  Table faults{
      "faults", "Faults, token verification: total variation by strength of the option", {"fault", "option"}};
  for (const double strength : strengths) faults.columns.push_back(fmt::format("TV at {}", strength));
  for (const char* title : {"block, at 1", "tokens a round", "without fault"})
    faults.columns.emplace_back(title);
  for (const FaultRow& row : survey.faults) {
    if (row.tv[usual].second <= enumeration_rounding) continue;
    faults.rows.push_back({text_cell(row.fault), text_cell(row.option)});
    for (const auto& [strength, tv] : row.tv) faults.rows.back().push_back(tv_cell(tv));
    faults.rows.back().push_back(tv_cell(row.block_tv));
    for (const double number : {row.emitted, row.right_emitted})
      faults.rows.back().push_back(tokens_cell(number));
  }
  Table drafts{"drafts",
               "Right rows, token verification: tokens a round at strength 1, by the draft's rows",
               {"option", "filtered alike", "not filtered", "counting its round alone"}};
  for (std::size_t option = 0; const FaultRow& row : survey.faults) {
    if (row.fault == "plain-draft")
      drafts.rows.push_back(
          {text_cell(row.option), tokens_cell(row.right_emitted), tokens_cell(row.emitted)});
    if (row.fault == "forgetful-draft") drafts.rows[option++].push_back(tokens_cell(row.emitted));
  }
  Listing out;
  out += fmt::format(
      "The first {} tokens by rounds of {} drafts. Repetition penalties are those of this logit_offset.\n",
      survey.tokens, survey.gamma);
  out += std::move(options);
  out += std::move(drafts);
  out += "Pairs of a fault and an option that are not listed are lossless at strength 1.\n";
  out += std::move(faults);
  return out;
}

}  // namespace speclab
