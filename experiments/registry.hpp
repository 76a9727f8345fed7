// From a resolved config to the models and the rule it names. Corpora and n-gram models are shared between
// cells.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/corpora.hpp"
#include "experiments/format/shape.hpp"
#include "sim/any_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// How decoding is run: by whole rows (sim/decode.hpp) or by sim/fast, or by whichever is faster.
enum class Engine { automatic, plain, fast };

/// What one cell runs.
struct Setup {
  Model target;
  Model draft;
  AnyRule rule;
  Json verifier;                                 ///< as resolved, with what was measured to choose a tree
  std::shared_ptr<const Vocabulary> vocabulary;  ///< null without text
  SimulationSize plan;
  std::optional<double> exact_alpha;  ///< the rule's acceptance rate, when it is one number in every context
  Engine engine = Engine::automatic;
  bool argmax_target = false;  ///< the target means the argmax of its rows, which the rule takes itself
};

/// The plan of a config, without its prompts.
SimulationSize build_plan(const Json& config);

class Registry {
 public:
  /// Builds what the config names. Throws ConfigError where parts do not fit: a file that cannot be read,
  /// unequal vocabularies, an alpha that cannot be reached, a prompt token outside the vocabulary.
  Setup build(const Json& config);

  /// One model of a resolved config, which needs "sampling" and, for models of text, "corpus" only. `target`
  /// is what a draft may refer to. Throws as `build` does; errors name `path`.
  Model model(const Json& spec, const std::string& path, const Json& config, const Model* target);

  /// The text of a corpus section.
  std::shared_ptr<const CorpusText> text(const Json& corpus, const std::string& path);

 private:
  std::shared_ptr<const CorpusText> corpus(const Json& config);
  Model build_model(const Json& spec, const std::string& path, const Json& config, const Model* target);
  Model build_unadjusted(const Json& spec, const std::string& path, const Json& config, const Model* target);
  Model build_mixture(const Json& spec, const std::string& path, const Json& config, const Model* target);
  Model build_ngram(const Json& spec, int order, const std::string& path, const Json& config);
  std::vector<std::vector<Token>> build_prompts(const Json& plan_spec, const Json& config,
                                                const SimulationSize& plan, const Vocabulary* vocabulary,
                                                std::int32_t vocab);
  Model build_arpa(const Json& spec, const std::string& path);
  Model build_sphinx(const Json& spec, const std::string& path);
  Model build_cached(const Json& spec, const std::string& path, const Json& config, const Model* target);
  Model build_translation(const Json& spec, const std::string& path, const Json& config);

  Corpora corpora_;
  std::map<std::string, std::shared_ptr<const NgramModel>> ngrams_;
  std::map<std::string, std::shared_ptr<const Vocabulary>> arpa_words_;
  std::map<std::string, std::shared_ptr<const TranslationModel>> translations_;
  std::shared_ptr<const Vocabulary> vocabulary_;  ///< of the setup being built
};

}  // namespace speclab
