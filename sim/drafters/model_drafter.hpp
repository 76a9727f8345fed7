// The drafter of Leviathan et al. 2023, Alg. 1: a smaller model, run once for each drafted token.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/round/round.hpp"
#include "sim/drafters/drafter.hpp"

namespace speclab {

template <LanguageModel<double> Model>
class ModelDrafter {
 public:
  struct Memory {};

  /// Drafts at most `length` tokens in a round; 0 sets no limit.
  explicit ModelDrafter(Model model, std::int32_t length = 0) : model_(std::move(model)), length_(length) {
    assert(length >= 0);
  }

  std::int32_t vocab() const { return model_.vocab(); }
  void read(Memory&, std::span<const Token>) const {}
  Row propose(Memory&, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const {
    if (length_ > 0 && position >= length_) return {};
    return model_.next(context, storage);
  }
  /// Returns one run per token.
  std::int32_t runs(std::int32_t drafted) const { return drafted; }

 private:
  Model model_;
  std::int32_t length_;
};

}  // namespace speclab
