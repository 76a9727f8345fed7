// Holds any schedule as one value, and runs many schedules over the same sequences.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/acceptance_stream.hpp"
#include "sim/control.hpp"
#include "sim/schedules/events.hpp"

namespace speclab {

/// A type with a function `run_schedule(schedule, text, events)`, where `events` is a NoEvents or an
/// EventLog.
template <class S>
concept Schedule = std::copy_constructible<S> &&
    requires(const S& schedule, const Acceptances& text, NoEvents& none, EventLog& log) {
  { run_schedule(schedule, text, none) } -> std::same_as<Elapsed>;
  { run_schedule(schedule, text, log) } -> std::same_as<Elapsed>;
};

/// A schedule of any type. Copies share it.
class AnySchedule {
 public:
  template <class S>
  requires(!std::same_as<S, AnySchedule> && Schedule<S>) AnySchedule(S schedule)
      : program_(std::make_shared<const Typed<S>>(std::move(schedule))) {}

  /// Runs the schedule over one sequence until it has text.tokens tokens.
  Elapsed run(const Acceptances& text) const {
    NoEvents none;
    return program_->run(text, none);
  }
  /// Runs the schedule as above, and writes every run into `log`.
  Elapsed run(const Acceptances& text, EventLog& log) const { return program_->run(text, log); }

 private:
  struct Program {
    virtual ~Program() = default;
    virtual Elapsed run(const Acceptances& text, NoEvents& events) const = 0;
    virtual Elapsed run(const Acceptances& text, EventLog& events) const = 0;
  };
  template <class S>
  struct Typed final : Program {
    explicit Typed(S given) : schedule(std::move(given)) {}
    Elapsed run(const Acceptances& text, NoEvents& events) const override {
      return run_schedule(schedule, text, events);
    }
    Elapsed run(const Acceptances& text, EventLog& events) const override {
      return run_schedule(schedule, text, events);
    }
    S schedule;
  };

  std::shared_ptr<const Program> program_;
};

/// The results of all schedules, trial by trial.
class ScheduleRuns {
 public:
  /// Makes the result of a stopped run: no trials.
  ScheduleRuns() = default;
  /// Prepares trials that have not run yet; each allocates its memory when it runs.
  ScheduleRuns(std::size_t trials, std::size_t schedules);

  std::size_t trials() const { return trials_; }
  /// Returns one entry per schedule.
  std::span<const Elapsed> elapsed(std::size_t trial) const {
    return std::span(blocks_[trial / block_].elapsed).subspan(trial % block_ * schedules_, schedules_);
  }
  /// Returns how many of the trial's first simulation.length positions are accepted.
  std::uint64_t accepted(std::size_t trial) const { return blocks_[trial / block_].accepted[trial % block_]; }

 private:
  friend ScheduleRuns run_schedules(const std::vector<AnySchedule>&, const SimulationSize&,
                                    const std::function<AcceptanceBits(std::uint32_t)>&, const Control&);
  struct Block {
    std::vector<Elapsed> elapsed;
    std::vector<std::uint64_t> accepted;
  };
  std::size_t trials_ = 0;
  std::size_t schedules_ = 0;
  std::size_t block_ = 1;  ///< trials of one block
  std::vector<Block> blocks_;
};

/// Makes the acceptances of one trial, by position.
using MakeBits = std::function<AcceptanceBits(std::uint32_t trial)>;

/// Runs every schedule over the same simulation.trials sequences of simulation.length tokens, in parallel
/// over trials. `bits` gives at least simulation.length positions; positions beyond them count as rejected.
/// Progress counts tokens times schedules.
ScheduleRuns run_schedules(const std::vector<AnySchedule>& schedules, const SimulationSize& simulation,
                           const MakeBits& bits, const Control& control = {});

}  // namespace speclab
