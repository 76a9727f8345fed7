// Makes random batches for comparing backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "kernels/plain/probability_batch.hpp"

namespace speclab {

struct Batch {
  std::vector<double> targets;
  std::vector<double> drafts;
  std::vector<Token> drafted;
  BatchView view;
};

/// Makes a batch of rows of random probability with some zeros, and drafted tokens drawn from the drafts.
/// Every third draft row equals its target, so that zero residuals occur.
inline Batch random_batch(std::int64_t requests, std::int32_t gamma, std::int32_t vocab, std::uint64_t seed) {
  Batch batch;
  const auto width = static_cast<std::size_t>(vocab);
  std::vector<double> row(width);
  const auto fill = [&](std::uint32_t index, std::uint16_t kind) {
    Philox stream(seed, Site{index, 0, Draw{Use::world, kind}});
    for (double& probability : row) probability = stream() % 4 == 0 ? 0.0 : open_unit(stream());
    row[index % width] += 0.5;
    normalise(row);
  };
  for (std::int64_t request = 0; request < requests; ++request) {
    for (std::int32_t i = 0; i <= gamma; ++i) {
      const auto index = static_cast<std::uint32_t>(request * (gamma + 1) + i);
      fill(index, 0);
      batch.targets.insert(batch.targets.end(), row.begin(), row.end());
      if (i == gamma) break;
      if (index % 3 != 0) fill(index, 1);
      batch.drafts.insert(batch.drafts.end(), row.begin(), row.end());
      Philox stream(seed, Site{index, 0, Draw{Use::draft, 0}});
      batch.drafted.push_back(inverse_cdf(Row{row.data(), vocab}, open_unit(stream())));
    }
  }
  batch.view = {
      batch.targets.data(), batch.drafts.data(), batch.drafted.data(), requests, gamma, vocab, seed};
  return batch;
}

}  // namespace speclab
