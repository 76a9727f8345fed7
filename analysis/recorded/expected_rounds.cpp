#include "analysis/recorded/expected_rounds.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "core/rules/block.hpp"
#include "core/stop.hpp"

namespace speclab {

namespace {

/// Computes survivals[k] = P(at least k accepted | a round starts at `start`), k = 0..most, if `left` tokens
/// of the sequence follow; entries beyond `left` are omitted.
class Survivals {
 public:
  Survivals(const Recording& recording, RecordedRule rule);
  void of(std::size_t start, std::size_t left, std::size_t most, std::vector<double>& survivals) const;

 private:
  std::vector<std::vector<double>> keep_;  // by depth; for blocks q/p instead
  RecordedRule rule_;
};

Survivals::Survivals(const Recording& recording, RecordedRule rule) : rule_(rule) {
  if (rule == RecordedRule::token) {
    for (std::size_t depth = 0; depth < recording.draft.size(); ++depth)
      keep_.push_back(keep_probabilities(recording, depth));
    return;
  }
  for (const std::vector<double>& draft : recording.draft) {
    std::vector<double>& ratio = keep_.emplace_back(draft);
    for (std::size_t i = 0; i < ratio.size(); ++i) ratio[i] = std::exp(ratio[i] - recording.target[i]);
  }
}

void Survivals::of(std::size_t start, std::size_t left, std::size_t most,
                   std::vector<double>& survivals) const {
  const std::size_t end = std::min(left, most);
  assert(keep_.size() == 1 || end <= keep_.size());
  survivals.resize(end + 1);
  survivals[0] = 1;
  BlockSurvival block;
  for (std::size_t k = 0; k < end; ++k) {
    const double here = keep_[keep_.size() == 1 ? 0 : k][start + k];
    if (rule_ == RecordedRule::token) {
      survivals[k + 1] = survivals[k] * here;
    } else {
      block.next(here);
      survivals[k + 1] = block.kept;
    }
  }
}

/// Adds one sequence's rounds. `starts[i]` is the probability that a round starts at its token i.
void add_sequence(GammaRounds& found, std::span<const Stretch> stretches, std::size_t first,
                  std::span<const double> starts) {
  const auto next = std::upper_bound(stretches.begin(), stretches.end(), first,
                                     [](std::size_t place, const Stretch& one) { return place < one.last; });
  auto stretch = static_cast<std::size_t>(next - stretches.begin());
  for (std::size_t i = 0; i < starts.size(); ++stretch) {
    const std::size_t end = std::min(starts.size(), stretches[stretch].last - first);
    double rounds = 0;
    for (; i < end; ++i) rounds += starts[i];
    found.rounds[stretch] += rounds;
  }
}

/// Adds rounds that start at least gamma + 1 tokens before the end. Together they emit all tokens except
/// those of later rounds. `emitted(start)` is the mean number of tokens up to the end of a round that starts
/// at one of the last gamma tokens.
template <class Emitted>
void add_whole(GammaRounds& found, std::size_t gamma, std::span<const double> starts,
               const Emitted& emitted) {
  const std::size_t length = starts.size();
  if (length <= gamma) return;
  double rounds = 0;
  for (std::size_t i = 0; i + gamma < length; ++i) rounds += starts[i];
  double late = 0;
  for (std::size_t i = length - gamma; i < length; ++i) late += starts[i] * emitted(i);
  found.whole_rounds += rounds;
  found.whole_tokens += static_cast<double>(length) - late;
}

/// Counts the rounds of token verification with one column. A token is a bonus if a round started gamma
/// tokens before it and kept all of them; else it was examined. A round ends with each bonus, and with each
/// examined token that is not kept:
///     bonus(t) = start(t - gamma) keep(t - gamma) ... keep(t - 1)
///     start(t + 1) = 1 - (1 - bonus(t)) keep(t)
/// The products are updated from gamma - 1 to gamma.
void add_by_recursion(std::vector<GammaRounds>& all, std::span<const Stretch> stretches, std::size_t first,
                      std::span<const double> keep) {
  const std::size_t length = keep.size();
  std::vector<double> product(length, 1);  // product of the last gamma keeps before t
  std::vector<double> starts(length);
  for (std::size_t gamma = 1; gamma <= all.size(); ++gamma) {
    starts[0] = 1;
    const std::size_t early = std::min(gamma, length);
    for (std::size_t t = 0; t < early; ++t) {
      if (t + 1 < length) starts[t + 1] = 1 - keep[t];
    }
    for (std::size_t t = gamma; t < length; ++t) {
      product[t] *= keep[t - gamma];
      if (t + 1 < length) starts[t + 1] = 1 - (1 - starts[t - gamma] * product[t]) * keep[t];
    }
    add_sequence(all[gamma - 1], stretches, first, starts);
    add_whole(all[gamma - 1], gamma, starts, [&](std::size_t start) {
      double survived = 1;
      double sum = 0;
      for (std::size_t i = start; i < length; ++i) {
        sum += survived;
        survived *= keep[i];
      }
      return sum;
    });
  }
}

/// Calls see(probability, survivals) for every round of one sequence, by any rule.
template <class See>
void for_each_start(const Survivals& rule, const RecordedSequence& sequence, std::size_t gamma,
                    std::vector<double>& starts, const See& see) {
  std::vector<double> survivals;
  starts.assign(sequence.count + gamma + 1, 0);
  starts[0] = 1;
  for (std::size_t start = 0; start < sequence.count; ++start) {
    rule.of(sequence.first + start, sequence.count - start, gamma, survivals);
    const std::size_t last = survivals.size() - 1;
    for (std::size_t k = 0; k < last; ++k)
      starts[start + k + 1] += starts[start] * (survivals[k] - survivals[k + 1]);
    starts[start + last + 1] += starts[start] * survivals[last];
    see(starts[start], survivals);
  }
  starts.resize(sequence.count);
}

void add_by_definition(GammaRounds& found, std::size_t gamma, std::span<const Stretch> stretches,
                       const Survivals& rule, const RecordedSequence& sequence) {
  std::vector<double> starts;
  for_each_start(rule, sequence, gamma, starts, [](double, const std::vector<double>&) {});
  add_sequence(found, stretches, sequence.first, starts);
  std::vector<double> survivals;
  add_whole(found, gamma, starts, [&](std::size_t start) {
    rule.of(sequence.first + start, sequence.count - start, gamma, survivals);
    return std::accumulate(survivals.begin(), survivals.end() - 1, 0.0);
  });
}

}  // namespace

std::vector<Stretch> sequence_stretches(const Recording& recording) {
  std::vector<Stretch> stretches;
  for (const RecordedSequence& sequence : recording.sequences)
    stretches.push_back({sequence.first, sequence.first + sequence.count});
  return stretches;
}

std::vector<GammaRounds> expected_rounds(const Recording& recording, std::span<const Stretch> stretches,
                                         std::size_t most, RecordedRule rule) {
  assert(!recording.by_depth() || most <= recording.draft.size());
  std::vector<GammaRounds> all(most);
  for (GammaRounds& one : all) one.rounds.resize(stretches.size());
  if (rule == RecordedRule::token && !recording.by_depth()) {
    const std::vector<double> keep = keep_probabilities(recording);
    for (const RecordedSequence& sequence : recording.sequences) {
      end_if_stopped();
      add_by_recursion(all, stretches, sequence.first,
                       std::span(keep).subspan(sequence.first, sequence.count));
    }
    return all;
  }
  const Survivals survivals(recording, rule);
  for (std::size_t gamma = 1; gamma <= most; ++gamma) {
    for (const RecordedSequence& sequence : recording.sequences) {
      end_if_stopped();
      add_by_definition(all[gamma - 1], gamma, stretches, survivals, sequence);
    }
  }
  return all;
}

std::vector<AcceptedPosition> accepted_by_position(const Recording& recording, std::size_t gamma,
                                                   RecordedRule rule) {
  const Survivals rule_survivals(recording, rule);
  std::vector<double> reached(gamma);
  std::vector<double> reached_before(gamma);
  std::vector<double> rounds(gamma);
  std::vector<double> starts;
  for (const RecordedSequence& sequence : recording.sequences) {
    end_if_stopped();
    for_each_start(rule_survivals, sequence, gamma, starts,
                   [&](double probability, const std::vector<double>& survivals) {
                     for (std::size_t k = 1; k < survivals.size(); ++k) {
                       reached[k - 1] += probability * survivals[k];
                       reached_before[k - 1] += probability * survivals[k - 1];
                       rounds[k - 1] += probability;
                     }
                   });
  }
  std::vector<AcceptedPosition> positions;
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  for (std::size_t i = 0; i < gamma; ++i)
    positions.push_back({share(reached[i], rounds[i]), share(reached[i], reached_before[i])});
  return positions;
}

}  // namespace speclab
