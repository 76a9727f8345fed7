// Verification rules that are Python functions, enumerated and sampled like the rules of core/rules.
#pragma once

#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/round/verify.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/tree.hpp"
#include "python/bindings/draw.hpp"
#include "python/bindings/numbers.hpp"

namespace speclab::python {

/// A Python function `function(draw, target, draft, drafted)` of gamma + 1 target rows, gamma draft rows and
/// gamma ids. It returns (accepted, next): the number of accepted tokens, and the id of the token after them.
struct PythonFunction {
  PythonFunction(std::string rule_name, nb::object rule, std::uint64_t most)
      : name(std::move(rule_name)), function(std::move(rule)), max_runs(most) {}

  std::string name;
  HeldObject function;
  std::uint64_t max_runs;  ///< limit for one enumeration, of two
  std::atomic<std::uint64_t> runs = 0;
  AskedDraws asked;
  /// Rows of an enumeration as Python objects; their numbers stay at fixed addresses.
  std::unordered_map<const void*, HeldObject> rows = {};
};

/// Checks and converts what the function returned. Throws TypeError or ValueError, naming the rule.
Verdict verdict_of(const PythonFunction& rule, nb::handle returned, std::int32_t gamma, std::int32_t vocab);

/// Checks and converts what a rule for several drafts returned.
Choice choice_of(const PythonFunction& rule, nb::handle returned, std::span<const Token> candidates,
                 std::int32_t vocab);

/// Checks and converts what a rule for trees returned. `tokens` has the token of each node, below 0 if
/// nothing was drafted there.
std::pair<std::int32_t, Token> node_of(const PythonFunction& rule, nb::handle returned,
                                       std::span<const Token> tokens, std::int32_t vocab);

/// Counts a run of an enumeration. Throws ValueError if there are too many.
void count_run(PythonFunction& rule);

struct PythonRule {
  std::shared_ptr<PythonFunction> rule;
};

/// A Python rule whose tokens without speculation have the weights `plain(row)` instead of the target's row,
/// such as a greedy rule.
struct PythonRuleBesidePlain {
  std::shared_ptr<PythonFunction> rule;
  HeldObject weights;

  template <class Real>
  OwnedRow<Real> plain(BasicRow<Real> target) const {
    const nb::gil_scoped_acquire gil;
    OwnedRow<Real> row(weights_of<Real>(nb::borrow(weights.get())(python_row(target)), "plain(row)"));
    if (row.size == target.size) return row;
    throw nb::value_error("plain(row): expected as many weights as the row has");
  }
};

/// A rule for several i.i.d. drafts of each position. `function(draw, target, draft, candidates)` gets one
/// row each and a tuple of ids, and returns (accepted, token), as `choose` of core/rules/recursive.hpp does.
struct PythonPathsRule : SeveralPaths {
  PythonPathsRule(std::shared_ptr<PythonFunction> function, std::int32_t drafts)
      : SeveralPaths(drafts), rule(std::move(function)) {}

  std::shared_ptr<PythonFunction> rule;

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const;
};

/// One run of a Python function, with the GIL.
template <class Real, class Random>
class PythonRun {
 public:
  explicit PythonRun(PythonFunction& rule) : rule_(rule) {
    if constexpr (enumerates) count_run(rule);
  }

  /// Returns a row as a Python object; in an enumeration it is made once and stays at a fixed address.
  nb::object row(BasicRow<Real> row) {
    if constexpr (enumerates)
      point_.append(reinterpret_cast<const char*>(&row.probabilities), sizeof(row.probabilities));
    return seen(row);
  }

  /// Converts a row as `row` does, but without adding it to the call's identity: the ids determine it.
  nb::object seen(BasicRow<Real> row) {
    if constexpr (enumerates) {
      const auto found = rule_.rows.find(row.probabilities);
      if (found != rule_.rows.end()) return nb::borrow(found->second.get());
      nb::object made = python_row(row);
      rule_.rows.emplace(row.probabilities, HeldObject(made));
      return made;
    } else {
      return python_row(row);
    }
  }

  /// Calls the function with these arguments after `draw`. In an enumeration the `ids` and the rows identify
  /// the call. The call's k-th draw of a kind has slot `first` + k.
  template <class... Arguments>
  nb::object operator()(Random& random, std::span<const Token> ids, std::int32_t vocab, std::uint16_t first,
                        const Arguments&... arguments) {
    // The number of ids comes first, so that an outcome cannot be mistaken for one more id.
    point_ += std::to_string(ids.size()) + ' ';
    point_.append(reinterpret_cast<const char*>(ids.data()), ids.size_bytes());
    const auto draw =
        std::make_shared<DrawFrom<Real, Random>>(random, vocab, rule_.asked, std::move(point_), first);
    nb::object returned = nb::borrow(rule_.function.get())(std::shared_ptr<PythonDraw>(draw), arguments...);
    draw->close();
    if constexpr (enumerates) {
      const Py_hash_t hash = PyObject_Hash(returned.ptr());
      if (hash == -1) clear_error();  // no pair of integers: refused by the caller
      draw->check_end(static_cast<std::size_t>(hash));
    }
    return returned;
  }

