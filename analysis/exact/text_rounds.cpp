#include "analysis/exact/text_rounds.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/stop.hpp"

namespace speclab {

namespace {

class RoundTexts {
 public:
  RoundTexts(const TextChain& chain, std::span<const double> target, std::span<const double> draft,
             TextRule rule, int gamma)
      : chain_(chain), target_(target), draft_(draft), rule_(rule), gamma_(gamma) {}

  std::size_t places() const { return (static_cast<std::size_t>(gamma_) + 1) * chain_.contexts(); }
  /// Adds the distribution of the next context of rounds from `context` to `after`, [gamma + 1, contexts] by
  /// the number of accepted tokens; returns the mean number of tokens that they emit.
  double follow(std::int32_t context, std::span<double> after) const {
    return 1 + follow(context, 1, {}, 0, after);
  }

 private:
  /// Continues after `depth` tokens, emitted with `probability` and with survival `so_far`; returns the mean
  /// number of further accepted tokens.
  double follow(std::int32_t context, double probability, const TextSurvival& so_far, int depth,
                std::span<double> after) const {
    const auto vocab = static_cast<std::size_t>(chain_.vocab);
    const std::size_t row = static_cast<std::size_t>(context) * vocab;
    double kept = 0;
    for (std::size_t token = 0; token < vocab; ++token) {
      const double p = target_[row + token];
      if (!(p > 0)) continue;
      const std::int32_t next = chain_.successor[row + token];
      double& ends =
          after[static_cast<std::size_t>(depth) * chain_.contexts() + static_cast<std::size_t>(next)];
      const double emitted = probability * p;
      if (depth == gamma_) {
        ends += emitted * so_far.kept;
        continue;
      }
      TextSurvival survival = so_far;
      survival.next(rule_, p, draft_[row + token]);
      ends += emitted * (so_far.kept - survival.kept);
      if (!(survival.kept > 0)) continue;
      kept += emitted * survival.kept + follow(next, emitted, survival, depth + 1, after);
    }
    return kept;
  }

  const TextChain& chain_;
  std::span<const double> target_;
  std::span<const double> draft_;
  TextRule rule_;
  int gamma_;
};

}  // namespace

std::vector<double> expected_steps(const TextChain& chain, std::span<const double> target,
                                   std::span<const double> draft, TextRule rule, int gamma, int tokens) {
  assert(gamma >= 0 && tokens >= 0);
  const RoundTexts texts(chain, target, draft, rule, gamma);
  std::vector<std::vector<double>> after(chain.contexts(), std::vector<double>(texts.places()));
  for (std::size_t x = 0; x < chain.contexts(); ++x) {
    end_if_stopped();
    texts.follow(static_cast<std::int32_t>(x), after[x]);
  }
  std::vector<std::vector<double>> steps{std::vector<double>(chain.contexts())};  // by number of tokens left
  for (int left = 1; left <= tokens; ++left) {
    end_if_stopped();
    std::vector<double>& here = steps.emplace_back(chain.contexts(), 1.0);
    for (std::size_t x = 0; x < chain.contexts(); ++x) {
      for (int accepted = 0; accepted <= std::min(gamma, left - 1); ++accepted) {
        const auto ends = after[x].begin() + accepted * std::ssize(here);
        const std::vector<double>& rest = steps[static_cast<std::size_t>(left - 1 - accepted)];
        here[x] += std::inner_product(rest.begin(), rest.end(), ends, 0.0);
      }
    }
  }
  return steps.back();
}

}  // namespace speclab
