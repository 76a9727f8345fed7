// What a result says of the texts that its models were made from.
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

/// How well a model of a text predicts what was held out of it, as `speclab perplexity` says.
struct HeldOutPerplexity {
  std::string model;                          ///< "target" or "draft"
  std::shared_ptr<const Json> config;         ///< with its defaults
  std::optional<double> bits_per_token = {};  ///< of every held-out token; none when it is not known
  std::optional<double> perplexity = {};      ///< 2^bits_per_token
  std::optional<std::string> unknown_because = {};
};
template <>
const Typed<HeldOutPerplexity>& described();

/// Counts in tokens.
struct CorpusFacts {
  std::string file;
  std::uint64_t tokens = 0;  ///< that models are trained on
  std::uint64_t held_out_tokens = 0;
  std::int32_t vocabulary = 0;
  std::optional<double> unknown_share = {};  ///< of "<unk>" among `tokens`; none for a vocabulary without it
  std::vector<HeldOutPerplexity> models = {};
};

template <>
const Typed<CorpusFacts>& described();

/// A text, and cells whose targets and drafts are all of the models that its cells have.
struct CorpusCells {
  CorpusConfig corpus;
  std::vector<Config> targets, drafts;
};

/// Collects the corpora of cells.
class CorpusSurvey {
 public:
  /// A cell whose corpus does not exist is left to its models, which say what is missing.
  void add(const Config& cell);
  const std::vector<CorpusCells>& corpora() const { return corpora_; }

 private:
  std::vector<CorpusCells> corpora_;
  std::set<std::tuple<std::ptrdiff_t, bool, std::string>> models_;  ///< corpus, whether a draft, config
};

/// Of a text that the factory has, or reads now. Perplexities of n-grams are measured, which takes less than
/// a microsecond a token; of other models it is said why not. Throws ConfigError.
CorpusFacts corpus_facts(const CorpusCells& cells, ModelFactory& factory);

}  // namespace speclab
