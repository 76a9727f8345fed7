// The simulations for a config's cells. Cells share a simulation if they differ only in values on which it
// does not depend (cost, confidence, printed numbers).
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
#include "experiments/run/batch_tallies.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/until.hpp"
#include "sim/control.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/fast_quality.hpp"
#include "sim/rule_quality.hpp"

namespace speclab {

/// The work of a job with its set-up.
enum class JobKind { decode, acceptance, rule_quality, independent_acceptances };

/// One simulation to run.
struct Job {
  JobKind kind = JobKind::decode;
  std::optional<JobName> name = {};         ///< set once a cell that uses it is prepared
  std::shared_ptr<const Setup> setup = {};  ///< null for independent acceptances
  SimulationSize simulation;
  int gamma = 0;
  double alpha = 0;                         ///< for independent acceptances
  RuleQualityOptions quality_options = {};  ///< for rule quality
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};  ///< reason why the requested fast engine did not run; else empty
  std::optional<WantedInterval> wanted = {};      ///< empty: the simulation has a fixed size
  std::optional<WantedPrecision> precision = {};  ///< of the interval, set by run_until
  int looks = 0;         ///< looks so far; if only a part of one look is run, that look's number
  bool precise = false;  ///< the precision was reached
  Outcome outcome = {};
  bool done = false;
};

/// Returns what is independent in a job's rounds: all of them, if acceptance has one probability in every
/// context.
Independence independence_of_rounds(const Job& job);
/// Returns the same for quantities that depend on the contexts of the rounds.
Independence independence_of_contexts(const SimulationSize& simulation);

struct EngineResult;
/// Returns how a finished job ran.
EngineResult engine_result(const Job& job);

/// Returns true if a job plays rounds, from models or of independent acceptances.
bool decodes(const Job& job);

/// Throws ConfigError, before any model is built, for a config that asks for the fast engine where the rule
/// or the kinds of its models say that it cannot decode them.
void check_fast_engine(const ConfigReader& config);

/// Throws ConfigError for a job that decodes, but neither rounds of independent acceptances nor two stored
/// tables on the fast engine, naming what the GPU can run.
void require_gpu_form(const Job& job);

class JobList {
 public:
  explicit JobList(Backend backend = Backend::cpu) : backend_(backend) {}

  /// Returns the set-up of this config. Configs share it if they differ only in values on which it does not
  /// depend.
  std::shared_ptr<const Setup> setup(const Config& config);

  /// Sets which batches later cells run. Cells with different batches never share a job.
  void set_span(const BatchSpan& span) { span_ = span; }

  /// Return the job for this set-up, new or shared. References stay valid.
  Job& decode(const std::shared_ptr<const Setup>& setup, int gamma) {
    return shared_job(setup, gamma, JobKind::decode);
  }
  Job& acceptance(const std::shared_ptr<const Setup>& setup) {
    return shared_job(setup, 0, JobKind::acceptance);
  }
  Job& rule_quality(const std::shared_ptr<const Setup>& setup, int gamma, const RuleQualityOptions& options) {
    return shared_job(setup, gamma, JobKind::rule_quality, options);
  }

  /// Returns a job with rounds of the config's simulation whose acceptances are independent, with probability
  /// alpha.
  Job& independent_acceptances(const Config& config, double alpha);

  /// Returns another thing, one of each type T, that cells share (BuiltFromConfigs::get); `path` is for
  /// errors.
  template <class T, class Build, class... More>
  std::shared_ptr<const T> shared(const Config& config, const std::string& path, Build build,
                                  const Given<More>&... given) {
    std::any& all = shared_[typeid(T)];
    if (!all.has_value()) all = std::make_shared<BuiltFromConfigs<T>>();
    return std::any_cast<const std::shared_ptr<BuiltFromConfigs<T>>&>(all)->get(
        config, SharedPlace{path, factory_}, build, given...);
  }

  /// Forgets the jobs and their set-ups, but not what the factory made nor other shared things.
  void clear();

  /// Returns the factory, which holds the corpora and models of all cells.
  ModelFactory& factory() { return factory_; }

  /// Returns the number of rounds (or tokens) still to run.
  std::uint64_t total() const;

  /// Runs the jobs that are not done, in parallel over jobs and trials, and calls `done` after each, from any
  /// thread. All jobs must pass `require_gpu_form` if the backend is not the CPU.
  void run(
      const Control& control, const std::function<void(const Job& job)>& done = [](const Job&) {});

 private:
  Job& shared_job(const std::shared_ptr<const Setup>& setup, int gamma, JobKind kind,
                  const RuleQualityOptions& options = {});
  void run_job(Job& job, const Control& control);
  Outcome run_once(Job& job, const Control& control);

  /// A set-up's tables for fast decoding, made by the first job that needs them and dropped after the last.
  struct Prepared {
    std::once_flag once;
    std::unique_ptr<const FastPair>
        pair;  ///< null if the models turned out not to allow it; `quality` likewise
    std::unique_ptr<const FastQuality> quality;  ///< for jobs that measure a rule
    std::string why_not;                         ///< reason why there are none
    std::atomic<int> users{0};
  };

  /// Returns the tables that `member` holds; the first caller makes them. Returns null for a job of the plain
  /// engine. If the models do not allow tables, the job becomes one.
  template <class Pair>
  const Pair* prepared_for(Job& job, std::unique_ptr<const Pair> Prepared::*member);

  Backend backend_;
  ModelFactory factory_;
  std::map<std::type_index, std::any> shared_;
  BuiltFromConfigs<Setup> setups_;
  BatchSpan span_;
  std::map<std::tuple<const Setup*, int, JobKind, RuleQualityOptions, BatchSpan>, Job*> by_inputs_;
  std::shared_ptr<SharedRows> rows_ = make_shared_rows();  ///< shared by cells that differ in their rule
  std::map<std::pair<const Setup*, JobKind>, Prepared> prepared_;
  std::deque<Job> jobs_;
};

}  // namespace speclab
