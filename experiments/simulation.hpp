// The simulations behind a config's cells. Cells that differ only in what a simulation does not depend on
// (cost, confidence, printed numbers) share one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "speclab/experiments/registry.hpp"
#include "speclab/sim/control.hpp"
#include "speclab/sim/judge.hpp"

namespace speclab {

/// One simulation to run: decoding at one gamma, perhaps judged, or an acceptance measurement.
struct Job {
  std::shared_ptr<const Setup> setup;
  int gamma = 0;
  bool acceptance = false;
  Outcome outcome;
  bool done = false;
  std::optional<Judging> judging = {};
};

class JobList {
 public:
  /// The set-up of this resolved config: one for all configs that differ only in what it does not depend on.
  std::shared_ptr<const Setup> setup(const Json& config);

  /// The job of this set-up, new or shared: decoding at `gamma`, or an acceptance measurement, which has no
  /// gamma. References stay valid.
  Job& add(const std::shared_ptr<const Setup>& setup, int gamma, bool acceptance);

  /// The same for decoding that is judged. `how` is a function of the set-up.
  Job& add_judged(const std::shared_ptr<const Setup>& setup, int gamma, const Judging& how);

  /// Rounds (or tokens) in all.
  std::uint64_t total() const;

  /// Runs every job, in parallel over jobs and trials.
  void run(const Control& control);

 private:
  Registry registry_;
  std::map<std::string, std::shared_ptr<const Setup>> setups_;
  enum class Work { decode, acceptance, judge };
  Job& job(const std::shared_ptr<const Setup>& setup, int gamma, Work work);

  std::map<std::tuple<const Setup*, int, Work>, Job*> by_key_;
  std::deque<Job> jobs_;
};

}  // namespace speclab
