// What happens in the emulator, told to an observer: whose turn it is, whose memory there is, and what orders
// accesses to memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simt/launch.hpp"

namespace speclab::simt {

/// "The thread" is the one between `runs` and `pauses`. Shuffles and ballots are not told: they order no
/// memory.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  virtual void launch_begins(const Launch& launch) = 0;
  virtual void launch_ends() = 0;
  /// Blocks from `first` on, as many as a cluster has.
  virtual void cluster_begins(std::int64_t first) = 0;
  virtual void cluster_ends() = 0;
  /// A thread of the block of this rank, and where its stack is.
  virtual void runs(int rank, int thread, const void* stack, std::size_t stack_bytes) = 0;
  virtual void pauses() = 0;
  virtual void thread_ends() = 0;
  /// A block has this memory, which nobody has touched yet.
  virtual void shared_memory(int rank, const void* memory, std::size_t bytes) = 0;
  virtual void arrives_at_block() = 0;
  virtual void arrives_at_cluster() = 0;
  /// The thread was the last to arrive.
  virtual void block_goes_on() = 0;
  virtual void cluster_goes_on() = 0;
  virtual void fences() = 0;
  virtual void adds(const void* address, std::size_t bytes) = 0;
  virtual void waits_for_previous() = 0;
  virtual void lets_next_start() = 0;
};

/// Tells an observer of the launches of this thread of the host while it lives.
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
