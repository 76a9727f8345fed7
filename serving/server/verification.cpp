#include "serving/server/verification.hpp"

#include <algorithm>
#include <functional>

namespace speclab {

namespace {

/// Fills `survival` with the draft's confidence that the first 1, 2, ... tokens of a round are accepted.
void survival_of(const AdaptiveVerification& policy, const AcceptanceDraws& draws, std::uint32_t request,
                 std::uint32_t round, std::uint32_t accepts, std::span<double> survival) {
  if (policy.confidence) {
    policy.confidence->survival(draws.seed(), request, round, accepts, survival);
    return;
  }
  const std::span<const float> said = draws.recorded_confidences(request, round);
  double all = 1;
  for (std::size_t j = 0; j < survival.size(); ++j) survival[j] = all *= said[j];
}

/// Gives `budget` to the drafts with the largest survival; among equals to earlier positions, then to
/// requests admitted earlier. A request's survival does not rise, so each gets a prefix of its draft.
void share_out(std::span<const double> survival, std::size_t gamma, std::size_t budget,
               std::span<VerifiedSequence> sequences) {
  struct DraftSlot {
    double survival;
    std::uint32_t position;
    std::uint32_t sequence;
  };
  std::vector<DraftSlot> slots;
  slots.reserve(survival.size());
  for (std::uint32_t i = 0; i < sequences.size(); ++i) {
    for (std::uint32_t j = 0; j < gamma; ++j) slots.push_back({survival[i * gamma + j], j, i});
  }
  const auto before = [](const DraftSlot& a, const DraftSlot& b) {
    if (a.survival != b.survival) return a.survival > b.survival;
    return a.position != b.position ? a.position < b.position : a.sequence < b.sequence;
  };
  if (budget < slots.size())
    std::nth_element(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(budget), slots.end(), before);
  for (VerifiedSequence& one : sequences) one.verified = 0;
  for (std::size_t i = 0; i < budget; ++i) ++sequences[slots[i].sequence].verified;
}

}  // namespace

std::size_t verification_budget(std::span<const double> scores, double sampling, const StepWork& plain,
                                const StepTime& time) {
  StepWork work = plain;
  double tokens = sampling;
  double best_speed = tokens / time(work);
  std::size_t best = 0;
  for (std::size_t b = 1; b <= scores.size(); ++b) {
    tokens += scores[b - 1];
    work.verified += 1;
    const double speed = tokens / time(work);
    if (speed > best_speed) {
      best_speed = speed;
      best = b;
    }
  }
  return best;
}

void verify(const AdaptiveVerification& policy, const AcceptanceDraws& draws, const StepWork& plain,
            double sampling, std::span<VerifiedSequence> sequences) {
  const std::size_t gamma = policy.gamma;
  if (gamma == 0 || sequences.empty()) return;
  std::vector<double> survival(gamma * sequences.size());
  std::vector<double> scores(survival.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const VerifiedSequence& one = sequences[i];
    const auto row = [&](std::vector<double>& all) { return std::span(all).subspan(i * gamma, gamma); };
    survival_of(policy, draws, one.request, one.round, one.accepts, row(survival));
    if (policy.waits) continue;
    if (one.first) {
      std::ranges::fill(row(scores), 1.0);
    } else {
      survival_of(policy, draws, one.request, one.round - 1, one.accepts_before, row(scores));
    }
  }
  if (policy.waits) scores = survival;
  std::sort(scores.begin(), scores.end(), std::greater<>());
  share_out(survival, gamma, verification_budget(scores, sampling, plain, policy.time), sequences);
}

}  // namespace speclab
