// What some batches of a job gave, for runs that several processes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/simulation_size.hpp"

namespace speclab {

/// How decoding ran.
enum class EngineUsed { plain, fast, iid };

/// Batches first..first + tallies.size() - 1 of a job, which is named by the first cell that uses it and its
/// place among that cell's jobs. The tallies are kept without `quality`.
struct JobPart {
  std::size_t cell = 0;
  std::size_t job = 0;
  int look = 1;  ///< of a job that goes on until it is precise: the one that needs these batches
  std::uint32_t first = 0;
  std::uint32_t batches = 0;  ///< of the whole job
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};
  FastWork work = {};
  std::vector<Tally> tallies = {};

  bool operator==(const JobPart&) const = default;
};

}  // namespace speclab
