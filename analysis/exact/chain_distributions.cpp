#include "analysis/exact/chain_distributions.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cassert>
#include <utility>

#include "core/stop.hpp"

namespace speclab {

namespace {

using Vector = Eigen::VectorXd;
using Dense = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Sparse = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>>;

constexpr double settled = 1e-13;
constexpr double max_error = 1e-9;
constexpr int max_iterations = 20'000;
/// Iteration has stalled if this many steps reduce the residual by less than a tenth.
constexpr int stall_window = 32;
constexpr int max_bound_steps = 1000;
constexpr std::uint64_t max_followed_rounds = 10'000;

/// Calls `product` with the dense or sparse matrix of a chain.
template <class Product>
Vector with_matrix(const Transitions& rows, const Product& product) {
  end_if_stopped();
  const Eigen::Index size = rows.contexts;
  if (rows.dense) return product(Dense(rows.probabilities.data(), size, size));
  return product(Sparse(size, size, static_cast<Eigen::Index>(rows.probabilities.size()), rows.first.data(),
                        rows.column.data(), rows.probabilities.data()));
}

Vector left_product(const Vector& distribution, const Transitions& rows) {
  return with_matrix(rows, [&](const auto& matrix) -> Vector { return matrix.transpose() * distribution; });
}

Vector right_product(const Transitions& rows, const Vector& values) {
  return with_matrix(rows, [&](const auto& matrix) -> Vector { return matrix * values; });
}

Eigen::Map<const Vector> view(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::vector<double> copied(const Vector& values) { return {values.begin(), values.end()}; }

Vector round_step(const ContextChain& chain, int gamma, const Vector& distribution) {
  Vector accepted = distribution;
  Vector rejecting = Vector::Zero(distribution.size());
  for (int i = 0; i < gamma; ++i) {
    rejecting += accepted;
    accepted = left_product(accepted, chain.accepted);
  }
  Vector after = left_product(accepted, chain.bonus);
  if (gamma > 0) after += left_product(rejecting, chain.corrected);
  return after;
}

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Square dense(const Transitions& rows) {
  Square sum = Square::Zero(rows.contexts, rows.contexts);  // a sparse column may occur more than once
  for (std::int32_t x = 0; x < rows.contexts; ++x) {
    for (std::size_t k = rows.row_begin(x); k < rows.row_end(x); ++k)
      sum(x, rows.column_at(x, k)) += rows.probabilities[k];
  }
  return sum;
}

template <class Step>
void iterate(StationaryDistribution& found, Vector distribution, const Step& step) {
  double earlier = 2;  // no residual is larger
  double rate = 0;     // factor of the residual per step, while it is far above rounding
  while (!found.converged && found.iterations < max_iterations) {
    Vector next = step(distribution);
    next /= next.sum();
    const double before = found.residual;
    found.residual = (next - distribution).lpNorm<1>();
    ++found.iterations;
    if (found.iterations > 1 && before > settled) rate = std::min(found.residual / before, 1.0);
    found.error = rate < 1 ? found.residual / (1 - rate) : 2;
    found.converged = found.residual < settled && found.error < max_error;
    if (found.iterations % stall_window == 0) {
      found.damped = found.damped || (!found.converged && found.residual > 0.9 * earlier);
      earlier = found.residual;
    }
    if (found.damped && !found.converged) {
      distribution = (distribution + next) / 2;
    } else {
      distribution = std::move(next);
    }
  }
  found.distribution = copied(distribution);
}

/// Iterates `step` until it converges. `matrix()` gives the dense transitions of `step`.
template <class Step, class Matrix>
StationaryDistribution settle(std::vector<double> start, const Step& step, const Matrix& matrix) {
  StationaryDistribution found;
  Vector distribution = view(start);
  distribution /= distribution.sum();
  if (distribution.size() > max_direct_states) {
    iterate(found, std::move(distribution), step);
    return found;
  }
  const Square rows = matrix();
  Transitions transitions;
  transitions.contexts = static_cast<std::int32_t>(rows.rows());
  transitions.probabilities.assign(rows.data(), rows.data() + rows.size());
  transitions.dense = true;
  found.distribution = direct_stationary(std::move(transitions), copied(distribution));
  found.residual = (step(view(found.distribution)) - view(found.distribution)).template lpNorm<1>();
  found.direct = true;
  found.converged = true;
  return found;
}

}  // namespace

std::vector<double> after_round(const ContextChain& chain, int gamma, std::span<const double> distribution) {
  assert(gamma >= 0);
  return copied(round_step(chain, gamma, view(distribution)));
}

StationaryDistribution stationary_plain(const ContextChain& chain, std::vector<double> start) {
  return settle(
      std::move(start), [&](const Vector& distribution) { return left_product(distribution, chain.plain()); },
      [&] { return dense(chain.plain()); });
}

StationaryDistribution stationary_rounds(const ContextChain& chain, int gamma, std::vector<double> start) {
  assert(gamma >= 0);
  return settle(
      std::move(start), [&](const Vector& distribution) { return round_step(chain, gamma, distribution); },
      [&] {
        const Square accepted = dense(chain.accepted);
        const Square corrected = dense(chain.corrected);
        Square round = dense(chain.bonus);
        for (int i = 0; i < gamma; ++i) {
          end_if_stopped();
          round = corrected + Square(accepted * round);  // Eigen would overwrite round before it is read
        }
        return round;
      });
}

std::vector<ClosedClass> round_classes(const ContextChain& chain, int gamma, std::vector<double> start) {
  const Transitions* const all[] = {&chain.accepted, &chain.corrected, &chain.bonus};
  std::vector<ClosedClass> classes = closed_classes(all);
  std::size_t recurrent = 0;
  for (const ClosedClass& members : classes) recurrent += members.size();
  if (recurrent == chain.contexts.size()) return classes;
  const StationaryDistribution reached = stationary_rounds(chain, gamma, std::move(start));
  const Eigen::Map<const Vector> share = view(reached.distribution);
  double inside = 0;
  for (const ClosedClass& members : classes)
    for (const std::int32_t x : members) inside += share[x];
  if (!reached.converged || inside > 1 - max_error) return classes;
  // The contexts of a stationary distribution are recurrent: rounds that begin in one visit its class.
  const auto visited = [](std::span<const double> distribution) {
    constexpr double negligible = 1e-12;
    ClosedClass members;
    for (std::size_t x = 0; x < distribution.size(); ++x)
      if (distribution[x] > negligible) members.push_back(static_cast<std::int32_t>(x));
    return members;
  };
  classes.clear();
  std::vector<bool> known(chain.contexts.size());
  for (const std::int32_t x : visited(reached.distribution)) {
    if (known[static_cast<std::size_t>(x)]) continue;
    std::vector<double> here(chain.contexts.size());
    here[static_cast<std::size_t>(x)] = 1;
    classes.push_back(visited(stationary_rounds(chain, gamma, std::move(here)).distribution));
    for (const std::int32_t member : classes.back()) known[static_cast<std::size_t>(member)] = true;
  }
  return classes;
}

std::vector<double> expected_tokens_by_context(const ContextChain& chain, int gamma) {
  assert(gamma >= 0);
  Vector reached = Vector::Ones(chain.size());
  Vector tokens = reached;
  for (int i = 1; i <= gamma; ++i) {
    reached = right_product(chain.accepted, reached);
    tokens += reached;
  }
  return copied(tokens);
}

TokenBounds expected_tokens_bounds(const ContextChain& chain, int gamma, const ClosedClass& members) {
  const std::vector<double> by_context = expected_tokens_by_context(chain, gamma);
  Vector tokens = view(by_context);
  const auto bounds = [&] {
    const auto of = [&](std::int32_t x) { return tokens[x]; };
    const auto [least, most] =
        std::minmax_element(members.begin(), members.end(), [&](auto a, auto b) { return of(a) < of(b); });
    return TokenBounds{of(*least), of(*most)};
  };
  TokenBounds found = bounds();
  for (int n = 0; n < max_bound_steps && found.most - found.least > settled; ++n) {
    Vector after = right_product(chain.bonus, tokens);
    if (gamma > 0) {
      const Vector corrected = right_product(chain.corrected, tokens);
      for (int i = 0; i < gamma; ++i) after = corrected + right_product(chain.accepted, after);
    }
    tokens = std::move(after);
    found = bounds();
  }
  return found;
}

RoundStatistics round_statistics(const ContextChain& chain, int gamma, std::span<const double> distribution) {
  assert(gamma >= 0);
  RoundStatistics out;
  out.gamma = gamma;
  // Sums rejected probabilities instead of subtracting survivals: nothing cancels.
  const auto rejection = view(chain.rejection);
  const auto distance = view(chain.distance);
  // Contexts of the i-th position, weighted by the probability of reaching it.
  Vector reaching = view(distribution);
  double visited_rejections = 0;
  double examined = 0;
  double examined_rejections = 0;
  double examined_distance = 0;
  for (int i = 0; i <= gamma; ++i) {
    const double reached = reaching.sum();
    const double rejected = reaching.dot(rejection);
    out.expected_tokens += reached;
    visited_rejections += rejected;
    if (i < gamma) {
      out.distribution.push_back(rejected);
      examined += reached;
      examined_rejections += rejected;
      examined_distance += reaching.dot(distance);
      reaching = left_product(reaching, chain.accepted);
    } else {
      out.distribution.push_back(reached);
    }
  }
  out.alpha_visited = 1 - visited_rejections / out.expected_tokens;
  for (std::size_t n = 0; n < out.distribution.size(); ++n) {
    const double deviation = static_cast<double>(n + 1) - out.expected_tokens;
    out.variance += deviation * deviation * out.distribution[n];
  }
  if (gamma > 0) {
    out.rejections = examined_rejections / examined;
    out.distance = examined_distance / examined;
  }
  // Statistics of the first two positions describe the chain, even if gamma is below 2.
  const Vector one = left_product(view(distribution), chain.accepted);
  out.first_accepted = one.sum();
  if (out.first_accepted > 0) {
    out.second_accepted = left_product(one, chain.accepted).sum() / out.first_accepted;
    const double missing = view(distribution).dot(rejection);
    if (missing > 0) out.relative_gain = (*out.second_accepted - out.first_accepted) / missing;
  }
  return out;
}

double mean_acceptance(const ContextChain& chain, std::span<const double> distribution) {
  return 1 - view(distribution).dot(view(chain.rejection));
}

std::optional<double> expected_tokens_over(const ContextChain& chain, int gamma, std::vector<double> start,
                                           std::uint64_t rounds) {
  const std::vector<double> by_context = expected_tokens_by_context(chain, gamma);
  const auto tokens = view(by_context);
  Vector distribution = view(start);
  double sum = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round == max_followed_rounds) return std::nullopt;
    const double here = distribution.dot(tokens);
    Vector next = round_step(chain, gamma, distribution);
    if ((next - distribution).lpNorm<1>() < settled)
      return (sum + here * static_cast<double>(rounds - round)) / static_cast<double>(rounds);
    sum += here;
    distribution = std::move(next);
  }
  return sum / static_cast<double>(rounds);
}

}  // namespace speclab
