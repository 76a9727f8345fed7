#include "experiments/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/table_file.hpp"
#include "experiments/tree_choice.hpp"
#include "experiments/verifiers.hpp"
#include "sim/error.hpp"
#include "sim/models/arpa.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

Adjustment adjustment(const Json& sampling) {
  return {.temperature = sampling.at("temperature").get<double>(),
          .top_k = sampling.at("top_k").get<std::int32_t>(),
          .top_p = sampling.at("top_p").get<double>()};
}

/// A model's own sampling options, or the config's.
const Json& sampling_of(const Json& spec, const Json& config) {
  return spec.contains("sampling") ? spec.at("sampling") : config.at("sampling");
}

std::int32_t vocab_of(const Json& spec, const std::string& path, const Model* target) {
  if (spec.contains("vocab")) return spec.at("vocab").get<std::int32_t>();
  if (target != nullptr) return target->vocab();
  throw ConfigError(path + "/vocab", "missing; a target states its vocabulary size");
}

/// The order of a table, or a ConfigError at `path`.
std::int32_t order_of(std::size_t rows, std::size_t vocab, const std::string& path) {
  try {
    return table_order(rows, vocab);
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
}

Model build_table(const Json& spec, const std::string& path) {
  if (spec.contains("rows") == spec.contains("file")) {
    throw ConfigError(path, "a table needs either \"rows\" or \"file\"");
  }
  const bool inline_rows = spec.contains("rows");
  const std::string here = path + (inline_rows ? "/rows" : "/file");
  const std::vector<std::vector<double>> rows =
      inline_rows ? spec.at("rows").get<std::vector<std::vector<double>>>()
                  : read_table_file(spec.at("file").get<std::string>(), here);
  const std::size_t vocab = rows.front().size();
  std::vector<double> probability;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != vocab) {
      throw ConfigError(fmt::format("{}/{}", here, i),
                        fmt::format("has {} masses; the first row has {}", rows[i].size(), vocab));
    }
    probability.insert(probability.end(), rows[i].begin(), rows[i].end());
  }
  return Model(TableModel(static_cast<std::int32_t>(vocab), order_of(rows.size(), vocab, here),
                          std::move(probability)));
}

std::optional<double> exact_alpha(const Model& target, const Model& draft, const AnyRule& rule) {
  if (target.table() == nullptr || draft.table() == nullptr) return std::nullopt;
  const TableModel& a = *target.table();
  const TableModel& b = *draft.table();
  std::optional<double> alpha;
  for (std::size_t context = 0; context < std::max(a.contexts(), b.contexts()); ++context) {
    const std::optional<double> here = std::visit(
        [&](const auto& r) -> std::optional<double> {
          const Row p = a.row(context % a.contexts());
          const Row q = b.row(context % b.contexts());
          if constexpr (requires { r.acceptance_rate(p, q); }) return r.acceptance_rate(p, q);
          return std::nullopt;
        },
        rule);
    if (!here) return std::nullopt;
    if (alpha && std::abs(*alpha - *here) > 1e-12) return std::nullopt;
    alpha = here;
  }
  return alpha;
}

std::vector<Token> build_prompt(const Json& plan, const Vocabulary* vocabulary, std::int32_t vocab) {
  const Json& prompt = plan.at("prompt");
  if (prompt.is_string()) {
    if (vocabulary == nullptr) {
      throw ConfigError("/plan/prompt",
                        "is text, but no model here has a text vocabulary; give a list of token ids");
    }
    try {
      return vocabulary->tokens(prompt.get<std::string>());
    } catch (const ModelError& error) {
      throw ConfigError("/plan/prompt", error.what());
    }
  }
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i].get<std::int64_t>() >= vocab) {
      throw ConfigError(fmt::format("/plan/prompt/{}", i),
                        fmt::format("{} is outside the vocabulary of {} tokens", shown(prompt[i]), vocab));
    }
    tokens.push_back(prompt[i].get<Token>());
  }
  return tokens;
}

Engine engine_of(const Json& config) {
  const auto name = config.at("engine").get<std::string>();
  return name == "quick" ? Engine::fast : name == "plain" ? Engine::plain : Engine::automatic;
}

/// Two text models must give each id the same meaning.
void check_same_words(const std::shared_ptr<const Vocabulary>& target,
                      const std::shared_ptr<const Vocabulary>& draft) {
  if (target == nullptr || draft == nullptr || target == draft) return;
  for (Token id = 0; id < target->size(); ++id) {
    if (target->text(id) == draft->text(id)) continue;
    throw ConfigError("/models/draft",
                      fmt::format("token {} is \"{}\" here and \"{}\" in the target; the models must "
                                  "share one vocabulary",
                                  id, draft->text(id), target->text(id)));
  }
}

}  // namespace

std::shared_ptr<const CorpusText> Registry::text(const Json& corpus, const std::string& path) {
  return corpora_.text(corpus, path);
}

