// A model whose rows are filtered as a request asks (core/distribution/request_law.hpp).
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/distribution/request_law.hpp"
#include "sim/models/model.hpp"

namespace speclab {

/// A model with a request's options applied to its rows. Rows may depend on all tokens of the context, which
/// begins with a prompt of `prompt` tokens. Satisfies LanguageModel.
struct RequestModel {
  Model base;
  RequestLaw law;
  std::size_t prompt;
  mutable tbb::enumerable_thread_specific<RequestScratch> scratches = {};

  std::int32_t vocab() const { return base.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
  std::optional<int> memory() const { return law.remembers() ? std::nullopt : base.memory(); }
  std::optional<std::size_t> max_context() const { return base.max_context(); }
  void prepare(std::span<const Token> context, std::size_t first) const { base.prepare(context, first); }
  bool prepares() const { return base.prepares(); }
};

/// Returns a model's row after `context`, filtered as a request asks. `memory` must serve one law.
Row filtered_row(const Model& model, const RequestLaw& law, std::size_t prompt,
                 std::span<const Token> context, std::vector<double>& scratch, RequestScratch& memory);

/// Returns `model` with a request's options applied to its rows, after a prompt of `prompt` tokens. The
/// result is stored if the model is and its rows depend on no more tokens than before.
Model requested(Model model, const RequestLaw& law, std::size_t prompt);

}  // namespace speclab
