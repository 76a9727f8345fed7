#include "serving/server/draft_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace speclab {

namespace {

/// Returns P(k of `gamma` drafted tokens are accepted) for k = 0..gamma.
std::vector<double> accepted_shares(const AcceptanceLaw& law, std::uint32_t gamma) {
  std::vector<double> shares{1};
  for (std::uint32_t j = 1; j <= gamma; ++j) {
    const double survival = mean_accepted(law, j) - mean_accepted(law, j - 1);
    shares.back() -= survival;
    shares.push_back(survival);
  }
  return shares;
}

}  // namespace

std::vector<std::vector<double>> equal_hits(double hit, std::uint32_t max_gamma) {
  std::vector<std::vector<double>> all;
  for (std::uint32_t gamma = 0; gamma <= max_gamma; ++gamma) all.emplace_back(gamma + 1, hit);
  return all;
}

std::optional<RankShareProblem> rank_share_problem(std::span<const double> rank_shares) {
  double sum = 0;
  for (std::size_t i = 0; i < rank_shares.size(); ++i) {
    sum += rank_shares[i];
    if (i > 0 && rank_shares[i] > rank_shares[i - 1]) {
      return RankShareProblem{
          i, fmt::format("{} is above the share before it, {}: order choices by their shares", rank_shares[i],
                         rank_shares[i - 1])};
    }
  }
  if (sum <= 1 + 1e-9) return std::nullopt;
  return RankShareProblem{
      std::nullopt, fmt::format("shares add up to {}: give shares of all rounds, 1 at most together", sum)};
}

std::vector<std::vector<double>> likeliest_hits(const AcceptanceLaw& law, std::span<const double> rank_shares,
                                                std::uint32_t outcomes, std::uint32_t max_gamma) {
  std::vector<std::vector<double>> all;
  for (std::uint32_t gamma = 0; gamma <= max_gamma; ++gamma) {
    const std::vector<double> accepted = accepted_shares(law, gamma);
    // Shares do not rise with the rank, so for each k the most likely outcome not yet taken is the next rank.
    std::vector<std::size_t> taken(accepted.size());
    std::vector<double> hit(accepted.size());
    const auto next = [&](std::size_t k) {
      return taken[k] < rank_shares.size() ? accepted[k] * rank_shares[taken[k]] : 0;
    };
    for (std::uint32_t i = 0; i < outcomes; ++i) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < accepted.size(); ++k) best = next(k) > next(best) ? k : best;
      if (next(best) <= 0) break;
      hit[best] += rank_shares[taken[best]++];
    }
    all.push_back(std::move(hit));
  }
  return all;
}

}  // namespace speclab
