// The simulations behind a config's cells. Cells that differ only in what a simulation does not depend on
// (cost, confidence, printed numbers) share one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "experiments/backend.hpp"
#include "experiments/registry.hpp"
#include "sim/control.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/rule_quality.hpp"

namespace speclab {

/// One simulation to run: decoding at one gamma, perhaps judged, or an acceptance measurement.
struct Job {
  std::shared_ptr<const Setup> setup;  ///< null for i.i.d. rounds
  SimulationSize plan;
  int gamma = 0;
  bool acceptance = false;
  std::optional<double> iid_alpha = {};
  std::optional<RuleQualityOptions> judging = {};
  const char* engine = "plain";  ///< that decoding uses: plain, fast or iid
  Outcome outcome = {};
  bool done = false;
};

/// Throws ConfigError for a job that is neither rounds of acceptance draws nor decoding of two stored tables
/// on fast tables, naming what the GPU can run.
void require_gpu_form(const Job& job);

class JobList {
 public:
  /// The set-up of this resolved config: one for all configs that differ only in what it does not depend on.
  std::shared_ptr<const Setup> setup(const Json& config);

  /// The job of this set-up, new or shared: decoding at `gamma`, or an acceptance measurement, which has no
  /// gamma. References stay valid.
  Job& add(const std::shared_ptr<const Setup>& setup, int gamma, bool acceptance);

  /// The same for decoding that is judged. `how` is a function of the set-up.
  Job& add_judged(const std::shared_ptr<const Setup>& setup, int gamma, const RuleQualityOptions& how);

  /// Rounds of the config's plan whose acceptances have probability alpha.
  Job& add_iid(const Json& config, double alpha);

  /// Rounds (or tokens) in all.
  std::uint64_t total() const;

  /// Runs every job, in parallel over jobs and trials. All of them pass `require_gpu_form` when the backend
  /// is not the CPU.
  void run(const Control& control, Backend backend = Backend::cpu);

 private:
  Registry registry_;
  std::map<std::string, std::shared_ptr<const Setup>> setups_;
  enum class Work { decode, acceptance, judge };
  Job& job(const std::shared_ptr<const Setup>& setup, int gamma, Work work);

  /// A setup's tables for fast decoding: made by the first job that needs them, dropped after the last.
  struct Prepared {
    std::once_flag once;
    std::unique_ptr<const FastPair> pair;  ///< null when the models turned out not to allow it
    std::atomic<int> users{0};
  };
  void run_job(Job& job, const Control& control, Backend backend);
  void decode(Job& job, const Control& control, Backend backend);

  std::map<std::tuple<const Setup*, int, Work>, Job*> by_key_;
  std::map<const Setup*, Prepared> prepared_;
  std::deque<Job> jobs_;
};

}  // namespace speclab
