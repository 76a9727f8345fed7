// Measures how well a model predicts a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/token.hpp"
#include "experiments/base/format/fields.hpp"
#include "sim/control.hpp"
#include "sim/models/model.hpp"

namespace speclab {

struct Perplexity {
  std::string model;  ///< "target", "draft", or a file
  std::uint64_t documents = 0;
  std::uint64_t tokens = 0;
  std::uint64_t impossible = 0;    ///< tokens with probability 0
  std::optional<double> unknown;   ///< share of <unk>, if the vocabulary has it
  double bits_per_token = 0;       ///< infinite if there are impossible tokens
  double perplexity = 0;           ///< 2^bits_per_token
  double possible_perplexity = 0;  ///< without the impossible tokens; always finite
};
template <>
const Typed<Perplexity>& described();

/// Measures the perplexity of the documents, each from its beginning. `unknown` is the id of <unk>, if there
/// is one. Returns nothing if `control` stopped it.
std::optional<Perplexity> perplexity_of(const Model& model, const std::vector<std::vector<Token>>& documents,
                                        std::optional<Token> unknown, const Control& control = {});

}  // namespace speclab
