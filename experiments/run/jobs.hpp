// The simulations of a config's cells. Cells share one if they differ only in values that it does not depend
// on (cost, confidence, printed numbers).
#pragma once

#include <any>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <typeindex>

#include "analysis/statistics/estimates.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/run/backend.hpp"
#include "experiments/run/until.hpp"
#include "sim/control.hpp"
#include "sim/rule_quality.hpp"

namespace speclab {

class FastPair;
class SharedRows;
struct Setup;

/// The measurement that a job makes with its set-up (Setup).
enum class JobKind { decode, acceptance, rule_quality, independent_acceptances };

/// The engine that decoded (Engine), or `iid` for independent acceptances.
enum class EngineUsed { plain, fast, iid };

/// One simulation to run.
struct Job {
  JobKind kind = JobKind::decode;
  std::shared_ptr<const Setup> setup = {};  ///< null for independent acceptances
  SimulationSize simulation;
  int gamma = 0;
  double alpha = 0;                         ///< for independent acceptances
  RuleQualityOptions quality_options = {};  ///< for rule quality
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};  ///< reason why the fast engine, though requested, did not run; else empty
  std::optional<WantedInterval> wanted = {};      ///< empty: the simulation has a fixed size
  std::optional<WantedPrecision> precision = {};  ///< precision of the interval, set by run_until
  int looks = 0;         ///< interim analyses so far; if only a part of one is run, its number
  bool precise = false;  ///< the interval became narrow enough
  Outcome outcome = {};
  bool done = false;
};

/// Returns which units of a job are independent: all its rounds, if acceptance has one probability in every
/// context.
Independence independence_of_rounds(const Job& job);
/// Returns which units are independent for quantities that depend on the contexts of rounds.
Independence independence_of_contexts(const SimulationSize& simulation);

/// Returns the limits of a job's rounds. Of several drafts, too, a round accepts at most gamma tokens.
inline RunLimits limits_of(const Job& job) { return {EqualLength::rounds, static_cast<double>(job.gamma)}; }

struct EngineResult;
/// Returns the engine that a finished job used, and counts of its work.
EngineResult engine_result(const Job& job);

/// Returns true if a job plays rounds, of models or of independent acceptances.
bool decodes(const Job& job);

/// Throws ConfigError, before any model is built, if the config requests the fast engine but the rule or the
/// kinds of its models show that it cannot decode them.
void check_fast_engine(const ConfigReader& config);

/// Throws ConfigError, naming what the GPU can run, for a decoding job that is neither independent
/// acceptances nor two stored tables on the fast engine.
void require_gpu_form(const Job& job);

class JobList {
 public:
  explicit JobList(Backend backend = Backend::cpu);

  /// Returns the config's set-up. Configs that differ only in values that it does not depend on share it.
  std::shared_ptr<const Setup> setup(const Config& config);

  /// Return a new or shared job for this set-up. References stay valid.
  Job& decode(const std::shared_ptr<const Setup>& setup, int gamma) {
    return shared_job(setup, gamma, JobKind::decode);
  }
  Job& acceptance(const std::shared_ptr<const Setup>& setup) {
    return shared_job(setup, 0, JobKind::acceptance);
  }
  Job& rule_quality(const std::shared_ptr<const Setup>& setup, int gamma, const RuleQualityOptions& options) {
    return shared_job(setup, gamma, JobKind::rule_quality, options);
  }

  /// Returns a job with the config's simulation size whose acceptances are independent with probability
  /// alpha.
  Job& independent_acceptances(const Config& config, double alpha);

  /// Returns another object that cells share, one of each type T (BuiltFromConfigs::get); `path` is for
  /// errors.
  template <class T, class Build, class... More>
  std::shared_ptr<const T> shared(const Config& config, const std::string& path, Build build,
                                  const Given<More>&... given) {
    std::any& all = shared_[typeid(T)];
    if (!all.has_value()) all = std::make_shared<BuiltFromConfigs<T>>();
    return std::any_cast<const std::shared_ptr<BuiltFromConfigs<T>>&>(all)->get(
        config, SharedPlace{path, factory_}, build, given...);
  }

  /// Drops jobs and set-ups; keeps the factory's and other shared objects.
  void clear();

  /// Returns the factory, which holds the corpora and models of all cells.
  ModelFactory& factory() { return factory_; }

  /// Returns the number of rounds (or tokens) still to run.
  std::uint64_t total() const;

  /// Runs the jobs that are not done, in parallel over jobs and trials; calls `done` after each, from any
  /// thread. On other backends than the CPU, all jobs must pass `require_gpu_form`.
  void run(
      const Control& control, const std::function<void(const Job& job)>& done = [](const Job&) {});

 private:
  Job& shared_job(const std::shared_ptr<const Setup>& setup, int gamma, JobKind kind,
                  const RuleQualityOptions& options = {});
  void run_job(Job& job, const Control& control);
  Outcome run_once(Job& job, const Control& control);

  /// A set-up's tables for the fast engine, made by the first job that needs them and dropped after the last.
  struct Prepared {
    std::once_flag once;
    std::shared_ptr<const FastPair> pair;  ///< null if the models turned out not to allow it
    std::string why_not;                   ///< reason why there are none
    std::atomic<int> users{0};
  };

  /// Returns the job's tables; the first caller makes them. Returns null for a job of the plain engine. If
  /// the models do not allow tables, the job becomes one of the plain engine.
  const FastPair* prepared_for(Job& job);

  Backend backend_;
  ModelFactory factory_;
  std::map<std::type_index, std::any> shared_;
  BuiltFromConfigs<Setup> setups_;
  std::map<std::tuple<const Setup*, int, JobKind, RuleQualityOptions>, Job*> by_inputs_;
  std::shared_ptr<SharedRows> rows_;  ///< shared by cells that differ in their rule
  std::map<const Setup*, Prepared> prepared_;
  std::deque<Job> jobs_;
};

}  // namespace speclab