 private:
  static constexpr bool enumerates = Enumerates<Random>::value;

  PythonFunction& rule_;
  std::string point_;
};

template <class Targets, class Drafts, class Random>
Verdict verify_in_python(PythonFunction& rule, const Targets& targets, const Drafts& drafts,
                         const Token* drafted, std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  const nb::gil_scoped_acquire gil;
  PythonRun<Real, Random> run(rule);
  nb::list target;
  nb::list draft;
  for (std::int32_t i = 0; i <= gamma; ++i) target.append(run.row(targets(i)));
  for (std::int32_t i = 0; i < gamma; ++i) draft.append(run.row(drafts(i)));
  const std::int32_t vocab = targets(0).size;
  const std::span<const Token> ids(drafted, static_cast<std::size_t>(gamma));
  return verdict_of(
      rule,
      run(random, ids, vocab, 0, nb::tuple(target), nb::tuple(draft), python_tuple({ids.begin(), ids.end()})),
      gamma, vocab);
}

template <class Real, class Random>
Choice PythonPathsRule::choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                               std::uint16_t slot, Random& random) const {
  const nb::gil_scoped_acquire gil;
  PythonRun<Real, Random> run(*rule);
  const nb::object seen_target = run.row(target);
  const nb::object seen_draft = run.row(draft);
  return choice_of(*rule,
                   run(random, candidates, target.size, slot, seen_target, seen_draft,
                       python_tuple({candidates.begin(), candidates.end()})),
                   candidates, target.size);
}

/// The argument `tree` of a rule for trees, valid while the rule runs. All functions need the GIL.
class PythonTree {
 public:
  PythonTree() = default;
  PythonTree(const PythonTree&) = delete;
  PythonTree& operator=(const PythonTree&) = delete;
  virtual ~PythonTree() = default;

  virtual nb::object children(std::int32_t node) = 0;
  virtual Token token(std::int32_t node) = 0;
  virtual nb::object target(std::int32_t node) = 0;
  virtual nb::object draft(std::int32_t node) = 0;
};

template <class View, class Random>
class TreeOf final : public PythonTree {
 public:
  using Real = typename View::Real;
  TreeOf(View& view, PythonRun<Real, Random>& run) : view_(&view), run_(&run) {}

  nb::object children(std::int32_t node) override {
    const auto present = at(node, -1).children(node);
    return python_tuple({present.begin(), present.end()});
  }
  Token token(std::int32_t node) override {
    const Token token = at(node, 0).token(node);
    if (token < 0) throw nb::value_error("tree.token(node): nothing was drafted there");
    return token;
  }
  nb::object target(std::int32_t node) override { return run_->seen(at(node, -1).target(node)); }
  nb::object draft(std::int32_t node) override {
    if (at(node, -1).children(node).empty())
      throw nb::value_error("tree.draft(node): nothing was drafted after it");
    return run_->seen(view_->draft(node));
  }
  void close() { view_ = nullptr; }

 private:
  View& at(std::int32_t node, std::int32_t least) const {
    if (view_ == nullptr) throw std::runtime_error("tree: used after the rule had returned");
    if (node < least || node >= view_->size()) throw nb::value_error("tree: there is no such node");
    return *view_;
  }

  View* view_;
  PythonRun<Real, Random>* run_;
};

/// A rule for trees of one shape: `function(draw, tree)` returns (node, next): the last accepted node or -1,
/// and the id after it.
struct PythonTreeRule : StaticTree {
  PythonTreeRule(std::shared_ptr<PythonFunction> function, DraftTree shape)
      : StaticTree(std::move(shape)), rule(std::move(function)) {}

  std::shared_ptr<PythonFunction> rule;

  template <class View, class Random>
  TreeDecision verify_tree(View& view, Random& random) const {
    using Real = typename View::Real;
    const nb::gil_scoped_acquire gil;
    PythonRun<Real, Random> run(*rule);
    std::vector<Token> tokens;
    for (std::int32_t node = 0; node < view.size(); ++node) tokens.push_back(view.token(node));
    const auto seen = std::make_shared<TreeOf<View, Random>>(view, run);
    const std::int32_t vocab = view.target(-1).size;
    const auto [node, next] =
        node_of(*rule, run(random, tokens, vocab, 0, std::shared_ptr<PythonTree>(seen)), tokens, vocab);
    seen->close();
    const std::int32_t depth = node < 0 ? 0 : view.depth(node);
    return {node, depth + (view.children(node).empty() ? 0 : 1), next};
  }
};

template <class Targets, class Drafts, class Random>
Verdict verify(const PythonRule& own, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  return verify_in_python(*own.rule, targets, drafts, drafted, gamma, random);
}
template <class Targets, class Drafts, class Random>
Verdict verify(const PythonRuleBesidePlain& own, const Targets& targets, const Drafts& drafts,
               const Token* drafted, std::int32_t gamma, Random& random) {
  return verify_in_python(*own.rule, targets, drafts, drafted, gamma, random);
}

}  // namespace speclab::python
