// Rows as low temperatures make them, for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "core/random/philox.hpp"

namespace speclab {

using ColdRows = std::vector<std::vector<double>>;

/// Returns random rows at temperatures from 1 to 1e-4: of reals, or of small whole numbers, which have ties
/// and zeros. Some are point masses, and some have the smallest positive doubles beside one token.
inline ColdRows cold_rows(Philox& stream, std::size_t vocab, std::size_t count) {
  const auto uniform = [&stream] { return open_unit(stream()); };
  ColdRows rows;
  std::vector<Token> order;
  while (rows.size() < count) {
    std::vector<double>& row = rows.emplace_back(vocab, 0.0);
    const auto kind = stream() % 8;
    const std::size_t most = stream() % vocab;
    for (double& probability : row) {
      if (kind == 1) probability = 0x1p-1074 * static_cast<double>(stream() % 1000);
      if (kind > 1) probability = kind % 2 == 0 ? uniform() : static_cast<double>(stream() % 4);
    }
    if (kind <= 1 || !(total_probability(Row{row.data(), static_cast<std::int32_t>(vocab)}) > 0))
      row[most] = 1;
    normalise(row);
    if (kind > 1) adjust(row, {.temperature = std::pow(10, -4 * uniform())}, order);
  }
  return rows;
}

/// Returns the smallest probability above 0.
inline double smallest_of(const ColdRows& rows) {
  double smallest = 1;
  for (const auto& row : rows) {
    for (const double probability : row) {
      if (probability > 0 && probability < smallest) smallest = probability;
    }
  }
  return smallest;
}

}  // namespace speclab
