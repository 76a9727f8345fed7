// Finds unordered accesses to memory in kernels that run in the emulator.
//
// An access happens before another if one thread makes both, or if one of these lies between them: a barrier
// of the block or cluster, the end of a launch, wait_for_previous, or a fence and a fetch_add on each side.
// CUDA's memory model guarantees this. Neither shuffles nor the order of blocks within a launch order
// accesses; nor do two launches if the later may start early. Two accesses to a byte are a race if at least
// one writes and neither happens before the other, in whatever order the emulator ran them. (Flanagan and
// Freund 2009, "FastTrack", with epochs that a block's threads share, since all of them pass each barrier.) A
// block of a cluster must also have started before another touches its shared memory, and must not have
// ended.
//
// Code that is compiled to report accesses (told_accesses.cpp) reports them; the emulator reports
// everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simt/observer.hpp"

namespace speclab::simt {

/// Two accesses that race, or one access to the shared memory of a block that may not have started or may
/// have ended.
struct Race {
  std::string sentence;
  const void* code[2];  ///< code addresses of the accesses; the second may be null
};

/// Operations that the detector ignores, as if the kernels did not have them: tests plant faults with these.
struct WithoutOrder {
  bool fences = false;
  bool waits = false;
  /// Ignore the barrier with this number in every block, counted from 0 in every launch; -1: none.
  int block_barrier = -1;
  int cluster_barrier = -1;  ///< the same for clusters
};

enum class Access : std::uint8_t { read, write, add };

class RaceDetector : public Observer {
 public:
  /// Stops looking once it has found `max_races` races.
  explicit RaceDetector(const WithoutOrder& without = {}, std::size_t max_races = 100);
  ~RaceDetector() override;

  /// Reports an access by the thread that runs. Ignored between launches, and within the thread's own stack.
  void access(Access kind, const void* address, std::size_t bytes, const void* code);

  /// Returns one race for each pair of places in the code.
  const std::vector<Race>& races() const;
  /// Returns the number of bytes checked, so that a test can tell a kernel without races from a detector that
  /// got no reports.
  std::uint64_t checked_bytes() const;
  /// Return the largest number of barriers that any block, or cluster, has passed in a launch.
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

/// Returns the detector to which this host thread reports accesses: the one whose emulated thread runs, or
/// null.
RaceDetector* running_detector();

}  // namespace speclab::simt