std::shared_ptr<const CorpusText> Registry::corpus(const Json& config) {
  if (!config.contains("corpus")) {
    throw ConfigError("/corpus",
                      "missing; n-gram models are trained on a text: {\"file\": ..., \"units\": \"words\"}");
  }
  return text(config.at("corpus"), "/corpus");
}

Model Registry::model(const Json& spec, const std::string& path, const Json& config, const Model* target) {
  return build_model(spec, path, config, target);
}

Model Registry::build_ngram(const Json& spec, int order, const std::string& path, const Json& config) {
  const std::shared_ptr<const CorpusText> text = corpus(config);
  vocabulary_ = std::shared_ptr<const Vocabulary>(text, &text->vocabulary);
  const auto part = spec.at("part").get<std::string>();
  auto& cached = ngrams_[fmt::format("{} {} {}", order, part, config.at("corpus").dump())];
  if (!cached) {
    std::span<const Token> tokens(text->tokens);
    if (part == "first_half") tokens = tokens.first(tokens.size() / 2);
    if (part == "second_half") tokens = tokens.subspan(tokens.size() / 2);
    try {
      cached = std::make_shared<const NgramModel>(train_kneser_ney(tokens, text->vocabulary.size(), order));
    } catch (const ModelError& error) {
      throw ConfigError(path, error.what());
    }
  }
  return Model(cached);
}

Model Registry::build_arpa(const Json& spec, const std::string& path) {
  const auto file = spec.at("file").get<std::string>();
  if (!ngrams_.contains(file)) {
    try {
      ArpaModel read = read_arpa(file);
      arpa_words_[file] = std::make_shared<const Vocabulary>(std::move(read.vocabulary));
      ngrams_[file] = std::make_shared<const NgramModel>(std::move(read.model));
    } catch (const ModelError& error) {
      throw ConfigError(path + "/file", error.what());
    }
  }
  vocabulary_ = arpa_words_[file];
  return Model(ngrams_[file]);
}

Model Registry::build_mixture(const Json& spec, const std::string& path, const Json& config,
                              const Model* target) {
  const Json& base_spec = spec.at("base");
  if (base_spec == "target" && target == nullptr) {
    throw ConfigError(path + "/base", "\"target\" has a meaning in a draft only; give a model");
  }
  const Model base =
      base_spec == "target" ? *target : build_unadjusted(base_spec, path + "/base", config, target);
  const Model other = build_unadjusted(spec.at("other"), path + "/other", config, &base);
  if (base.vocab() != other.vocab()) {
    throw ConfigError(path + "/other",
                      fmt::format("has a vocabulary of {}; its base has {}", other.vocab(), base.vocab()));
  }
  if (spec.contains("alpha") == spec.contains("epsilon")) {
    throw ConfigError(path, "a mixture needs either \"epsilon\" or \"alpha\"");
  }
  if (spec.contains("epsilon")) return mixed(base, other, spec.at("epsilon").get<double>());
  if (base.table() == nullptr || other.table() == nullptr) {
    throw ConfigError(path + "/alpha",
                      "needs stored rows on both sides (table, zipf, dirichlet, uniform, point, "
                      "markov); give \"epsilon\"");
  }
  try {
    return Model(mixed_to_alpha(*base.table(), *other.table(), spec.at("alpha").get<double>()));
  } catch (const ModelError& error) {
    throw ConfigError(path + "/alpha", error.what());
  }
}

Model Registry::build_unadjusted(const Json& spec, const std::string& path, const Json& config,
                                 const Model* target) {
  const auto kind = spec.at("kind").get<std::string>();
  const auto number = [&](const char* key) { return spec.at(key).get<double>(); };
  const auto iid = [&](std::vector<double> row) {
    const auto vocab = static_cast<std::int32_t>(row.size());
    return Model(TableModel(vocab, 0, std::move(row)));
  };
  try {
    if (kind == "table") return build_table(spec, path);
    if (kind == "zipf") {
      return iid(zipf_row(vocab_of(spec, path, target), number("exponent"), spec.at("reversed").get<bool>()));
    }
    if (kind == "dirichlet") {
      return iid(dirichlet_rows(vocab_of(spec, path, target), 1, number("concentration"),
                                spec.at("seed").get<std::uint64_t>()));
    }
    if (kind == "uniform" || kind == "random") return iid(uniform_row(vocab_of(spec, path, target)));
    if (kind == "point") {
      const std::int32_t vocab = vocab_of(spec, path, target);
      const auto token = spec.at("token").get<Token>();
      if (token >= vocab) {
        throw ConfigError(path + "/token",
                          fmt::format("{} is outside the vocabulary of {} tokens", token, vocab));
      }
      return iid(point_row(vocab, token));
    }
    if (kind == "markov") {
      const auto vocab = spec.at("vocab").get<std::int32_t>();
      return Model(TableModel(vocab, 1,
                              dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab),
                                             number("concentration"), spec.at("seed").get<std::uint64_t>())));
    }
    if (kind == "copy") {
      if (spec.at("min_match") > spec.at("max_match")) {
        throw ConfigError(path + "/min_match",
                          fmt::format("{} is above max_match {}", shown(spec.at("min_match")),
                                      shown(spec.at("max_match"))));
      }
      return Model(CopyDrafter(vocab_of(spec, path, target), spec.at("min_match").get<int>(),
                               spec.at("max_match").get<int>()));
    }
    if (kind == "mixture") return build_mixture(spec, path, config, target);
    if (kind == "cached") return build_cached(spec, path, config, target);
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
  if (kind == "arpa") return build_arpa(spec, path);
  if (kind == "sphinx") return build_sphinx(spec, path);
  if (kind == "translation") return build_translation(spec, path, config);
  const int order = kind == "unigram" ? 1 : kind == "bigram" ? 2 : spec.at("order").get<int>();
  return build_ngram(spec, order, path, config);
}

