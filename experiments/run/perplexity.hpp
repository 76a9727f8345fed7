// How well a model predicts a text.
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
  std::uint64_t impossible = 0;    ///< tokens of probability 0; without them the rest would be finite
  std::optional<double> unknown;   ///< share of <unk>, of vocabularies that have it
  double bits_per_token = 0;       ///< infinite with impossible tokens
  double perplexity = 0;           ///< 2^bits_per_token
  double possible_perplexity = 0;  ///< of the other tokens alone
};
template <>
const Typed<Perplexity>& described();

/// Of every document from its beginning, token after token. `unknown` is the id of <unk>, if there is one.
/// Empty when `control` stopped it.
std::optional<Perplexity> perplexity_of(const Model& model, const std::vector<std::vector<Token>>& documents,
                                        std::optional<Token> unknown, const Control& control = {});

}  // namespace speclab
