#include "serving/server/acceptance_law.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/random/philox.hpp"

namespace speclab {

namespace {

constexpr std::uint16_t round_slot = 0;
constexpr std::uint16_t rate_slot = 1;
constexpr std::uint16_t text_slot = 2;

PhiloxWords words_at(std::uint64_t seed, std::uint16_t slot, std::uint32_t round, std::uint32_t request) {
  return philox_words(seed, 0, use_and_slot(Draw{Use::accept, slot}), round, request);
}

/// A step along the text: whether the draft for this position is accepted, and the next position's state.
struct TextStep {
  bool accepted;
  std::uint8_t next;
};

TextStep text_step(const TextLaw& law, std::uint64_t seed, std::uint32_t request, std::uint32_t position,
                   std::uint8_t state) {
  const PhiloxWords words = words_at(seed, text_slot, position, request);
  return {open_unit(words.first) < law.rate[state],
          static_cast<std::uint8_t>(open_unit(words.second) < law.leaves[state] ? 1 - state : state)};
}

const RecordedRounds::Round& round_at(const RecordedRounds& law, double u) {
  const auto& rounds = *law.rounds;
  const auto found = std::ranges::lower_bound(rounds, u, {}, &RecordedRounds::Round::weight);
  return found == rounds.end() ? rounds.back() : *found;
}

/// A round of `gamma` drafted tokens that starts in one state.
struct RoundFrom {
  double accepted = 0;               ///< mean accepted tokens
  std::array<double, 2> ends{0, 0};  ///< probability of each state at the start of the next round
};

RoundFrom round_from(const TextLaw& law, std::uint8_t start, std::uint32_t gamma) {
  RoundFrom round;
  std::array<double, 2> at{start == 0 ? 1.0 : 0.0, start == 0 ? 0.0 : 1.0};
  const auto move = [&](const std::array<double, 2>& from) {
    return std::array<double, 2>{from[0] * (1 - law.leaves[0]) + from[1] * law.leaves[1],
                                 from[0] * law.leaves[0] + from[1] * (1 - law.leaves[1])};
  };
  for (std::uint32_t j = 0; j < gamma; ++j) {
    const std::array<double, 2> yes{at[0] * law.rate[0], at[1] * law.rate[1]};
    const auto after = move({at[0] - yes[0], at[1] - yes[1]});
    round.ends[0] += after[0];
    round.ends[1] += after[1];
    round.accepted += yes[0] + yes[1];
    at = move(yes);
  }
  const auto bonus = move(at);
  round.ends[0] += bonus[0];
  round.ends[1] += bonus[1];
  return round;
}

}  // namespace

RoundLaw iid_law(double alpha) {
  RoundLaw law;
  for (std::uint32_t j = 1; j <= longest_draft; ++j) law.survival.push_back(std::pow(alpha, j));
  return law;
}

RoundLaw position_law(std::span<const double> conditional, bool goes_on) {
  RoundLaw law;
  double all = 1;
  for (const double rate : conditional) law.survival.push_back(all *= rate);
  while (goes_on && law.survival.size() < longest_draft) law.survival.push_back(all *= conditional.back());
  return law;
}

BetaLaw beta_law(double mean, double spread) {
  const double concentration = mean * (1 - mean) / (spread * spread) - 1;
  return {mean * concentration, (1 - mean) * concentration};
}

RoundLaw least_variance_law(double mean) {
  RoundLaw law;
  for (double left = mean; left > 0; left -= 1) law.survival.push_back(std::min(left, 1.0));
  return law;
}

RoundLaw constant_rate_law(double mean, std::uint32_t gamma) {
  assert(mean >= 0 && mean <= gamma);
  double low = 0;
  double high = 1;
  while (true) {
    const double rate = (low + high) / 2;
    if (rate <= low || rate >= high) return iid_law(rate);
    double sum = 0;
    double all = 1;
    for (std::uint32_t j = 0; j < gamma; ++j) sum += all *= rate;
    (sum < mean ? low : high) = rate;
  }
}

RoundLaw all_or_none_law(double mean, std::uint32_t gamma) {
  return {std::vector<double>(gamma, gamma == 0 ? 0 : mean / gamma)};
}

RecordedRounds recorded_rounds(std::vector<RecordedRounds::Round> rounds) {
  double sum = 0;
  for (RecordedRounds::Round& round : rounds) round.weight = sum += round.weight;
  for (RecordedRounds::Round& round : rounds) round.weight /= sum;
  return {std::make_shared<const std::vector<RecordedRounds::Round>>(std::move(rounds))};
}

AcceptanceDraws::AcceptanceDraws(AcceptanceLaw law, std::uint64_t seed) : law_(std::move(law)), seed_(seed) {}

RequestAcceptance AcceptanceDraws::begin(std::uint32_t request) const {
  RequestAcceptance own;
  if (const auto* law = std::get_if<BetaLaw>(&law_)) {
    const double u = open_unit(words_at(seed_, rate_slot, 0, request).first);
    own.log_rate = std::log(boost::math::ibeta_inv(law->a, law->b, u));
  } else if (const auto* classes = std::get_if<ClassLaw>(&law_)) {
    double left = open_unit(words_at(seed_, rate_slot, 0, request).first);
    const std::size_t last = classes->classes.size() - 1;
    while (own.state < last && left >= classes->classes[own.state].share)
      left -= classes->classes[own.state++].share;
  } else if (const auto* text = std::get_if<TextLaw>(&law_)) {
    // Draws the first state from the chain's stationary distribution.
    const double total = text->leaves[0] + text->leaves[1];
    const double hard = total > 0 ? text->leaves[0] / total : 0;
    own.state = open_unit(words_at(seed_, rate_slot, 0, request).first) < hard ? 1 : 0;
  }
  return own;
}

std::uint32_t AcceptanceDraws::accepted(const RequestAcceptance& own, std::uint32_t request,
                                        std::uint32_t round, std::uint32_t gamma) const {
  if (gamma == 0) return 0;
  if (const auto* text = std::get_if<TextLaw>(&law_)) {
    std::uint32_t count = 0;
    std::uint8_t state = own.state;
    while (count < gamma) {
      const TextStep step = text_step(*text, seed_, request, own.position + count, state);
      if (!step.accepted) break;
      state = step.next;
      ++count;
    }
    return count;
  }
  const double u = open_unit(words_at(seed_, round_slot, round, request).first);
  if (std::holds_alternative<BetaLaw>(law_)) {
    const double count = std::log(u) / own.log_rate;  // accepts token j if u < rate^j
    return count >= gamma ? gamma : static_cast<std::uint32_t>(count);
  }
  if (const auto* recorded = std::get_if<RecordedRounds>(&law_))
    return std::min(round_at(*recorded, u).accepted, gamma);
  const auto* classes = std::get_if<ClassLaw>(&law_);
  const std::vector<double>& survival =
      classes != nullptr ? classes->classes[own.state].law.survival : std::get<RoundLaw>(law_).survival;
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(gamma, survival.size()));
  std::uint32_t count = 0;
  while (count < most && u < survival[count]) ++count;
  return count;
}

