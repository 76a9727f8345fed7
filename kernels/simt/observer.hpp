// Reports the emulator's events to an observer: which thread runs, which shared memory exists, and the
// operations that order accesses to memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/polymorphic.hpp"
#include "kernels/simt/launch.hpp"

namespace speclab::simt {

/// "The thread" is the one that runs between `runs` and `pauses`. Shuffles and ballots are not reported: they
/// order no memory.
class Observer : public Polymorphic {
 public:
  virtual void launch_begins(const Launch& launch) = 0;
  virtual void launch_ends() = 0;
  /// A cluster begins; its blocks are numbered from `first`.
  virtual void cluster_begins(std::int64_t first) = 0;
  virtual void cluster_ends() = 0;
  /// A thread of the block with this rank runs, on this stack.
  virtual void runs(int rank, int thread, const void* stack, std::size_t stack_bytes) = 0;
  virtual void pauses() = 0;
  virtual void thread_ends() = 0;
  /// A block has this memory, which no thread has touched yet.
  virtual void shared_memory(int rank, const void* memory, std::size_t bytes) = 0;
  virtual void arrives_at_block() = 0;
  virtual void arrives_at_cluster() = 0;
  /// The thread that runs was the last to arrive at the barrier, and the block continues.
  virtual void block_goes_on() = 0;
  virtual void cluster_goes_on() = 0;
  virtual void fences() = 0;
  virtual void adds(const void* address, std::size_t bytes) = 0;
  virtual void waits_for_previous() = 0;
  virtual void lets_next_start() = 0;
};

/// Reports the launches of this host thread to an observer, while it lives.
class Observed {
 public:
  explicit Observed(Observer& observer);
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed();

 private:
  Observer* outer_;
};

}  // namespace speclab::simt
