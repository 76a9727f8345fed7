#include "experiments/run/batch_tallies.hpp"

#include <algorithm>

#include "experiments/run/jobs.hpp"

namespace speclab {

bool overlap(const BatchTallies& a, const BatchTallies& b) {
  return a.cell == b.cell && a.job == b.job && a.first < b.first + b.tallies.size() &&
         b.first < a.first + a.tallies.size();
}

BatchTallies tallies_of(const Job& job) {
  const std::vector<Tally>& batches = job.outcome.batches;
  const auto count = static_cast<std::uint32_t>(batches.size());
  const std::uint32_t first = std::min(job.simulation.only.first, count);
  const std::uint32_t last = std::min(job.simulation.only.last, count);
  return {.cell = job.name->first,
          .job = job.name->second,
          .first = first,
          .batches = count,
          .engine = job.engine,
          .why_plain = job.why_plain,
          .work = job.outcome.work,
          .tallies = {batches.begin() + first, batches.begin() + last}};
}

Outcome outcome_of(const std::vector<const BatchTallies*>& tallies, Job& job) {
  Outcome outcome;
  outcome.batches.resize(tallies.front()->batches);
  const auto count = static_cast<std::uint32_t>(outcome.batches.size());
  std::vector<int> times(count);
  for (const BatchTallies* some : tallies) {
    if (some->batches != count) continue;
    std::copy(some->tallies.begin(), some->tallies.end(), outcome.batches.begin() + some->first);
    outcome.work += some->work;
    for (std::uint32_t batch = 0; batch < some->tallies.size(); ++batch) ++times[some->first + batch];
  }
  const BatchSpan& only = job.simulation.only;
  for (std::uint32_t batch = only.first; batch < std::min(only.last, count); ++batch)
    outcome.partial = outcome.partial || times[batch] != 1;
  if (!outcome.partial) {
    job.engine = tallies.front()->engine;
    job.why_plain = tallies.front()->why_plain;
  }
  return outcome;
}

}  // namespace speclab