std::span<const float> AcceptanceDraws::recorded_confidences(std::uint32_t request,
                                                             std::uint32_t round) const {
  return round_at(std::get<RecordedRounds>(law_),
                  open_unit(words_at(seed_, round_slot, round, request).first))
      .confidences;
}

void AcceptanceDraws::advance(RequestAcceptance& own, std::uint32_t request, std::uint32_t emitted) const {
  const auto* text = std::get_if<TextLaw>(&law_);
  if (text == nullptr) return;
  for (std::uint32_t i = 0; i < emitted; ++i)
    own.state = text_step(*text, seed_, request, own.position++, own.state).next;
}

double mean_accepted(const AcceptanceLaw& law, std::uint32_t gamma) {
  if (const auto* text = std::get_if<TextLaw>(&law)) {
    const RoundFrom easy = round_from(*text, 0, gamma);
    const RoundFrom hard = round_from(*text, 1, gamma);
    const double total = easy.ends[1] + hard.ends[0];
    const double share = total > 0 ? hard.ends[0] / total : 1;
    return share * easy.accepted + (1 - share) * hard.accepted;
  }
  double sum = 0;
  if (const auto* classes = std::get_if<ClassLaw>(&law)) {
    for (const ClassLaw::Class& one : classes->classes) sum += one.share * mean_accepted(one.law, gamma);
    return sum;
  }
  if (const auto* own = std::get_if<BetaLaw>(&law)) {
    double moment = 1;  // E[rate^j] = prod (a + i) / (a + b + i)
    for (std::uint32_t j = 0; j < gamma; ++j) sum += moment *= (own->a + j) / (own->a + own->b + j);
    return sum;
  }
  if (const auto* recorded = std::get_if<RecordedRounds>(&law)) {
    double before = 0;
    for (const RecordedRounds::Round& round : *recorded->rounds) {
      sum += (round.weight - before) * std::min(round.accepted, gamma);
      before = round.weight;
    }
    return sum;
  }
  const std::vector<double>& survival = std::get<RoundLaw>(law).survival;
  for (std::size_t j = 0; j < std::min<std::size_t>(gamma, survival.size()); ++j) sum += survival[j];
  return sum;
}

}  // namespace speclab
