// A language model of any type, so that code that enumerates is compiled once for all models.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "core/round/round.hpp"

namespace speclab {

/// A reference to a LanguageModel of any type, which must outlive it.
template <class Real>
class ModelRef {
 public:
  template <LanguageModel<Real> M>
  requires(!std::same_as<M, ModelRef>)
      // NOLINTNEXTLINE(google-explicit-constructor): any model can be referred to
      ModelRef(const M& model)
      : model_(&model),
        vocab_([](const void* object) -> std::int32_t { return static_cast<const M*>(object)->vocab(); }),
        next_([](const void* object, std::span<const Token> context,
                 std::vector<Real>& scratch) -> BasicRow<Real> {
          return static_cast<const M*>(object)->next(context, scratch);
        }) {}

  std::int32_t vocab() const { return vocab_(model_); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>& scratch) const {
    return next_(model_, context, scratch);
  }

 private:
  const void* model_;
  std::int32_t (*vocab_)(const void*);
  BasicRow<Real> (*next_)(const void*, std::span<const Token>, std::vector<Real>&);
};

}  // namespace speclab
