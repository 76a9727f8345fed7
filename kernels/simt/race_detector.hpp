// Finds accesses to memory that nothing orders, in kernels that run in the emulator.
//
// An access happens before another where they are of one thread, or where a barrier of the block or cluster,
// the end of a launch, wait_for_previous, or a fence and an addition on each side stand between them: what
// CUDA's memory model grants. Shuffles order nothing, nor do blocks of one launch, nor launches of which the
// later may start early. Two accesses to a byte of which one writes, and none happens before the other, are a
// race, in whatever order the emulator ran them. (Flanagan and Freund 2009, "FastTrack", with epochs that a
// block's threads share: all of them pass each barrier.) A block of a cluster must also have started before
// another touches its shared memory, and must not have ended.
//
// It is told of accesses by code that is compiled to tell (tests/kernels/races), of everything else by the
// emulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simt/observer.hpp"

namespace speclab::simt {

/// Two accesses, or one to shared memory of a block that may not be there.
struct Race {
  std::string sentence;
  const void* code[2];  ///< where the accesses are; the second may be null
};

/// What a detector shall not see, as if the kernels did not have it.
struct WithoutOrder {
  bool fences = false;
  bool waits = false;
  int block_barrier = -1;    ///< that number of every block, from 0 in every launch
  int cluster_barrier = -1;  ///< the same of clusters
};

enum class Access : std::uint8_t { read, write, add };

class RaceDetector : public Observer {
 public:
  /// Looks no further when it has found so many.
  explicit RaceDetector(const WithoutOrder& without = {}, std::size_t max_races = 100);
  ~RaceDetector() override;

  /// By the thread; ignored between launches, and within the thread's own stack.
  void access(Access kind, const void* address, std::size_t bytes, const void* code);

  /// One for each two places in the code.
  const std::vector<Race>& races() const;
  /// Bytes looked at, so that a detector that is told of nothing is not taken for a kernel without races.
  std::uint64_t checked_bytes() const;
  /// The most barriers that a block, and a cluster, has passed in a launch.
  int block_barriers() const;
  int cluster_barriers() const;

  void launch_begins(const Launch& launch) override;
  void launch_ends() override;
  void cluster_begins(std::int64_t first) override;
  void cluster_ends() override;
  void runs(int rank, int thread, const void* stack, std::size_t stack_bytes) override;
  void pauses() override;
  void thread_ends() override;
  void shared_memory(int rank, const void* memory, std::size_t bytes) override;
  void arrives_at_block() override;
  void arrives_at_cluster() override;
  void block_goes_on() override;
  void cluster_goes_on() override;
  void fences() override;
  void adds(const void* address, std::size_t bytes) override;
  void waits_for_previous() override;
  void lets_next_start() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The detector that accesses of this thread of the host are told to, or null: the one whose thread runs.
RaceDetector* running_detector();

}  // namespace speclab::simt
