// Describes the texts from which a result's models were made.
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
template <>
const Typed<HeldOutPerplexity>& described();

/// A text's size. Counts are in tokens.
struct CorpusFacts {
  std::string file;
  std::uint64_t tokens = 0;  ///< tokens on which models are trained
  std::uint64_t held_out_tokens = 0;
  std::int32_t vocabulary = 0;
  std::optional<double> unknown_share = {};  ///< share of "<unk>" among `tokens`; empty without "<unk>"
  std::vector<HeldOutPerplexity> models = {};
};

template <>
const Typed<CorpusFacts>& described();

/// A text, and cells whose targets and drafts are all models made from it.
struct CorpusCells {
  CorpusConfig corpus;
  std::vector<Config> targets, drafts;
};

/// Collects the corpora of cells.
class CorpusSurvey {
 public:
  /// Adds a cell's corpus and models. Ignores a corpus that does not exist; the models will report it.
  void add(const Config& cell);
  const std::vector<CorpusCells>& corpora() const { return corpora_; }

 private:
  std::vector<CorpusCells> corpora_;
  std::set<std::tuple<std::ptrdiff_t, bool, std::string>> models_;  ///< corpus, whether it is a draft, config
};

/// Computes the facts of a text that the factory has, or reads now. Perplexities of n-grams are measured,
/// which takes less than a microsecond per token; for other models the facts say why they are not. Throws
/// ConfigError.
CorpusFacts corpus_facts(const CorpusCells& cells, ModelFactory& factory);

}  // namespace speclab
