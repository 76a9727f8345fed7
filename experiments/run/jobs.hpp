// The simulations behind a config's cells. Cells that differ only in what a simulation does not depend on
// (cost, confidence, printed numbers) share one.
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

/// What a job does with its set-up.
enum class JobKind { decode, acceptance, rule_quality, independent_acceptances };

/// One simulation to run.
struct Job {
  JobKind kind = JobKind::decode;
  std::optional<JobName> name = {};         ///< once a cell that uses it is prepared
  std::shared_ptr<const Setup> setup = {};  ///< null for independent acceptances
  SimulationSize simulation;
  int gamma = 0;
  double alpha = 0;                         ///< of independent acceptances
  RuleQualityOptions quality_options = {};  ///< of rule quality
  EngineUsed engine = EngineUsed::plain;
  std::string why_plain = {};                 ///< why the fast engine, which was to run, did not; else empty
  std::optional<WantedInterval> wanted = {};  ///< none: a simulation of one size
  std::optional<WantedPrecision> precision = {};  ///< of the interval, once run_until has decided about it
  int looks = 0;                                  ///< at the precision
  bool precise = false;                           ///< whether it was reached
  Outcome outcome = {};
  bool done = false;
};

/// What is independent in a job's rounds: all of them, where acceptances have one probability in every
/// context.
Independence independence_of_rounds(const Job& job);
/// The same of what depends on the contexts that rounds come through.
Independence independence_of_contexts(const SimulationSize& simulation);

struct EngineResult;
/// How a job that is done ran.
EngineResult engine_result(const Job& job);

/// Whether a job plays rounds, from models or of independent acceptances.
bool decodes(const Job& job);

/// Throws ConfigError, before any model is built, for a config that asks for the fast engine where the rule
/// or the kinds of its models say that it cannot decode them.
void check_fast_engine(const ConfigReader& config);

/// Throws ConfigError for a job that decodes, but neither rounds of independent acceptances nor two stored
/// tables on the fast engine, naming what the GPU can run.
void require_gpu_form(const Job& job);

class JobList {
 public:
  /// The set-up of this config: one for all configs that differ only in what it does not depend on.
  std::shared_ptr<const Setup> setup(const Config& config);

  /// The batches that are run of cells that are prepared from now on. Cells of which others are run share no
  /// job, whatever their set-ups.
  void set_span(const BatchSpan& span) { span_ = span; }

  /// The job of this set-up, new or shared. References stay valid.
  Job& decode(const std::shared_ptr<const Setup>& setup, int gamma) {
    return shared_job(setup, gamma, JobKind::decode);
  }
  Job& acceptance(const std::shared_ptr<const Setup>& setup) {
    return shared_job(setup, 0, JobKind::acceptance);
  }
  Job& rule_quality(const std::shared_ptr<const Setup>& setup, int gamma, const RuleQualityOptions& options) {
    return shared_job(setup, gamma, JobKind::rule_quality, options);
  }

  /// Rounds of the config's simulation whose acceptances are independent, of probability alpha.
  Job& independent_acceptances(const Config& config, double alpha);

  /// What else cells share, of one type each: BuiltFromConfigs::get, with `path` for errors.
  template <class T, class Build, class... More>
  std::shared_ptr<const T> shared(const Config& config, const std::string& path, Build build,
                                  const Given<More>&... given) {
    std::any& all = shared_[typeid(T)];
    if (!all.has_value()) all = std::make_shared<BuiltFromConfigs<T>>();
    return std::any_cast<const std::shared_ptr<BuiltFromConfigs<T>>&>(all)->get(
        config, SharedPlace{path, factory_}, build, given...);
  }

  /// Forgets the jobs and their set-ups, but not what the factory made and what else is shared.
  void clear();

  /// Corpora and models of all cells.
  ModelFactory& factory() { return factory_; }

  /// Rounds (or tokens) to run.
  std::uint64_t total() const;

  /// Runs the jobs that are not done, in parallel over jobs and trials, and calls `done` after each, from any
  /// thread. All jobs pass `require_gpu_form` when the backend is not the CPU.
  void run(
      const Control& control, Backend backend = Backend::cpu,
      const std::function<void(const Job& job)>& done = [](const Job&) {});

 private:
  Job& shared_job(const std::shared_ptr<const Setup>& setup, int gamma, JobKind kind,
                  const RuleQualityOptions& options = {});
  void run_job(Job& job, const Control& control, Backend backend);
  Outcome run_once(Job& job, const Control& control, Backend backend);

  /// A set-up's tables for fast decoding: made by the first job that needs them, dropped after the last.
  struct Prepared {
    std::once_flag once;
    std::unique_ptr<const FastPair> pair;  ///< null when the models turned out not to allow it, as the next
    std::unique_ptr<const FastQuality> quality;  ///< of jobs that measure a rule
    std::string why_not;                         ///< then the reason
    std::atomic<int> users{0};
  };

  /// What `member` holds, made by the first that asks; null for jobs of the plain engine, also where the
  /// models do not allow it, and the job is the plain engine's from now on.
  template <class Pair>
  const Pair* prepared_for(Job& job, std::unique_ptr<const Pair> Prepared::*member);

  ModelFactory factory_;
  std::map<std::type_index, std::any> shared_;
  BuiltFromConfigs<Setup> setups_;
  BatchSpan span_;
  std::map<std::tuple<const Setup*, int, JobKind, RuleQualityOptions, BatchSpan>, Job*> by_inputs_;
  std::shared_ptr<SharedRows> rows_ = make_shared_rows();  ///< of cells that differ by their rule
  std::map<std::pair<const Setup*, JobKind>, Prepared> prepared_;
  std::deque<Job> jobs_;
};

}  // namespace speclab
