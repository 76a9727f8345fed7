// The common interface of pairs of models that are prepared for a rule.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/control.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// The models must outlive it.
class FastDecoder {
 public:
  FastDecoder() = default;
  FastDecoder(const FastDecoder&) = delete;
  FastDecoder& operator=(const FastDecoder&) = delete;
  virtual ~FastDecoder() = default;

  /// Decodes as FastPair::decode does.
  virtual Outcome decode(std::int32_t gamma, const SimulationSize& simulation, const Control& control,
                         std::size_t streams) const = 0;
  virtual std::size_t bytes() const = 0;
  virtual std::size_t contexts() const = 0;
};

}  // namespace speclab
