// What some batches of a job gave: what processes that share a cell hand to one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulation_size.hpp"

namespace speclab {

struct Job;

/// How decoding ran.
enum class EngineUsed { plain, fast, iid };

/// A job by the first cell that uses it, and its place among that cell's jobs.
using JobName = std::pair<std::size_t, std::size_t>;

/// The tallies of batches first..first + tallies.size() - 1 of a job, without their `quality`.
struct BatchTallies {
  std::size_t cell = 0;  ///< with `job` the name of the job
  std::size_t job = 0;
  std::uint32_t first = 0;
  std::uint32_t batches = 0;  ///< of the whole job
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};
  FastWork work = {};
  std::vector<Tally> tallies = {};

  bool operator==(const BatchTallies&) const = default;
};

/// Whether two have a batch of one job in common.
bool overlap(const BatchTallies& a, const BatchTallies& b);

/// Of the batches that the job ran.
BatchTallies tallies_of(const Job& job);

/// What these, at least one, say together of the batches that the job runs; partial when some are missing or
/// there twice. A job that lacks none takes over how they ran.
Outcome outcome_of(const std::vector<const BatchTallies*>& tallies, Job& job);

}  // namespace speclab
