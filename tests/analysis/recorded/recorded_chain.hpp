// Draws texts from Markov chains, with their log-probabilities.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analysis/recorded/recording.hpp"

namespace speclab {

using ChainRows = std::vector<std::vector<double>>;  ///< a row for each last token

inline std::size_t drawn(const std::vector<double>& row, std::mt19937_64& random) {
  double rest = std::uniform_real_distribution<double>(0, 1)(random);
  for (std::size_t i = 0; i + 1 < row.size(); ++i) {
    if (rest < row[i]) return i;
    rest -= row[i];
  }
  return row.size() - 1;
}

/// Returns rows p^(1/temperature), normalised.
inline ChainRows at_temperature(ChainRows rows, double temperature) {
  for (auto& row : rows) {
    double sum = 0;
    for (double& p : row) sum += p = std::pow(p, 1 / temperature);
    for (double& p : row) p /= sum;
  }
  return rows;
}

/// Draws sequences of `length` tokens from `text`, with the log-probabilities of `target` and `draft`.
inline Recording recorded_chain(const ChainRows& text, const ChainRows& target, const ChainRows& draft,
                                std::size_t sequences, std::size_t length, std::uint64_t seed,
                                bool with_rows = false) {
  std::mt19937_64 random(seed);
  Recording recording;
  recording.draft.resize(1);
  std::vector<double> overlap(target.size());
  std::vector<double> entropy(target.size());
  std::vector<double> share(target.size());
  for (std::size_t context = 0; context < target.size(); ++context) {
    for (std::size_t y = 0; y < target[context].size(); ++y) {
      const double p = target[context][y];
      overlap[context] += std::min(p, draft[context][y]);
      if (p > 0) entropy[context] -= p * std::log(p);
      if (p > 0) share[context] += draft[context][y];
    }
  }
  for (std::size_t s = 0; s < sequences; ++s) {
    recording.sequences.push_back({std::to_string(s), "", recording.size(), length});
    std::size_t last = s % text.size();
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t token = drawn(text[last], random);
      recording.target.push_back(std::log(target[last][token]));
      recording.draft[0].push_back(std::log(draft[last][token]));
      if (with_rows) {
        recording.rows.overlap.push_back(overlap[last]);
        recording.entropy.push_back(entropy[last]);
        recording.rows.draft_share.push_back(share[last]);
      }
      last = token;
    }
  }
  return recording;
}

/// Returns random rows: exp(spread * normal), normalised.
inline ChainRows random_chain(std::size_t vocab, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  ChainRows rows(vocab, std::vector<double>(vocab));
  for (auto& row : rows) {
    double sum = 0;
    for (double& p : row) sum += p = std::exp(spread * normal(random));
    for (double& p : row) p /= sum;
  }
  return rows;
}

/// Returns rows exp(log p + normal noise): a draft that resembles the target.
inline ChainRows noisy(ChainRows rows, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (auto& row : rows) {
    double sum = 0;
    for (double& p : row) sum += p *= std::exp(spread * normal(random));
    for (double& p : row) p /= sum;
  }
  return rows;
}

}  // namespace speclab
