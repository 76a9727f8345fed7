#include "experiments/compare/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "experiments/verifiers.hpp"
#include "sim/error.hpp"
#include "sim/sequences.hpp"
#include "sim/text/documents.hpp"

namespace speclab {

namespace {

/// Where the prompt of a document ends; nothing when the document does not suit.
std::optional<std::size_t> prompt_end(const std::vector<Token>& document, std::optional<Token> until,
                                      std::size_t tokens) {
  const std::size_t end = until ? position_after(document, *until) : tokens;
  return end < document.size() ? std::optional(end) : std::nullopt;
}

std::optional<Token> prompt_until(const Json& spec, const std::string& path, const CorpusText& text) {
  const std::string word = spec.at("prompt_until");
  if (word.empty()) return text.separator;
  std::vector<Token> tokens;
  try {
    tokens = text.vocabulary.tokens(word);
  } catch (const ModelError& error) {
    throw ConfigError(path + "/prompt_until", error.what());
  }
  if (tokens.size() != 1) {
    throw ConfigError(path + "/prompt_until",
                      fmt::format("\"{}\" is {} tokens; give a single one", word, tokens.size()));
  }
  return tokens.front();
}

}  // namespace

double Contestant::round_time(std::int32_t drafted) const {
  const double runs = drafter->hierarchical() ? drafted : drafter->runs(drafted);
  return 1 + verify * drafted + costs.front() * runs;
}

double Contestant::time(const Tally& tally) const {
  double total = static_cast<double>(tally.rounds) + verify * static_cast<double>(tally.drafted) +
                 costs.front() * static_cast<double>(tally.draft_runs);
  for (std::size_t level = 1; level < costs.size(); ++level) {
    total += costs[level] * static_cast<double>(tally.inner_runs[level - 1]);
  }
  return total;
}

std::shared_ptr<const Task> make_task(const Json& spec, const std::string& path, const Json& config,
                                      Registry& registry) {
  Json own{{"experiment", config.at("experiment")},
           {"corpus", spec.at("corpus")},
           {"sampling", config.at("sampling")}};
  std::shared_ptr<const CorpusText> text = registry.text(spec.at("corpus"), path + "/corpus");
  if (text->held_out.empty()) {
    throw ConfigError(path + "/corpus/hold_out",
                      "missing; a task decodes held-out documents, so that some must be held out");
  }
  std::optional<Model> target;
  if (spec.contains("target")) target = registry.model(spec.at("target"), path + "/target", own, nullptr);
  Task task{
      name_of(spec), std::move(own), text, std::move(target), PointRows(text->vocabulary.size()), {}, {}};
  task.plan.seed = config.at("seed").get<std::uint64_t>();
  task.plan.batches = config.at("compare").at("batches").get<std::uint32_t>();
  const std::optional<Token> until = prompt_until(spec, path, *text);
  const auto wanted = spec.at("sequences").get<std::size_t>();
  const auto most = spec.at("tokens").get<std::size_t>();
  for (const auto& document : text->held_out) {
    if (task.documents.size() == wanted) break;
    const auto end = prompt_end(document, until, spec.at("prompt_tokens").get<std::size_t>());
    if (!end) continue;
    const std::size_t tokens = task.target ? most : std::min(most, document.size() - *end);
    task.documents.push_back(document);
    task.plan.sequences.push_back({{document.begin(), document.begin() + static_cast<std::ptrdiff_t>(*end)},
                                   static_cast<std::uint32_t>(tokens)});
  }
  if (task.documents.size() < 2) {
    throw ConfigError(path,
                      fmt::format("{} of {} held-out documents suit the prompt; at least 2 must: shorten the "
                                  "prompt, or hold out more",
                                  task.documents.size(), text->held_out.size()));
  }
  return std::make_shared<const Task>(std::move(task));
}

namespace {

class DrafterMaker {
 public:
  DrafterMaker(const Task& task, Registry& registry, Contestant& contestant)
      : task_(task), registry_(registry), contestant_(contestant) {}

  /// Nothing, and a reason in the contestant, when the task has not what the drafter needs.
  std::optional<AnyDrafter> make(const Json& spec, const std::string& path) {
    contestant_.costs.push_back(spec.at("c").get<double>());
    const auto kind = spec.at("kind").get<std::string>();
    const std::int32_t vocab = task_.text->vocabulary.size();
    const auto whole = [&](const char* key) { return spec.at(key).get<std::int32_t>(); };
    if (kind == "model") return model(spec, path);
    if (kind == "hierarchical") return hierarchy(spec, path);
    if (kind == "lookahead") {
      if (!task_.target) return refuse("needs a target that can be asked about guesses");
      return LookaheadDrafter<Model>(*task_.target, {.window = whole("window"),
                                                     .ngram = whole("ngram"),
                                                     .candidates = whole("candidates"),
                                                     .seed = task_.plan.seed});
    }
    if (kind == "heads") {
      return fit_heads(task_.text->tokens, vocab, whole("heads"), whole("first_order"),
                       {.temperature = spec.at("temperature").get<double>()});
    }
    if (kind == "aligned-copy") {
      return AlignedCopy(vocab,
                         {.match = whole("match"),
                          .length = whole("length"),
                          .realign = spec.at("realign") == "unique" ? Realign::unique : Realign::nearest});
    }
    if (spec.at("min_match") > spec.at("max_match")) {
      throw ConfigError(path + "/min_match",
                        fmt::format("{} is above max_match {}", whole("min_match"), whole("max_match")));
    }
    if (kind == "lookup") {
      const bool last = spec.at("occurrence") == "last";
      return LookupDrafter(vocab, {.min_match = whole("min_match"),
                                   .max_match = whole("max_match"),
                                   .length = whole("length"),
                                   .occurrence = last ? Occurrence::last : Occurrence::first});
    }
    return SuffixDrafter(vocab, {.min_match = whole("min_match"),
                                 .max_match = whole("max_match"),
                                 .length = whole("length"),
                                 .factor = spec.at("factor").get<double>(),
                                 .min_probability = spec.at("min_probability").get<double>(),
                                 .spread = spec.at("spread").get<bool>()});
  }

