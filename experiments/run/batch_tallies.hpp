// The counts (Tally) of some batches of a job's trials. Processes that share a cell exchange them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulation_size.hpp"

namespace speclab {

struct Job;

/// The engine that decoded (Engine), or `iid` for independent acceptances.
enum class EngineUsed { plain, fast, iid };

/// A job's name: the first cell that uses it, and its index among that cell's jobs.
using JobName = std::pair<std::size_t, std::size_t>;

/// The tallies of batches first..first + tallies.size() - 1 of a job, each without its `quality`.
struct BatchTallies {
  std::size_t cell = 0;  ///< `cell` and `job` form the JobName
  std::size_t job = 0;
  std::uint32_t first = 0;
  std::uint32_t batches = 0;  ///< number of batches of the whole job
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};
  FastWork work = {};
  std::vector<Tally> tallies = {};

  bool operator==(const BatchTallies&) const = default;
};

/// Returns true if both contain a batch of the same look (until.hpp) at the same job.
bool overlap(const BatchTallies& a, const BatchTallies& b);

/// Returns the tallies of the batches that the job ran.
BatchTallies tallies_of(const Job& job);

/// Combines at least one set of tallies into the outcome of the batches that the job runs next. The outcome
/// is partial if batches are missing or occur twice. If none is missing, the job takes over the engine that
/// made them.
Outcome outcome_of(const std::vector<const BatchTallies*>& tallies, Job& job);

}  // namespace speclab
