// The random source of fast rounds: it makes categorical draws by alias tables and takes one block of random
// numbers for a token and its acceptance draw. It defines which number decides what; sim/fast must agree with
// it bit for bit. Host only.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random/alias.hpp"
#include "core/random/random_source.hpp"

namespace speclab {

/// A Philox block has two words: the first draws a token, the second makes its acceptance draw. The
/// acceptance draw of a drafted token is therefore the second word of the block that drafted it.
class BlockRandomSource {
 public:
  BlockRandomSource(std::uint64_t seed, std::uint32_t trial, std::uint32_t round)
      : seed_(seed), trial_(trial), round_(round) {}

  bool bernoulli(Draw draw, double probability) {
    if (draw.use == Use::accept) draw.use = Use::draft;
    Philox block = at(draw);
    block();
    return open_unit(block()) < probability;
  }

  /// Builds a new alias table for each draw: slow, but the definition.
  template <class Weights>
  Token categorical(Draw draw, const Weights& weights) {
    weights_.clear();
    for (Token id = 0; id < weights.size; ++id) weights_.push_back(weights[id]);
    const double total = total_probability(weights);
    if (!std::isfinite(total)) return invalid_token;
    if (!(total > 0)) return no_token;
    const int bits = alias_bits(weights_.size());
    slots_.resize(std::size_t{1} << bits);
    build_alias(weights_, slots_, scratch_);
    const std::uint64_t word = at(draw)();
    const std::uint32_t slot = alias_slot(word, bits);
    return static_cast<Token>(alias_fraction(word, bits) < slots_[slot].cut ? slot : slots_[slot].other);
  }

 private:
  Philox at(Draw draw) const { return {seed_, Site{trial_, round_, draw}}; }

  std::uint64_t seed_;
  std::uint32_t trial_;
  std::uint32_t round_;
  std::vector<double> weights_;
  std::vector<AliasSlot> slots_;
  AliasScratch scratch_;
};

}  // namespace speclab
