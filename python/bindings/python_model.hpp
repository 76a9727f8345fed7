// A language model that is a Python function.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/round/round.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

/// Calls `function(tokens)` with a tuple of ids; the function returns the row of the next token: `vocab`
/// numbers, checked in Python. Satisfies LanguageModel<Real>. Several threads may call it, one at a time.
template <class Real>
class PythonModel {
 public:
  PythonModel(HeldObject function, std::int32_t vocab) : function_(std::move(function)), vocab_(vocab) {}

  std::int32_t vocab() const { return vocab_; }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>& scratch) const {
    const nb::gil_scoped_acquire gil;
    const nb::object row = nb::borrow(function_.get())(python_tuple({context.begin(), context.end()}));
    scratch = weights_of<Real>(row, "a model's row");
    return {scratch.data(), vocab_};
  }

 private:
  HeldObject function_;
  std::int32_t vocab_;
};

/// The same model with a cache: calls the function once per context and keeps the row at a fixed address. For
/// one thread.
template <class Real>
class RememberedModel {
 public:
  explicit RememberedModel(PythonModel<Real> model) : model_(std::move(model)) {}

  std::int32_t vocab() const { return model_.vocab(); }
  BasicRow<Real> next(std::span<const Token> context, std::vector<Real>&) const {
    const auto [found, added] = rows_.try_emplace({context.begin(), context.end()});
    if (added) model_.next(context, found->second);
    return {found->second.data(), vocab()};
  }

 private:
  PythonModel<Real> model_;
  mutable std::map<std::vector<Token>, std::vector<Real>> rows_;
};

}  // namespace speclab::python