 private:
  std::optional<AnyDrafter> refuse(const char* reason) {
    contestant_.unsupported_reason = reason;
    return std::nullopt;
  }

  /// A model of the task; the text itself can be no part of one.
  std::optional<Model> model_of(const Json& spec, const std::string& path) {
    const bool of_target = spec.at("kind") == "mixture" && spec.at("base") == "target";
    if (of_target && !task_.target) {
      refuse("mixes with a target, and the text itself is none");
      return std::nullopt;
    }
    Model built = registry_.model(spec, path, task_.config, task_.target ? &*task_.target : nullptr);
    if (built.vocab() != task_.text->vocabulary.size()) {
      throw ConfigError(path, fmt::format("has a vocabulary of {}; task \"{}\" has {}", built.vocab(),
                                          task_.name, task_.text->vocabulary.size()));
    }
    return built;
  }

  std::optional<AnyDrafter> model(const Json& spec, const std::string& path) {
    std::optional<Model> built = model_of(with_vocab(spec.at("model")), path + "/model");
    if (!built) return std::nullopt;
    contestant_.models.push_back(std::make_shared<const Model>(*std::move(built)));
    return ModelDrafter<Model>(*contestant_.models.back());
  }

  std::optional<AnyDrafter> hierarchy(const Json& spec, const std::string& path) {
    if (contestant_.costs.size() > most_inner_levels) {
      throw ConfigError(path, fmt::format("lies {} levels deep; at most {} are counted",
                                          contestant_.costs.size(), most_inner_levels + 1));
    }
    if (spec.at("inner").contains("verifier")) {
      throw ConfigError(
          path + "/inner/verifier",
          "a middle model verifies by token verification; only the target's verifier can be chosen");
    }
    std::optional<Model> middle = model_of(with_vocab(spec.at("middle")), path + "/middle");
    if (!middle) return std::nullopt;
    std::optional<AnyDrafter> inner = make(spec.at("inner"), path + "/inner");
    if (!inner) return std::nullopt;
    return std::make_shared<const Hierarchy>(*std::move(middle), *std::move(inner),
                                             spec.at("gamma").get<int>());
  }

  /// A draft takes its vocabulary from the target, which need not be a model here.
  Json with_vocab(Json spec) const {
    const Shape& shape = *model_family().find(spec.at("kind").get<std::string>());
    const bool has = std::any_of(shape.fields.begin(), shape.fields.end(),
                                 [](const Field& field) { return field.name == "vocab"; });
    if (has && !spec.contains("vocab")) spec["vocab"] = task_.text->vocabulary.size();
    return spec;
  }

  const Task& task_;
  Registry& registry_;
  Contestant& contestant_;
};

}  // namespace

Contestant make_contestant(const Json& spec, const std::string& path, const Json& config, const Task& task,
                           Registry& registry) {
  const Json& verifier = spec.contains("verifier") ? spec.at("verifier") : config.at("verifier");
  const std::string where = spec.contains("verifier") ? path + "/verifier" : "/verifier";
  Contestant contestant{{}, {}, "", {}, config.at("compare").at("verify").get<double>(), TokenRule{}};
  contestant.rule = make_rule(verifier, 1);
  const bool one = std::visit([]<class Rule>(const Rule&) { return ChainRule<Rule>; }, contestant.rule);
  if (!one) {
    throw ConfigError(where + "/kind",
                      fmt::format("{} drafts several sequences at once; compare verifies one of any length",
                                  verifier.at("kind").dump()));
  }
  try {
    contestant.drafter = DrafterMaker(task, registry, contestant).make(spec, path);
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
  return contestant;
}

AnyPolicy make_policy(const Json& spec, const Contestant& contestant) {
  const auto kind = spec.at("kind").get<std::string>();
  const auto number = [&](const char* key) { return spec.at(key).get<double>(); };
  if (kind == "fixed") return FixedPolicy(spec.at("gamma").get<std::int32_t>());
  const auto most = spec.at("most").get<std::int32_t>();
  RoundTimes times;
  for (std::int32_t k = 0; k <= most; ++k) times.times.push_back(contestant.round_time(k));
  if (kind == "heuristic") return HeuristicPolicy(spec.at("start").get<std::int32_t>(), most);
  if (kind == "confidence") {
    return ConfidencePolicy(number("threshold"), spec.at("of") == "top" ? Confidence::top : Confidence::drawn,
                            most);
  }
  if (kind == "entropy") return AdaEdlPolicy(number("kappa"), number("least"), most);
  if (kind == "product") return SpecDecPpPolicy(number("risk"), most);
  if (kind == "goodput") return GoodputPolicy(std::move(times), most);
  if (kind == "bandit") return BanditPolicy(std::move(times), most, number("width"));
  return OraclePolicy(most);
}

std::string name_of(const Json& spec) {
  const auto name = spec.value("name", std::string());
  return name.empty() ? spec.at("kind").get<std::string>() : name;
}

void check_distinct_names(const Json& specs, const std::string& path) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto [earlier, fresh] = seen.emplace(name_of(specs[i]), i);
    if (fresh) continue;
    throw ConfigError(fmt::format("{}/{}/name", path, i),
                      fmt::format("\"{}\" is the name of entry {}, too; give one of them another \"name\"",
                                  earlier->first, earlier->second));
  }
}

}  // namespace speclab
