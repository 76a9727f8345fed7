#include "experiments/run/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <utility>

#include "core/random/philox.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"

namespace speclab {

namespace {

/// Returns the rule's acceptance rate if it is the same in every context of two stored tables.
std::optional<double> exact_acceptance(const Model& target, const Model& draft, const AnyRule& rule) {
  if (target.table() == nullptr || draft.table() == nullptr || !rule->has_acceptance_rate())
    return std::nullopt;
  const TableModel& a = *target.table();
  const TableModel& b = *draft.table();
  std::optional<double> alpha;
  for (std::size_t context = 0; context < std::max(a.contexts(), b.contexts()); ++context) {
    const double here =
        rule->context_acceptance(a.row(context % a.contexts()), b.row(context % b.contexts()));
    if (alpha && std::abs(*alpha - here) > 1e-12) return std::nullopt;
    alpha = here;
  }
  return alpha;
}

/// Throws ConfigError for a prompt that a target with these facts cannot read.
void check_prompt(const SimulationConfig& size, const ModelFacts& target) {
  if (size.prompt_tokens > 0 && !is_empty(size.prompt)) {
    throw ConfigError("/simulation/prompt_tokens",
                      "is given together with \"prompt\"; leave one of the two out");
  }
  if (size.prompt_tokens > 0 && target.words == false)
    throw ConfigError("/simulation/prompt_tokens", "needs a target trained on the corpus");
  if (std::holds_alternative<std::string>(size.prompt) && target.words == false) {
    throw ConfigError("/simulation/prompt",
                      "is text, but no model here has a text vocabulary; give a list of token ids");
  }
  const auto* tokens = std::get_if<std::vector<Token>>(&size.prompt);
  for (std::size_t i = 0; tokens != nullptr && target.vocab && i < tokens->size(); ++i) {
    if ((*tokens)[i] < *target.vocab) continue;
    throw ConfigError(fmt::format("/simulation/prompt/{}", i), "{} is outside the vocabulary of {} tokens",
                      (*tokens)[i], *target.vocab);
  }
}

std::vector<Token> one_prompt(const PromptConfig& prompt, const Vocabulary* vocabulary) {
  if (const auto* tokens = std::get_if<std::vector<Token>>(&prompt)) return *tokens;
  return at_path("/simulation/prompt", [&] { return vocabulary->tokens(std::get<std::string>(prompt)); });
}

/// Returns a hint at drafts for a neural target, whose vocabulary is fixed.
std::string what_fits(const ModelConfig& target) {
  const GgufParameters* own = gguf_parameters(target);
  if (own == nullptr) return "";
  return fmt::format(
      "; a GGUF file with the same tokenizer fits, one with another by \"tokens_of\": \"{0}\", and n-grams of a corpus with \"tokenization\": \"gguf\", \"tokenizer\": \"{0}\"",
      own->file);
}

void require_one_vocab(const ModelPair& models, std::int32_t target, std::int32_t draft) {
  if (target == draft) return;
  throw ConfigError(models.draft.path, "has a vocabulary of {} tokens; the target has {}. They must agree{}",
                    draft, target, what_fits(models.target));
}

const ModelPair& models_of(const ConfigReader& config) {
  const std::optional<ModelPair>& models = config[&Config::models];
  if (models) return *models;
  throw ConfigError("/models", "missing; the experiment \"{}\" needs a target and a draft",
                    config[&Config::experiment]->name);
}

}  // namespace

ModelFacts facts_of_model(const ConfigReader& config, bool draft) {
  const auto& [target_config, draft_config] = models_of(config);
  const std::optional<CorpusConfig>& corpus = config[&Config::corpus];
  FactsRequest request{.corpus = corpus ? &*corpus : nullptr, .corpus_path = "/corpus"};
  const ModelFacts target = facts_of(target_config, request);
  if (!draft) return target;
  request.target = target;
  return facts_of(draft_config, request);
}

void check_setup(const ConfigReader& config) {
  const ModelPair& models = models_of(config);
  if (is_recorded(config)) return;
  const ModelFacts target = facts_of_model(config, false);
  const ModelFacts draft = facts_of_model(config, true);
  if (target.vocab && draft.vocab) require_one_vocab(models, *target.vocab, *draft.vocab);
  const SimulationConfig& size = config[&Config::simulation];
  if (size.prompt_tokens > 0 && is_empty(size.prompt)) {
    const std::optional<CorpusConfig>& corpus = config[&Config::corpus];
    check_corpus(corpus ? &*corpus : nullptr, "/corpus");
  }
  check_prompt(size, target);
  for (const auto& [model, facts] : {std::pair(&models.target, &target), std::pair(&models.draft, &draft)}) {
    const RequestLaw& law = sampling_of(*model, config[&Config::sampling]);
    check_sampling(law, facts->vocab, sampling_path(*model));
    check_overlap(models.draft, law);
  }
  // A rule with measured parameters is made after the measurement.
  const RuleConfig& rule = config[&Config::rule];
  if (!rule.entry().measure) make_rule(rule, [&] { return config[&Config::gamma]; });
}

SimulationSize simulation_size(const ConfigReader& config) {
  const SimulationConfig& size = config[&Config::simulation];
  return {
      .seed = config[&Config::seed], .trials = size.trials, .length = size.length, .batches = size.batches};
}

ModelRequest model_request(const ConfigReader& config, ModelFactory& factory, const Model* target) {
  const std::optional<CorpusConfig>& corpus = config[&Config::corpus];
  const SimulationConfig& size = config[&Config::simulation];
  const auto* tokens = std::get_if<std::vector<Token>>(&size.prompt);
  const auto asked = static_cast<std::size_t>(size.prompt_tokens);
  return {.factory = factory,
          .corpus = corpus ? &*corpus : nullptr,
          .corpus_path = "/corpus",
          .target = target,
          .default_vocab = {},
          .prompt = tokens == nullptr ? std::nullopt : std::optional(std::max(asked, tokens->size()))};
}

std::string context_words(std::span<const Token> context) {
  constexpr std::size_t longest = 16;
  if (context.empty()) return "no token";
  return context.size() > longest ? fmt::format("{} tokens", context.size())
                                  : fmt::format("{}", fmt::join(context, ","));
}

std::vector<std::vector<Token>> build_prompts(const ConfigReader& config, ModelFactory& factory,
                                              const Vocabulary* vocabulary, std::int32_t vocab) {
  const SimulationConfig& size = config[&Config::simulation];
  const auto length = static_cast<std::size_t>(size.prompt_tokens);
  check_prompt(size, {.vocab = vocab, .words = length > 0 || vocabulary != nullptr});
  if (length == 0) return {one_prompt(size.prompt, vocabulary)};
  const std::shared_ptr<const CorpusText> text = factory.text(model_request(config, factory, nullptr));
  if (text->vocabulary.size() != vocab)
    throw ConfigError("/simulation/prompt_tokens", "needs a target trained on the corpus");
  if (text->tokens.size() <= length) {
    throw ConfigError("/simulation/prompt_tokens", "{} is not less than the corpus's {} tokens", length,
                      text->tokens.size());
  }
  const std::size_t each = sizeof(std::vector<Token>) + length * sizeof(Token);
  require_memory(static_cast<double>(each) * size.trials, "/simulation/trials",
                 fmt::format("{} prompts of {} tokens", size.trials, length));
  std::vector<std::vector<Token>> prompts;
  for (std::uint32_t trial = 0; trial < size.trials; ++trial) {
    Philox stream(config[&Config::seed], Site{trial, 0, Draw{Use::world, 1}});
    boost::random::uniform_int_distribution<std::size_t> starts(0, text->tokens.size() - length);
    const auto start = text->tokens.begin() + static_cast<std::ptrdiff_t>(starts(stream));
    prompts.emplace_back(start, start + static_cast<std::ptrdiff_t>(length));
  }
  return prompts;
}

Setup build_setup(const ConfigReader& config, ModelFactory& factory) {
  check_setup(config);
  const ModelPair& models = models_of(config);
  const auto& [target_config, draft_config] = models;
  const RequestLaw& usual_sampling = config[&Config::sampling];
  const BuiltModel target = factory.unadjusted(target_config, model_request(config, factory, nullptr));
  SimulationSize simulation = simulation_size(config);
  simulation.prompts = build_prompts(config, factory, target.vocabulary.get(), target.model.vocab());
  // All prompts of a config have one length.
  const std::size_t prompt = simulation.prompts.front().size();
  ModelRequest draft_request = model_request(config, factory, &target.model);
  draft_request.prompt = prompt;
  BuiltModel draft = factory.model(draft_config, draft_request, usual_sampling);
  require_one_vocab(models, target.model.vocab(), draft.model.vocab());
  check_same_words(target.vocabulary.get(), draft.vocabulary.get(), draft_config.path);
  RequestLaw sampling = sampling_of(target_config, usual_sampling);
  const std::string path = sampling_path(target_config);
  Model adjusted_target = with_sampling(target.model, sampling, prompt, path);

  RuleConfig rule = config[&Config::rule];
  if (const auto& measure = rule.entry().measure) {
    const RulePilot pilot{adjusted_target, draft.model, simulation, config[&Config::gamma],
                          config[&Config::cost].c};
    if (auto measured = measure(rule, pilot)) rule.parameters = std::move(measured);
  }
  RulePrograms programs = make_rule(rule, [&] { return config[&Config::gamma]; });
  const bool argmax_target = sampling.temperature == 0 && programs.sampled->takes_argmax();
  if (argmax_target) {
    // The rule takes the argmax of the row that the other filters leave.
    sampling.temperature = 1;
    sampling.top_k = 0;
    sampling.top_p = 1;
    sampling.min_p = 0;
    adjusted_target = with_sampling(target.model, sampling, prompt, path);
  }
  const std::optional<double> alpha = exact_acceptance(adjusted_target, draft.model, programs.sampled);
  return {.target = std::move(adjusted_target),
          .draft = std::move(draft.model),
          .rule = std::move(programs),
          .rule_config = std::move(rule),
          .vocabulary = target.vocabulary,
          .simulation = std::move(simulation),
          .wanted = wanted_interval(config),
          .exact_alpha = alpha,
          .engine = config[&Config::engine],
          .argmax_target = argmax_target};
}

Setup build_setup(const ConfigReader& config) {
  ModelFactory factory;
  return build_setup(config, factory);
}

void require_one_draft(const RuleConfig& rule, const std::string& experiment) {
  // Only rules of trees have measured parameters (the shape), and a tree has several drafts.
  if (!rule.entry().measure && make_rule(rule, 1).sampled->one_draft()) return;
  throw ConfigError(
      rule.path + "/kind",
      "\"{}\" drafts several sequences at once, and {} takes rounds of one; choose a rule of one draft",
      rule.name(), experiment);
}

}  // namespace speclab
