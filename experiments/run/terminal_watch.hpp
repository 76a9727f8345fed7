// Shows a run's progress line on standard error, and stops the run at the first interrupt.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/progress.hpp"
#include "sim/control.hpp"

namespace speclab {

class TerminalWatch {
 public:
  TerminalWatch(std::string title, bool quiet) : title_(std::move(title)), quiet_(quiet) {}

  /// Returns the run's control, once the amount of work is known. The line ends with this object.
  Control control(std::uint64_t total) {
    progress_ = std::make_unique<Progress>(title_, total, quiet_);
    return {.stop = [] { return interrupted(); },
            .progress = [line = progress_.get()](std::uint64_t steps) { line->advance(steps); }};
  }

 private:
  std::string title_;
  bool quiet_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace speclab
