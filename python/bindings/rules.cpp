// Binds rules as handles: those of the catalogue, and functions.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/rules/block.hpp"
#include "core/rules/token.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "python/bindings/bind.hpp"
#include "python/bindings/python_drafting.hpp"
#include "python/bindings/python_rule.hpp"
#include "python/bindings/rule_handle.hpp"
#include "sim/any_rule.hpp"

namespace speclab::python {

void AskedDraws::check(const std::string& point, std::size_t question) {
  const auto [found, added] = asked_.try_emplace(point, question);
  if (added || found->second == question) return;
  throw nb::value_error(
      "the rule or drafter is not a function of its arguments and draws: with the same ones it made another "
      "draw or returned something else than before. All randomness must come from draw, and no state may be "
      "kept between calls");
}

void count_run(PythonFunction& rule) {
  if (++rule.runs <= 2 * rule.max_runs) return;
  raise(PyExc_ValueError,
        fmt::format("{}: run more than {} times; lower gamma or the vocabulary, or raise max_branches",
                    rule.name, rule.max_runs));
}

namespace {

[[noreturn]] void refuse(const PythonFunction& rule, nb::handle returned, const std::string& wanted,
                         PyObject* type = PyExc_ValueError) {
  raise(type,
        fmt::format("{}: returned {}; {}", rule.name, nb::cast<std::string>(nb::repr(returned)), wanted));
}

/// Returns the pair that a rule returned. `wanted` describes it, for errors.
std::pair<std::int64_t, std::int64_t> pair_of(const PythonFunction& rule, nb::handle returned,
                                              const std::string& wanted) {
  const auto index = [](nb::handle entry) {
    const nb::object number = nb::steal(PyNumber_Index(entry.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    const std::int64_t value = PyLong_AsLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return value;
  };
  if (nb::isinstance<nb::tuple>(returned) && nb::len(returned) == 2) {
    const auto pair = nb::borrow<nb::tuple>(returned);
    try {
      // NumPy's booleans cannot be converted to an index, so their truth value is read.
      const std::int64_t first =
          is_bool(pair[0]) ? PyObject_IsTrue(nb::handle(pair[0]).ptr()) : index(pair[0]);
      return {first, index(pair[1])};
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;  // an interrupt
      // Not a pair of integers: handled below.
    }
  }
  refuse(rule, returned, wanted, PyExc_TypeError);
}

RuleHandle of_catalogue(const std::string& text) {
  const Typed<RuleConfig> type = kind_of(rule_family());
  const auto config = read(type, parse_json(text), "/rule");
  return {config.name(), [config](std::int32_t gamma, double) { return make_rule(config, gamma); }};
}

RuleHandle rule_of_function(const std::string& name, nb::object function, std::optional<nb::object> plain,
                            std::int32_t drafts, const std::vector<std::int32_t>& tree) {
  std::optional<HeldObject> weights;
  if (plain) weights.emplace(*plain);
  const HeldObject held(std::move(function));
  std::vector<HeldObject> functions{held};
  if (weights) functions.push_back(*weights);
  return {name,
          [name, held, weights, drafts, tree](std::int32_t, double max_branches) {
            const nb::gil_scoped_acquire gil;
            const auto rule = std::make_shared<PythonFunction>(name, nb::borrow(held.get()),
                                                               static_cast<std::uint64_t>(max_branches));
            if (!tree.empty()) return programs_of(PythonTreeRule(rule, DraftTree(tree)));
            if (drafts > 1) return programs_of(PythonPathsRule(rule, drafts));
            if (weights) return programs_of(PythonRuleBesidePlain{rule, *weights});
            return programs_of(PythonRule{rule});
          },
          true, false, functions};
}

/// Returns the rule with a drafting that calls `function`. `of_what` begins the UsageError for rules that do
/// not support it.
template <class Drafting>
RuleHandle with_drafting(nb::handle_t<RuleHandle> rule, const char* of_what, const HeldObject& function,
                         const Drafting& drafting) {
  const auto& handle = nb::cast<const RuleHandle&>(rule);
  const auto make = [inner = handle.make, name = handle.name, of_what, drafting](std::int32_t gamma,
                                                                                 double max_branches) {
    const AnyRule sampled = inner(gamma, max_branches).sampled;
    const Drafting fresh = drafting.fresh(max_branches);
    const auto asked = [&fresh](const auto& typed) { return programs_of(RuleAndDrafting(typed, fresh)); };
    if (const auto* python = sampled.get_if<PythonRule>()) return asked(*python);
    if (const auto* token = sampled.get_if<TokenRule>()) return asked(*token);
    if (const auto* block = sampled.get_if<BlockRule>()) return asked(*block);
    throw UsageError(fmt::format(
        "{}: works with the rules token and block and with functions of one draft, not with \"{}\"", of_what,
        name));
  };
  return {handle.name, make, handle.in_python, false, {function, HeldObject(nb::borrow(rule))}};
}

RuleHandle with_policy(nb::handle_t<RuleHandle> rule, nb::object function) {
  const HeldObject held(std::move(function));
  return with_drafting(rule, "policy", held, PythonPolicy(held));
}

RuleHandle with_drafter(nb::handle_t<RuleHandle> rule, const std::string& name, nb::object function) {
  const HeldObject held(std::move(function));
  RuleHandle made = with_drafting(rule, "draft", held, PythonDrafter(name, held));
  // The number of its draws is not known beforehand.
  made.in_python = made.own_drafter = true;
  return made;
}

}  // namespace

std::pair<std::int32_t, Token> node_of(const PythonFunction& rule, nb::handle returned,
                                       std::span<const Token> tokens, std::int32_t vocab) {
  const std::string wanted = fmt::format(
      "a rule for trees returns (node, next), the last accepted node or -1, and a token id from 0 to {}",
      vocab - 1);
  const auto [node, next] = pair_of(rule, returned, wanted);
  const bool known =
      node == -1 || (node >= 0 && node < std::ssize(tokens) && tokens[static_cast<std::size_t>(node)] >= 0);
  if (!known || next < 0 || next >= vocab) refuse(rule, returned, wanted);
  return {static_cast<std::int32_t>(node), static_cast<Token>(next)};
}

Verdict verdict_of(const PythonFunction& rule, nb::handle returned, std::int32_t gamma, std::int32_t vocab) {
  const std::string wanted = fmt::format(
      "a rule returns (accepted, next), an int from 0 to {} and a token id from 0 to {}", gamma, vocab - 1);
  const auto [accepted, next] = pair_of(rule, returned, wanted);
  if (accepted < 0 || accepted > gamma || next < 0 || next >= vocab) refuse(rule, returned, wanted);
  const auto length = static_cast<std::int32_t>(accepted);
  return {length, std::min(length + 1, gamma), static_cast<Token>(next)};
}

Choice choice_of(const PythonFunction& rule, nb::handle returned, std::span<const Token> candidates,
                 std::int32_t vocab) {
  const std::string wanted = fmt::format(
      "a rule of several drafts returns (accepted, token), whether a candidate is accepted, and that candidate or the token that replaces it, from 0 to {}",
      vocab - 1);
  const auto [accepted, token] = pair_of(rule, returned, wanted);
  const bool known = std::find(candidates.begin(), candidates.end(), token) != candidates.end();
  if (token < 0 || token >= vocab || accepted < 0 || accepted > 1 || (accepted == 1 && !known))
    refuse(rule, returned, wanted);
  return {static_cast<Token>(token), accepted == 1};
}

void bind_rules(nb::module_& module) {
  nb::class_<PythonDraw>(module, "Draw")
      .def("bernoulli", &PythonDraw::bernoulli, nb::arg("probability"))
      .def("categorical", &PythonDraw::categorical, nb::arg("weights"), nb::arg("otherwise") = nb::none());
  nb::class_<RuleHandle>(module, "Rule", nb::type_slots(collected_slots<RuleHandle>))
      .def_ro("name", &RuleHandle::name)
      .def_ro("in_python", &RuleHandle::in_python)
      .def_ro("own_drafter", &RuleHandle::own_drafter);
  module.def("catalogue_rule", &of_catalogue, nb::arg("text"));
  module.def("function_rule", &rule_of_function, nb::arg("name"), nb::arg("function"),
             nb::arg("plain").none(), nb::arg("drafts"), nb::arg("tree"));
  nb::class_<PythonTree>(module, "Tree")
      .def("children", &PythonTree::children, nb::arg("node"))
      .def("token", &PythonTree::token, nb::arg("node"))
      .def("target", &PythonTree::target, nb::arg("node"))
      .def("draft", &PythonTree::draft, nb::arg("node"));
  module.def("with_policy", &with_policy, nb::arg("rule"), nb::arg("policy"));
  module.def("with_drafter", &with_drafter, nb::arg("rule"), nb::arg("name"), nb::arg("drafter"));
  module.def("rule_names", [] {
    nb::list names;
    for (const std::string& name : rule_family().names()) names.append(name);
    return names;
  });
}

}  // namespace speclab::python
