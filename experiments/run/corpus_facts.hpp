// What a result says of the texts that its models were made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/fields.hpp"

namespace speclab {

class ModelFactory;
struct CorpusConfig;

/// Counts in tokens.
struct CorpusFacts {
  std::string file;
  std::uint64_t tokens = 0;  ///< that models are trained on
  std::uint64_t held_out_tokens = 0;
  std::int32_t vocabulary = 0;
  std::optional<double> unknown_share;  ///< of "<unk>" among `tokens`; none for a vocabulary without it
};

template <>
const Typed<CorpusFacts>& described();

/// Of a text that the factory has, or reads now. Throws ConfigError below /corpus.
CorpusFacts corpus_facts(const CorpusConfig& corpus, ModelFactory& factory);

}  // namespace speclab
