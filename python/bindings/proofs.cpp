// Exact enumeration of one round.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <variant>

#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/prove/proof_task.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/configs.hpp"
#include "python/bindings/numbers.hpp"
#include "python/bindings/python_model.hpp"
#include "python/bindings/rule_handle.hpp"
#include "python/bindings/watch.hpp"

namespace speclab::python {

namespace {

/// A model whose rows are known exactly: a list of rows, or a function of the context.
template <class Real>
class ExactModel {
 public:
  ExactModel(nb::handle given, std::int32_t vocab) : model_(made(given, vocab)) {}

  ModelRef<Real> ref() const {
    return std::visit([](const auto& model) { return ModelRef<Real>(model); }, model_);
  }
  /// Of the largest row; of a function the vocabulary.
  std::size_t support() const {
    if (!rows_) return static_cast<std::size_t>(ref().vocab());
    std::size_t most = 0;
    for (const auto& row : *rows_) {
      const auto positive = std::count_if(row.begin(), row.end(), [](const Real& p) { return p > Real(0); });
      most = std::max(most, static_cast<std::size_t>(positive));
    }
    return most;
  }

 private:
  using Either = std::variant<ExactTable<Real>, RememberedModel<Real>>;

  Either made(nb::handle given, std::int32_t vocab) {
    if (PyCallable_Check(given.ptr()) != 0)
      return RememberedModel<Real>(PythonModel<Real>(HeldObject(nb::borrow(given)), vocab));
    rows_.emplace();
    for (const nb::handle row : nb::borrow<nb::list>(given))
      rows_->push_back(weights_of<Real>(row, "a model's row"));
    return ExactTable<Real>(*rows_);
  }

  std::optional<std::vector<std::vector<Real>>> rows_;
  Either model_;
};

template <class Real>
nb::dict law(const SequenceDistribution<Real>& distribution) {
  nb::dict law;
  for (const auto& [tokens, probability] : distribution) {
    if (probability > Real(0)) law[python_tuple(tokens)] = python_number(probability);
  }
  return law;
}

template <class Real>
nb::dict dict_of(const Losslessness<Real>& found, const std::optional<Real>& bound) {
  nb::dict out;
  out["law"] = law(found.distribution);
  out["target_law"] = law(found.target_distribution);
  out["tv"] = python_number(found.distance);
  out["acceptance"] = python_number(found.acceptance());
  out["expected_accepted"] = python_number(found.expected_accepted);
  out["expected_emitted"] = python_number(found.expected_emitted);
  out["rejection"] = python_number(found.rejection);
  out["branches"] = found.branches;
  out["worst"] = found.counterexample ? python_tuple(*found.counterexample) : nb::none();
  out["optimal_acceptance"] = bound ? python_number(*bound) : nb::none();
  return out;
}

void refuse_many(double bound, double most, std::int32_t gamma, std::int32_t vocab) {
  if (bound <= most) return;
  throw nb::value_error(fmt::format("max_branches: up to {:.3g} branches, more than {:.3g}: lower gamma ({}) "
                                    "or the vocabulary ({} tokens), "
                                    "raise max_branches, or test by sampling with check_sampler",
                                    bound, most, gamma, vocab)
                            .c_str());
}

template <class Real>
nb::dict prove(const RuleHandle& handle, nb::handle given_target, nb::handle given_draft, std::int32_t vocab,
               std::int32_t gamma, const std::vector<Token>& context, double most) {
  const ExactModel<Real> exact_target(given_target, vocab);
  const ExactModel<Real> exact_draft(given_draft, vocab);
  const ModelRef<Real> target = exact_target.ref();
  const ModelRef<Real> draft = exact_draft.ref();
  const EnumerableRule rule = handle.make(gamma, most).enumerated;
  // How often a rule in Python draws is not known beforehand: it counts.
  if (!handle.in_python) {
    refuse_many(rule->branch_bound(gamma, exact_draft.support(), exact_target.support()), most, gamma,
                target.vocab());
  }
  std::optional<Losslessness<Real>> found;
  std::optional<Real> bound;
  Watch watch;
  watch.run([&] {
    found = examine<Real>(target, draft, rule, gamma, context);
    std::vector<Real> target_row;
    std::vector<Real> draft_row;
    bound = rule->best_acceptance(target.next(context, target_row), draft.next(context, draft_row));
  });
  return dict_of(*found, bound);
}

template <class Real>
nb::dict prove_task(const ProofTask& task) {
  Watch watch;
  const Examined<Real> found = watch.run([&] { return examine<Real>(task); });
  return dict_of(found.round, found.optimal_transport_bound);
}

nb::dict prove_config(const ConfigText& text, bool exact, double most) {
  const Config config = read_config(text);
  return about(text, [&] {
    const ProofTask task = proof_task(config);
    check_branches(task, most);
    nb::dict out = exact ? prove_task<Rational>(task) : prove_task<double>(task);
    out["rule"] = task.rule.name();
    out["gamma"] = task.gamma;
    return out;
  });
}

}  // namespace

void bind_proofs(nb::module_& module) {
  const auto arguments = [](auto function, const char* name, nb::module_& into) {
    into.def(name, function, nb::arg("rule"), nb::arg("target"), nb::arg("draft"), nb::arg("vocab"),
             nb::arg("gamma"), nb::arg("context"), nb::arg("max_branches"));
  };
  arguments(&prove<Rational>, "prove_exactly", module);
  arguments(&prove<double>, "prove_in_doubles", module);
  module.def("prove_config", &prove_config, nb::arg("config"), nb::arg("exact"), nb::arg("max_branches"));
  module.attr("most_branches_exact") = branch_limit(Arithmetic::rational);
  module.attr("most_branches") = branch_limit(Arithmetic::floating_point);
}

}  // namespace speclab::python