Model Registry::build_model(const Json& spec, const std::string& path, const Json& config,
                            const Model* target) {
  const Json& sampling = sampling_of(spec, config);
  return adjusted(build_unadjusted(spec, path, config, target), adjustment(sampling));
}

std::vector<std::vector<Token>> Registry::build_prompts(const Json& plan_spec, const Json& config,
                                                        const SimulationSize& plan,
                                                        const Vocabulary* vocabulary, std::int32_t vocab) {
  const auto length = plan_spec.at("prompt_tokens").get<std::size_t>();
  if (length == 0) return {build_prompt(plan_spec, vocabulary, vocab)};
  if (!plan_spec.at("prompt").empty()) {
    throw ConfigError("/plan/prompt_tokens", "stands beside a prompt; give one of the two");
  }
  const std::shared_ptr<const CorpusText> text = corpus(config);
  if (text->vocabulary.size() != vocab) {
    throw ConfigError("/plan/prompt_tokens", "needs a target trained on the corpus");
  }
  if (text->tokens.size() <= length) {
    throw ConfigError("/plan/prompt_tokens",
                      fmt::format("{} is not less than the corpus's {} tokens", length, text->tokens.size()));
  }
  std::vector<std::vector<Token>> prompts;
  for (std::uint32_t trial = 0; trial < plan.trials; ++trial) {
    Philox stream(plan.seed, Site{trial, 0, Draw{Use::world, 1}});
    boost::random::uniform_int_distribution<std::size_t> places(0, text->tokens.size() - length);
    const auto start = text->tokens.begin() + static_cast<std::ptrdiff_t>(places(stream));
    prompts.emplace_back(start, start + static_cast<std::ptrdiff_t>(length));
  }
  return prompts;
}

SimulationSize build_plan(const Json& config) {
  const Json& spec = config.at("plan");
  SimulationSize plan;
  plan.seed = config.at("seed").get<std::uint64_t>();
  plan.trials = spec.at("trials").get<std::uint32_t>();
  plan.length = spec.at("length").get<std::uint32_t>();
  plan.batches = spec.at("batches").get<std::uint32_t>();
  return plan;
}

Setup Registry::build(const Json& config) {
  if (!config.contains("models")) {
    throw ConfigError("/models", fmt::format("missing; the experiment {} needs a target and a draft",
                                             shown(config.at("experiment"))));
  }
  const Json& models = config.at("models");
  vocabulary_ = nullptr;
  const Model plain_target = build_unadjusted(models.at("target"), "/models/target", config, nullptr);
  const std::shared_ptr<const Vocabulary> target_words = vocabulary_;
  vocabulary_ = nullptr;
  Model draft = build_model(models.at("draft"), "/models/draft", config, &plain_target);
  if (plain_target.vocab() != draft.vocab()) {
    throw ConfigError("/models/draft",
                      fmt::format("has a vocabulary of {} tokens; the target has {}. They must agree",
                                  draft.vocab(), plain_target.vocab()));
  }
  check_same_words(target_words, vocabulary_);
  const Json& sampling = sampling_of(models.at("target"), config);
  // That rule takes the argmax itself, and needs the probabilities for its threshold.
  const bool greedy = config.at("verifier").at("kind") == "lenient-greedy" && sampling.at("temperature") == 0;
  Model target = greedy ? plain_target : adjusted(plain_target, adjustment(sampling));
  SimulationSize plan = build_plan(config);
  plan.prompts = build_prompts(config.at("plan"), config, plan, target_words.get(), target.vocab());
  Json verifier = with_chosen_tree(config, target, draft, plan);
  AnyRule rule = make_rule(verifier, config.at("gamma").get<std::int32_t>());
  const std::optional<double> alpha = exact_alpha(target, draft, rule);
  return {std::move(target),
          std::move(draft),
          rule,
          std::move(verifier),
          target_words,
          std::move(plan),
          alpha,
          engine_of(config),
          greedy};
}

}  // namespace speclab
