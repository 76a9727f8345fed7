// Binds the exact enumeration of one round.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "analysis/exact/context_rows.hpp"
#include "analysis/exact/enumeration_program.hpp"
#include "analysis/exact/losslessness.hpp"
#include "analysis/exact/optimum.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/configs.hpp"
#include "python/bindings/numbers.hpp"
#include "python/bindings/python_drafting.hpp"
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
  /// Returns the largest support of a row; for a function the vocabulary.
  std::size_t support() const {
    if (!rows_) return static_cast<std::size_t>(ref().vocab());
    std::size_t most = 0;
    for (const auto& row : *rows_) {
      const auto positive = std::count_if(row.begin(), row.end(), [](const Real& p) { return p > Real(0); });
      most = std::max(most, static_cast<std::size_t>(positive));
    }
    return most;
  }
  /// Returns the number of last tokens on which a row depends; none for a function.
  std::optional<std::size_t> memory() const {
    const auto* table = std::get_if<ExactTable<Real>>(&model_);
    return table != nullptr ? std::optional(table->order()) : std::nullopt;
  }
  /// Returns the digits of the rows; 0 for a function, whose rows are unknown.
  std::size_t digits() const {
    if constexpr (std::is_same_v<Real, Rational>) return rows_ ? digits_of(*rows_) : 0;
    return 0;
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
nb::list python_rows(const std::vector<std::vector<Real>>& rows) {
  nb::list list;
  for (const auto& row : rows) {
    nb::list numbers;
    for (const Real& probability : row) numbers.append(python_number(probability));
    list.append(nb::tuple(numbers));
  }
  return list;
}

std::string name_of(ProvedRows rows) {
  Json name;
  write(described<ProvedRows>(), rows, name);
  return name.get<std::string>();
}

/// Returns the numbers that rules are compared by.
template <class Real>
nb::dict dict_of(const ExaminedRound<Real>& examined) {
  nb::dict out;
  const std::optional<Real>& bound = examined.optimal_transport_bound;
  out["tv"] = python_number(examined.round.distance);
  out["acceptance"] = python_number(examined.round.acceptance());
  out["optimal_acceptance"] = bound ? python_number(*bound) : nb::none();
  out["expected_emitted"] = python_number(examined.round.expected_emitted);
  return out;
}

template <class Real>
nb::dict dict_of(const ExaminedByContext<Real>& examined, const std::vector<Token>& context,
                 const RulePrograms& rule, bool in_python) {
  const Losslessness<Real>& found = examined.round;
  const ExaminedRound<Real>& shown = examined;
  nb::dict out = dict_of(shown);
  out["compared_with"] = !rule.sampled->takes_argmax() ? ""
                         : in_python                   ? "plain(row)"
                                                       : "the argmax of the target's rows";
  out["given"] = dict_of(examined.given.value_or(shown));
  out["context"] = python_tuple(examined.contexts.refuting.value_or(context));
  out["contexts"] = examined.contexts.count;
  out["all_contexts"] = examined.contexts.all;
  out["contexts_words"] = contexts_words(examined.contexts, context, found.lossless());
  out["rows"] = name_of(examined.rows);
  out["rows_words"] = rows_words(examined.rows);
  out["made_target"] = python_rows(examined.made_target);
  out["made_draft"] = python_rows(examined.made_draft);
  out["lossless"] = found.lossless();
  out["law"] = law(found.distribution);
  out["target_law"] = law(found.target_distribution);
  out["expected_accepted"] = python_number(found.expected_accepted);
  out["rejection"] = python_number(found.rejection);
  out["branches"] = found.branches;
  out["worst"] = found.counterexample ? python_tuple(*found.counterexample) : nb::none();
  return out;
}

/// Number of a row's entries that a Python function processes in the time of a branch: measured with a token
/// rule on rows of 3 to 200 numbers; Fractions take 4 microseconds each.
template <class Real>
constexpr double numbers_a_branch = std::is_same_v<Real, Rational> ? 16 : 400;

/// Returns the number of branches that take about a minute. A rule or drafter in Python takes most of that
/// time, in either arithmetic, and more with more numbers in its rows.
template <class Real>
double branches_of_a_minute(bool in_python, std::size_t digits, std::int32_t vocab) {
  if (!in_python)
    return branch_limit(std::is_same_v<Real, Rational> ? Arithmetic::rational : Arithmetic::floating_point,
                        digits);
  return branch_limit(Arithmetic::rational, digits) / std::max(1.0, vocab / numbers_a_branch<Real>);
}

void refuse_many(double bound, double most, std::int32_t gamma, std::int32_t vocab, std::size_t digits) {
  if (bound <= most) return;
  raise(PyExc_ValueError,
        fmt::format("max_branches: up to {:.3g} branches{}, more than {:.3g}: lower gamma ({}) "
                    "or the vocabulary ({} tokens), {}"
                    "raise max_branches, or sample: check tests large cases, simulate counts",
                    bound, digits > 0 ? fmt::format(" in fractions of {} digits", digits) : "", most, gamma,
                    vocab, digits > 0 ? "take exact=False, " : ""));
}

template <class Real>
nb::dict prove(const RuleHandle& handle, nb::handle given_target, nb::handle given_draft, std::int32_t vocab,
               std::int32_t gamma, const std::vector<Token>& context, std::optional<double> limit) {
  const ExactModel<Real> exact_target(given_target, vocab);
  // A drafter reads only the vocabulary size of the draft.
  const ExactModel<Real> exact_draft(handle.own_drafter ? given_target : given_draft, vocab);
  const ModelRef<Real> target = exact_target.ref();
  const ModelRef<Real> draft = exact_draft.ref();
  const std::size_t digits = std::max(exact_target.digits(), exact_draft.digits());
  const double most = limit.value_or(branches_of_a_minute<Real>(handle.in_python, digits, vocab));
  const RulePrograms programs = handle.make(gamma, most);
  const EnumerableRule& program = programs.enumerated;
  bool first = true;
  const auto rule = [&] {
    return std::exchange(first, false) ? program : handle.make(gamma, most).enumerated;
  };
  // The number of draws of a rule or drafter in Python is not known beforehand, so it counts them. A rule
  // runs for each draft.
  const auto drafted = static_cast<double>(exact_draft.support());
  const double branches = handle.own_drafter ? 1
                          : handle.in_python
                              ? std::pow(drafted, gamma)
                              : program->branch_bound(gamma, exact_draft.support(), exact_target.support());
  refuse_many(std::max(branches, sequence_bound(gamma, exact_target.support())), most, gamma, vocab, digits);
  KnownRows known{.draft_has_rows = !handle.own_drafter, .max_branches = most};
  // A drafter, too, may read the whole context.
  if (const auto p = exact_target.memory(), q = exact_draft.memory(); p && q && known.draft_has_rows)
    known.memory = std::max(*p, *q);
  Watch watch;
  return dict_of(watch.run([&] {
    auto found = examine_by_context<Real>(target, draft, rule, gamma, context, known);
    // The same functions run again; they refuse other draws or results than before.
    if (handle.in_python) examine<Real>(target, draft, program, gamma, context);
    return found;
  }),
                 context, programs, handle.in_python);
}

template <class Real>
nb::dict prove_task(const ProofTask& task) {
  Watch watch;
  nb::dict out = dict_of(watch.run([&] { return examine_by_context<Real>(task); }), task.context,
                         make_rule(task.rule, task.gamma), false);
  out["target"] = python_rows(task.target);
  out["draft"] = python_rows(task.draft);
  return out;
}

nb::dict prove_config(const ConfigText& text, bool exact, std::optional<double> most) {
  const Config config = read_config(text);
  return about(text, [&] {
    ProofTask task = proof_task(config);
    task.max_branches = most;
    check_branches(task, exact ? Arithmetic::rational : Arithmetic::floating_point);
    nb::dict out = exact ? prove_task<Rational>(task) : prove_task<double>(task);
    out["rule"] = task.rule.name();
    out["gamma"] = task.gamma;
    return out;
  });
}

void refuse_variables(double variables, std::int32_t gamma, std::int32_t paths, std::int32_t vocab) {
  if (variables <= max_optimum_variables) return;
  raise(PyExc_ValueError,
        fmt::format("gamma: up to {:.3g} variables, more than {:.3g}: lower gamma ({}), drafts ({}) "
                    "or the vocabulary ({} tokens)",
                    variables, max_optimum_variables, gamma, paths, vocab));
}

nb::dict dict_of(const Optimum& found) {
  nb::dict out;
  out["expected_emitted"] =
      found.proved ? python_number(*found.proved) : python_number(found.expected_emitted);
  out["proved"] = found.proved.has_value();
  out["upper_bound"] = python_number(found.upper_bound);
  out["outcomes"] = found.outcomes;
  out["variables"] = found.variables;
  return out;
}

nb::dict optimum_exactly(nb::handle given_target, nb::handle given_draft, std::int32_t vocab,
                         std::int32_t gamma, std::int32_t paths, const std::vector<Token>& context) {
  const ExactModel<Rational> target(given_target, vocab);
  const ExactModel<Rational> draft(given_draft, vocab);
  refuse_variables(optimum_variables(draft.support(), target.support(), gamma, {.paths = paths}), gamma,
                   paths, vocab);
  Watch watch;
  return dict_of(
      watch.run([&] { return optimum(target.ref(), draft.ref(), gamma, {.paths = paths}, context); }));
}

/// Returns the distribution of a Python drafter's paths, by enumeration.
SequenceDistribution<Rational> law_of_path(const PythonDrafter& drafter, ModelRef<Rational> of_size,
                                           std::int32_t gamma, const std::vector<Token>& context) {
  RoundScratch<Rational> scratch;
  const auto program = [&](EnumeratedRandomSource<Rational>& random) {
    std::vector<Token> tokens = context;
    drafter.draft(of_size, gamma, tokens, random, scratch);
    tokens.erase(tokens.begin(), tokens.begin() + std::ssize(context));
    return tokens;
  };
  SequenceDistribution<Rational> law;
  enumerate<Rational>(program, [&](const std::vector<Token>& path, const Rational& probability) {
    law[path] += probability;
  });
  return law;
}

nb::dict optimum_of_drafter(nb::handle given_target, const std::string& name, nb::object function,
                            std::int32_t vocab, std::int32_t gamma, std::int32_t paths,
                            const std::vector<Token>& context) {
  const ExactModel<Rational> target(given_target, vocab);
  const double max_runs = branches_of_a_minute<Rational>(true, target.digits(), vocab);
  const PythonDrafter drafter = PythonDrafter(name, HeldObject(std::move(function))).fresh(max_runs);
  Watch watch;
  const auto law = watch.run([&] { return law_of_path(drafter, target.ref(), gamma, context); });
  refuse_variables(optimum_variables(static_cast<double>(law.size()), target.support(), gamma, paths), gamma,
                   paths, vocab);
  return dict_of(watch.run([&] { return optimum(target.ref(), law, gamma, paths, context); }));
}

}  // namespace

void bind_proofs(nb::module_& module) {
  const auto arguments = [](auto function, const char* name, nb::module_& into) {
    into.def(name, function, nb::arg("rule"), nb::arg("target"), nb::arg("draft").none(), nb::arg("vocab"),
             nb::arg("gamma"), nb::arg("context"), nb::arg("max_branches").none());
  };
  arguments(&prove<Rational>, "prove_exactly", module);
  arguments(&prove<double>, "prove_in_doubles", module);
  module.def("optimum_exactly", &optimum_exactly, nb::arg("target"), nb::arg("draft"), nb::arg("vocab"),
             nb::arg("gamma"), nb::arg("paths"), nb::arg("context"));
  module.def("optimum_of_drafter", &optimum_of_drafter, nb::arg("target"), nb::arg("name"),
             nb::arg("drafter"), nb::arg("vocab"), nb::arg("gamma"), nb::arg("paths"), nb::arg("context"));
  module.def("prove_config", &prove_config, nb::arg("config"), nb::arg("exact"),
             nb::arg("max_branches").none());
}

}  // namespace speclab::python
