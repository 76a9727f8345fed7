#include "analysis/exact/optimum.hpp"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "core/stop.hpp"

namespace speclab {

namespace {

using Tokens = std::vector<Token>;

/// A string that may be emitted, with its probability under the target.
struct Emission {
  Rational probability;
  int parent = -1;  ///< index of the string without its last token; -1 for a string of one token
  int length = 0;
};

/// A set of drafted paths.
struct Outcome {
  Rational probability;
  std::vector<int> emissions;  ///< strings that may be emitted after it
};

/// The data of a linear program. Rows are outcomes, then emissions; columns are the couplings z, then h of
/// the emissions shorter than gamma + 1.
struct Coupling {
  std::vector<Emission> emissions;  ///< each comes after its parent
  std::vector<Outcome> outcomes;
  int whole = 0;  ///< gamma + 1: tokens of the longest emissions ("whole" ones)

  int rows() const { return static_cast<int>(outcomes.size() + emissions.size()); }
  int row_of(int emission) const { return static_cast<int>(outcomes.size()) + emission; }
};

/// Calls `use` for all strings of 1 to `length` tokens of positive probability, by their tokens.
template <class Use>
void for_each_string(ModelRef<Rational> model, Tokens& context, std::size_t begin, int length,
                     const Rational& before, const Use& use) {
  if (length == 0) return;
  std::vector<Rational> scratch;
  const BasicRow<Rational> next = model.next(context, scratch);
  const std::vector<Rational> row(next.probabilities, next.probabilities + next.size);
  for (Token id = 0; id < static_cast<Token>(row.size()); ++id) {
    end_if_stopped();
    const Rational& probability = row[static_cast<std::size_t>(id)];
    if (!(probability > Rational(0))) continue;
    context.push_back(id);
    const Rational joint = before * probability;
    use(Tokens(context.begin() + static_cast<std::ptrdiff_t>(begin), context.end()), joint);
    for_each_string(model, context, begin, length - 1, joint, use);
    context.pop_back();
  }
}

/// The drafted strings: each path from the root, including the empty one.
using Drafted = std::set<Tokens>;

Drafted with_path(Drafted drafted, const Tokens& path) {
  for (std::size_t length = 0; length <= path.size(); ++length)
    drafted.emplace(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
  return drafted;
}

SequenceDistribution<Rational> law_of_path(ModelRef<Rational> draft, std::int32_t gamma, Tokens context) {
  SequenceDistribution<Rational> law;
  for_each_string(draft, context, context.size(), gamma, Rational(1),
                  [&](const Tokens& tokens, const Rational& probability) {
                    if (static_cast<std::int32_t>(tokens.size()) == gamma) law.emplace(tokens, probability);
                  });
  return law;
}

std::map<Drafted, Rational> law_of_paths(const SequenceDistribution<Rational>& path_law, std::int32_t paths) {
  std::map<Drafted, Rational> law{{{}, Rational(1)}};
  for (std::int32_t path = 0; path < paths; ++path) {
    std::map<Drafted, Rational> more;
    for (const auto& [drafted, probability] : law) {
      for (const auto& [tokens, share] : path_law) {
        end_if_stopped();
        more[with_path(drafted, tokens)] += probability * share;
      }
    }
    law = std::move(more);
  }
  return law;
}

/// Returns the distribution of drafted strings as draw_tree of core/round/tree_round.hpp draws them.
std::map<Drafted, Rational> law_of_tree(ModelRef<Rational> draft, Tokens context, std::int32_t gamma,
                                        const DraftTree& tree) {
  std::map<Drafted, Rational> law;
  const std::size_t begin = context.size();
  std::vector<Tokens> strings(static_cast<std::size_t>(tree.size()));  // by node; empty for missing nodes
  const auto next = [&](const Tokens& string) {
    context.insert(context.end(), string.begin(), string.end());
    std::vector<Rational> scratch;
    const BasicRow<Rational> row = draft.next(context, scratch);
    std::vector<Rational> copy(row.probabilities, row.probabilities + row.size);
    context.resize(begin);
    return copy;
  };
  const std::function<void(std::int32_t, const Rational&)> draw_after = [&](std::int32_t node,
                                                                            const Rational& probability) {
    end_if_stopped();
    if (node == tree.size()) {
      Drafted drafted{{}};
      for (const Tokens& string : strings) drafted.insert(string);
      law[std::move(drafted)] += probability;
      return;
    }
    const Tokens here = node < 0 ? Tokens() : strings[static_cast<std::size_t>(node)];
    const auto children = tree.children(node);
    if ((node >= 0 && here.empty()) || static_cast<std::int32_t>(here.size()) >= gamma || children.empty()) {
      draw_after(node + 1, probability);
      return;
    }
    const std::function<void(std::size_t, std::vector<Rational>, const Rational&)> draw_child =
        [&](std::size_t child, const std::vector<Rational>& left, const Rational& before) {
          Rational total;
          for (const Rational& weight : left) total += weight;
          if (child == children.size() || total == Rational(0)) {
            draw_after(node + 1, before);
            return;
          }
          Tokens& string = strings[static_cast<std::size_t>(children[child])];
          for (Token id = 0; id < static_cast<Token>(left.size()); ++id) {
            const Rational& weight = left[static_cast<std::size_t>(id)];
            if (!(weight > Rational(0))) continue;
            string = here;
            string.push_back(id);
            std::vector<Rational> rest = left;
            rest[static_cast<std::size_t>(id)] = Rational(0);
            draw_child(child + 1, std::move(rest), before * weight / total);
          }
          string.clear();
        };
    draw_child(0, next(here), probability);
  };
  draw_after(-1, Rational(1));
  return law;
}

Coupling coupling_of(ModelRef<Rational> target, const std::map<Drafted, Rational>& law, std::int32_t gamma,
                     std::span<const Token> given) {
  Coupling coupling;
  coupling.whole = gamma + 1;
  Tokens context(given.begin(), given.end());
  std::map<Tokens, int> emission_of;
  for_each_string(target, context, given.size(), gamma + 1, Rational(1),
                  [&](const Tokens& tokens, const Rational& probability) {
                    const int parent =
                        tokens.size() == 1 ? -1 : emission_of.at(Tokens(tokens.begin(), tokens.end() - 1));
                    emission_of.emplace(tokens, static_cast<int>(coupling.emissions.size()));
                    coupling.emissions.push_back({probability, parent, static_cast<int>(tokens.size())});
                  });
  std::map<Tokens, std::vector<int>> after;  // emissions that may follow a prefix
  for (const auto& [tokens, emission] : emission_of)
    after[Tokens(tokens.begin(), tokens.end() - 1)].push_back(emission);

  for (const auto& [strings, probability] : law) {
    Outcome outcome{probability, {}};
    for (const Tokens& string : strings) {
      const auto found = after.find(string);
      if (found != after.end())
        outcome.emissions.insert(outcome.emissions.end(), found->second.begin(), found->second.end());
    }
    coupling.outcomes.push_back(std::move(outcome));
  }
  return coupling;
}

/// The program by columns, with its exact numbers.
struct Program {
  std::vector<SparseVector> columns;
  std::vector<int> value;  ///< value of each column in the objective: tokens
  std::vector<Rational> right;
};

Program program_of(const Coupling& coupling) {
  Program program;
  for (std::size_t outcome = 0; outcome < coupling.outcomes.size(); ++outcome) {
    for (const int emission : coupling.outcomes[outcome].emissions) {
      program.columns.push_back(
          {{static_cast<int>(outcome), Rational(1)}, {coupling.row_of(emission), Rational(1)}});
      program.value.push_back(coupling.emissions[static_cast<std::size_t>(emission)].length);
    }
  }
  // The equation is sum z - p(e) h(e) + p(e) h(parent) = 0, with h(e) = 1 for the longest emissions.
  std::vector<int> column_of(coupling.emissions.size(), -1);
  program.right.assign(static_cast<std::size_t>(coupling.rows()), Rational(0));
  for (std::size_t outcome = 0; outcome < coupling.outcomes.size(); ++outcome)
    program.right[outcome] = coupling.outcomes[outcome].probability;
  for (int emission = 0; emission < static_cast<int>(coupling.emissions.size()); ++emission) {
    const Emission& one = coupling.emissions[static_cast<std::size_t>(emission)];
    const int row = coupling.row_of(emission);
    if (one.length == coupling.whole) {
      program.right[static_cast<std::size_t>(row)] = one.probability;
    } else {
      column_of[static_cast<std::size_t>(emission)] = static_cast<int>(program.columns.size());
      program.columns.push_back({{row, -one.probability}});
      program.value.push_back(0);
    }
    if (one.parent >= 0) {
      const int parent = column_of[static_cast<std::size_t>(one.parent)];
      program.columns[static_cast<std::size_t>(parent)].emplace_back(row, one.probability);
    }
  }
  return program;
}

/// The optimum of a program, in doubles.
struct Solved {
  double value = 0;
  std::vector<double> multipliers;  ///< by row
  std::vector<int> basic;  ///< basic columns; indices from the number of columns on are slacks of rows
};

Solved solve(const Program& program) {
  const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> model(Clp_newModel(), Clp_deleteModel);
  std::vector<CoinBigIndex> start{0};
  std::vector<int> rows;
  std::vector<double> values;
  for (const SparseVector& column : program.columns) {
    for (const auto& [row, value] : column) {
      rows.push_back(row);
      values.push_back(static_cast<double>(value));
    }
    start.push_back(static_cast<CoinBigIndex>(rows.size()));
  }
  std::vector<double> right;
  for (const Rational& value : program.right) right.push_back(static_cast<double>(value));
  const std::vector<double> objective(program.value.begin(), program.value.end());
  const auto columns = static_cast<int>(program.columns.size());
  Clp_setLogLevel(model.get(), 0);
  Clp_loadProblem(model.get(), columns, static_cast<int>(right.size()), start.data(), rows.data(),
                  values.data(), nullptr, nullptr, objective.data(), right.data(), right.data());
  Clp_setOptimizationDirection(model.get(), -1);
  Clp_setPrimalTolerance(model.get(), 1e-9);
  Clp_setDualTolerance(model.get(), 1e-9);
  // The solver runs this many iterations at a time, each run from the last basis, and can be stopped in
  // between.
  constexpr int iterations_at_once = 500;
  constexpr int not_yet_optimal = 3;
  do {
    end_if_stopped();
    Clp_setMaximumIterations(model.get(), iterations_at_once);
    Clp_dual(model.get(), 0);
  } while (Clp_status(model.get()) == not_yet_optimal);
  Clp_setMaximumIterations(model.get(), std::numeric_limits<int>::max());
  Clp_primal(model.get(), 0);
  if (Clp_status(model.get()) != 0) throw std::runtime_error("the solver did not solve the linear program");
  Solved solved;
  solved.value = Clp_objectiveValue(model.get());
  const double* multipliers = Clp_dualRowSolution(model.get());
  solved.multipliers.assign(multipliers, multipliers + right.size());
  constexpr int is_basic = 1;
  for (int column = 0; column < columns; ++column) {
    if (Clp_getColumnStatus(model.get(), column) == is_basic) solved.basic.push_back(column);
  }
  for (int row = 0; row < static_cast<int>(right.size()); ++row) {
    if (Clp_getRowStatus(model.get(), row) == is_basic) solved.basic.push_back(columns + row);
  }
  return solved;
}

/// Makes the multipliers of emissions t feasible in exact arithmetic, t(u) <= sum over a of p(a | u) t(u a),
/// and adds the smallest multipliers of outcomes, max over e of |e| - t(e). Returns their value.
Rational value_of_multipliers(const Coupling& coupling, const std::vector<double>& multipliers) {
  const std::size_t count = coupling.emissions.size();
  std::vector<Rational> t(count);
  std::vector<Rational> below(count);  // sum over a of p(u a) t(u a)
  Rational value;
  for (std::size_t emission = count; emission-- > 0;) {
    const Emission& one = coupling.emissions[emission];
    t[emission] =
        Rational(multipliers[static_cast<std::size_t>(coupling.row_of(static_cast<int>(emission)))]);
    if (one.length == coupling.whole) {
      value += one.probability * t[emission];
    } else {
      t[emission] = std::min(t[emission], below[emission] / one.probability);
    }
    if (one.parent >= 0) below[static_cast<std::size_t>(one.parent)] += one.probability * t[emission];
  }
  for (const Outcome& outcome : coupling.outcomes) {
    end_if_stopped();
    std::optional<Rational> most;
    for (const int emission : outcome.emissions) {
      const auto at = static_cast<std::size_t>(emission);
      const Rational gain = Rational(coupling.emissions[at].length) - t[at];
      if (!most || gain > *most) most = gain;
    }
    value += outcome.probability * *most;
  }
  return value;
}

/// Returns the value of a basis if it is optimal in exact arithmetic.
std::optional<Rational> proved_value(const Program& program, const std::vector<int>& basic) {
  const std::size_t rows = program.right.size();
  const int columns = static_cast<int>(program.columns.size());
  if (basic.size() != rows) return std::nullopt;
  std::vector<SparseVector> basis;
  std::vector<SparseVector> transposed(rows);
  std::vector<Rational> values;
  for (std::size_t place = 0; place < basic.size(); ++place) {
    const int column = basic[place];
    basis.push_back(column < columns ? program.columns[static_cast<std::size_t>(column)]
                                     : SparseVector{{column - columns, Rational(1)}});
    for (const auto& [row, value] : basis.back())
      transposed[static_cast<std::size_t>(row)].emplace_back(static_cast<int>(place), value);
    values.emplace_back(column < columns ? program.value[static_cast<std::size_t>(column)] : 0);
  }
  const auto point = solve_exactly(basis, program.right);
  const auto multipliers = solve_exactly(transposed, values);
  if (!point || !multipliers) return std::nullopt;
  Rational value;
  for (std::size_t place = 0; place < basic.size(); ++place) {
    const Rational& x = (*point)[place];
    if (basic[place] < columns ? x < Rational(0) : x != Rational(0)) return std::nullopt;
    value += values[place] * x;
  }
  for (std::size_t column = 0; column < program.columns.size(); ++column) {
    Rational priced;
    for (const auto& [row, entry] : program.columns[column])
      priced += entry * (*multipliers)[static_cast<std::size_t>(row)];
    if (priced < Rational(program.value[column])) return std::nullopt;
  }
  return value;
}

Optimum optimum_of(const Coupling& coupling) {
  const Program program = program_of(coupling);
  const Solved solved = solve(program);
  return {.expected_emitted = solved.value,
          .proved = proved_value(program, solved.basic),
          .upper_bound = value_of_multipliers(coupling, solved.multipliers),
          .outcomes = coupling.outcomes.size(),
          .variables = program.columns.size()};
}

}  // namespace

double optimum_variables(double strings, std::size_t target_support, std::int32_t gamma, std::int32_t paths) {
  double outcomes = 1;
  for (std::int32_t path = 0; path < paths; ++path) outcomes *= (strings + path) / (path + 1);
  return outcomes * (1 + static_cast<double>(gamma) * paths) * static_cast<double>(target_support);
}

double optimum_variables(std::size_t draft_support, std::size_t target_support, std::int32_t gamma,
                         const Drafting& drafting) {
  if (drafting.tree) {
    return drafted_trees(*drafting.tree, draft_support) * (1 + drafting.tree->size()) *
           static_cast<double>(target_support);
  }
  return optimum_variables(std::pow(static_cast<double>(draft_support), gamma), target_support, gamma,
                           drafting.paths);
}

Optimum optimum(ModelRef<Rational> target, ModelRef<Rational> draft, std::int32_t gamma,
                const Drafting& drafting, std::span<const Token> context) {
  Tokens given(context.begin(), context.end());
  if (!drafting.tree)
    return optimum(target, law_of_path(draft, gamma, std::move(given)), gamma, drafting.paths, context);
  return optimum_of(
      coupling_of(target, law_of_tree(draft, std::move(given), gamma, *drafting.tree), gamma, context));
}

Optimum optimum(ModelRef<Rational> target, const SequenceDistribution<Rational>& path_law, std::int32_t gamma,
                std::int32_t paths, std::span<const Token> context) {
  return optimum_of(coupling_of(target, law_of_paths(path_law, paths), gamma, context));
}

}  // namespace speclab
