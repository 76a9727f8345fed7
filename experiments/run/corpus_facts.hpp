// Describes the texts that a result's models were trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/catalog/models/corpus_config.hpp"

namespace speclab {

class ModelFactory;
struct Config;

/// How well a model trained on a text predicts the held-out part of it.
struct HeldOutPerplexity {
  std::string model;                          ///< "target" or "draft"
  std::shared_ptr<const Json> config;         ///< includes its defaults
  std::optional<double> bits_per_token = {};  ///< over every held-out token; empty if unknown
  std::optional<double> perplexity = {};      ///< 2^bits_per_token
  std::optional<std::string> unknown_because = {};
};
SPECLAB_IS_DESCRIBED(HeldOutPerplexity);

/// A text's size, in tokens.
struct CorpusFacts {
  std::string file;
  std::uint64_t tokens = 0;  ///< tokens on which models are trained
  std::uint64_t held_out_tokens = 0;
  std::int32_t vocabulary = 0;
  std::optional<double> unknown_share = {};  ///< share of "<unk>" among `tokens`; empty without "<unk>"
  std::vector<HeldOutPerplexity> models = {};
};

SPECLAB_IS_DESCRIBED(CorpusFacts);

/// A text, and the configs of all targets and drafts made from it.
struct CorpusCells {
  CorpusConfig corpus;
  std::vector<Config> targets, drafts;
};

/// Collects the corpora of cells.
class CorpusSurvey {
 public:
  /// Adds a cell's corpus and models. Ignores a missing corpus; the models will report it.
  void add(const Config& cell);
  const std::vector<CorpusCells>& corpora() const { return corpora_; }

 private:
  std::vector<CorpusCells> corpora_;
  std::set<std::tuple<std::ptrdiff_t, bool, std::string>> models_;  ///< corpus, whether it is a draft, config
};

/// Computes the facts of a text, read now unless the factory has it. Measures perplexities of n-grams, in
/// less than a microsecond per token; for other models the facts say why there is none. Throws ConfigError.
CorpusFacts corpus_facts(const CorpusCells& cells, ModelFactory& factory);

}  // namespace speclab
