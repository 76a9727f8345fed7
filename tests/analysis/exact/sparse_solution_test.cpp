#include "analysis/exact/optimum.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace speclab;

namespace {

struct Equations {
  std::vector<SparseVector> columns;
  std::vector<Rational> solution, right;
};

/// Makes `size` equations with about `entries` coefficients per column and a known solution.
Equations made(int size, int entries, std::mt19937& generator) {
  const auto number = [&] {
    return Rational(static_cast<std::int64_t>(generator() % 19) - 9,
                    1 + static_cast<std::int64_t>(generator() % 7));
  };
  Equations equations;
  equations.right.assign(static_cast<std::size_t>(size), Rational(0));
  for (int column = 0; column < size; ++column) {
    SparseVector made;
    for (int row = 0; row < size; ++row) {
      if (row != column && static_cast<int>(generator() % static_cast<unsigned>(size)) >= entries) continue;
      const Rational value = row == column ? number() + Rational(100) : number();
      if (value != Rational(0)) made.emplace_back(row, value);
    }
    equations.solution.push_back(number());
    for (const auto& [row, value] : made)
      equations.right[static_cast<std::size_t>(row)] += value * equations.solution.back();
    equations.columns.push_back(std::move(made));
  }
  return equations;
}

}  // namespace

TEST_CASE("equations are solved exactly") {
  std::mt19937 generator(7);
  for (const auto& [size, entries] : {std::pair{1, 1}, {5, 5}, {30, 2}, {60, 1}, {20, 20}}) {
    const Equations equations = made(size, entries, generator);
    const auto solution = solve_exactly(equations.columns, equations.right);
    REQUIRE(solution);
    for (int i = 0; i < size; ++i)
      CHECK((*solution)[static_cast<std::size_t>(i)] == equations.solution[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("columns that depend on one another have no solution") {
  std::mt19937 generator(8);
  Equations equations = made(6, 3, generator);
  equations.columns[4].clear();
  for (const auto& [row, value] : equations.columns[2])
    equations.columns[4].emplace_back(row, value * Rational(3));
  CHECK_FALSE(solve_exactly(equations.columns, equations.right));
  equations.columns[4].clear();
  CHECK_FALSE(solve_exactly(equations.columns, equations.right));
}
