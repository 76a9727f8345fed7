// Tests that the detector finds a planted race of each kind, and none in the correct kernel.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simt/collectives.hpp"
#include "kernels/simt/emulator.hpp"
#include "tests/kernels/races/race_detector.hpp"

using namespace speclab;

namespace {

struct Numbers {
  int* data;
  std::uint32_t* counter;
};

/// A thread reads what its neighbour wrote; the neighbour is in its warp, or in another.
template <bool Sync, int Distance>
struct Neighbour : simt::KernelOf<Numbers, 64, 1> {
  static constexpr const char* name = "neighbour";
  void operator()(const Numbers& args) const {
    auto& shared = simt::shared<int[64]>();
    const int thread = simt::thread_index();
    shared[thread] = thread;
    // Shuffles order no memory.
    simt::shuffle_xor(thread, 1);
    if (Sync) simt::sync();
    args.data[64 * simt::block_index() + thread] = shared[(thread + Distance) % 64];
  }
};

/// Each block writes, and the last block to count adds up all numbers.
template <bool FenceBefore, bool FenceAfter, bool Plain = false>
struct LastBlock : simt::KernelOf<Numbers, 64, 1> {
  static constexpr const char* name = "last block";
  void operator()(const Numbers& args) const {
    auto& last = simt::shared<bool>();
    const int block = static_cast<int>(simt::block_index());
    args.data[64 * block + simt::thread_index()] = block;
    simt::sync();
    if (simt::thread_index() == 0) {
      if (FenceBefore) simt::fence();
      if (Plain) {
        last = (*args.counter)++ == 3;
      } else {
        last = simt::fetch_add(args.counter, 1U) == 3;
      }
      if (FenceAfter) simt::fence();
    }
    simt::sync();
    if (!last || simt::thread_index() != 0) return;
    for (int i = 0; i < 256; ++i) args.data[256] += args.data[i];
  }
};

/// The fence comes before the write instead of after it.
struct LateWrite : simt::KernelOf<Numbers, 32, 1> {
  static constexpr const char* name = "late write";
  void operator()(const Numbers& args) const {
    if (simt::thread_index() != 0) return;
    simt::fence();
    args.data[simt::block_index()] = 1;
    const bool last = simt::fetch_add(args.counter, 1U) == 3;
    simt::fence();
    if (last) args.data[4] = args.data[0] + args.data[1] + args.data[2] + args.data[3];
  }
};

/// Threads add to one number, and one reads it, with or without waiting for the others.
template <bool Sync>
struct Additions : simt::KernelOf<Numbers, 64, 1> {
  static constexpr const char* name = "additions";
  void operator()(const Numbers& args) const {
    simt::fetch_add(args.counter, 1U);
    if (Sync) simt::sync();
    if (simt::thread_index() == 63) args.data[0] = static_cast<int>(*args.counter);
  }
};

struct Writer : simt::KernelOf<Numbers, 32, 1> {
  static constexpr const char* name = "writer";
  void operator()(const Numbers& args) const {
    simt::let_next_start();
    args.data[simt::thread_index()] = 1;
  }
};
template <bool Wait>
struct Reader : simt::KernelOf<Numbers, 32, 1> {
  static constexpr const char* name = "reader";
  void operator()(const Numbers& args) const {
    simt::let_next_start();
    if (Wait) simt::wait_for_previous();
    args.data[32 + simt::thread_index()] += args.data[simt::thread_index()];
  }
};

/// Every block writes its number to the next block of its cluster.
template <bool Before, bool Between, bool After>
struct Tells : simt::KernelOf<Numbers, 32, 1> {
  static constexpr const char* name = "tells";
  void operator()(const Numbers& args) const {
    auto* const mine = reinterpret_cast<int*>(simt::dynamic_shared());
    const int next = (simt::cluster_rank() + 1) % simt::cluster_size();
    if (Before) simt::cluster_sync();
    if (simt::thread_index() == 0) *simt::cluster_shared(mine, next) = simt::cluster_rank();
    if (Between) simt::cluster_sync();
    if (simt::thread_index() == 0) args.data[simt::block_index()] = *mine;
    if (After) {
      if (simt::thread_index() == 0) args.data[8 + simt::block_index()] = *simt::cluster_shared(mine, next);
      simt::cluster_sync();
    }
  }
};

struct Watched {
  std::vector<int> data = std::vector<int>(1024);
  std::uint32_t counter = 0;
  simt::RaceDetector detector;
  const simt::Observed observed{detector};
  simt::EmulatedExecutor executor;

  template <class Kernel>
  void run(std::int64_t blocks, int cluster = 1, bool early = false) {
    simt::Launch launch = simt::launch_of<Kernel>(blocks);
    launch.cluster = cluster;
    launch.early = early;
    launch.dynamic_shared = 16;
    executor.run<Kernel>(launch, {data.data(), &counter});
  }
  std::string races() const {
    std::string text;
    for (const simt::Race& race : detector.races()) text += race.sentence + "\n";
    return text;
  }
};

template <class Kernel>
std::string races_of(std::int64_t blocks, int cluster = 1) {
  Watched watched;
  watched.run<Kernel>(blocks, cluster);
  return watched.races();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("threads of a block need a barrier, in one warp too") {
  CHECK(races_of<Neighbour<true, 1>>(2).empty());
  CHECK(races_of<Neighbour<true, 33>>(2).empty());
  CHECK(has(races_of<Neighbour<false, 1>>(2), "neighbour: read by block 0"));
  CHECK(has(races_of<Neighbour<false, 33>>(2), "shared memory beside write by block 0"));
  CHECK(races_of<Neighbour<false, 0>>(2).empty());
  CHECK(races_of<Additions<true>>(1).empty());
  CHECK(has(races_of<Additions<false>>(1), "global memory beside addition by block 0"));
}

TEST_CASE("blocks of a launch need a fence and an addition on each side") {
  CHECK(races_of<LastBlock<true, true>>(4).empty());
  CHECK(has(races_of<LastBlock<false, true>>(4), "read by block 3"));
  CHECK(has(races_of<LastBlock<true, false>>(4), "read by block 3"));
  CHECK(has(races_of<LastBlock<true, true, true>>(4), "write by block"));
  CHECK(has(races_of<LateWrite>(4), "read by block 3"));
}

TEST_CASE("an early launch needs to wait, and knows only what it waited for") {
  Watched ordinary;
  ordinary.run<Writer>(1);
  ordinary.run<Reader<false>>(1);
  ordinary.run<Writer>(1);
  CHECK(ordinary.races().empty());
  Watched waits;
  waits.run<Writer>(1);
  waits.run<Reader<true>>(1, 1, true);
  CHECK(waits.races().empty());
  // The next early launch may start while the first still runs.
  waits.run<Writer>(1, 1, true);
  CHECK(has(waits.races(), "writer: write by block 0, thread 0 after 0 barriers in global memory beside"));
  Watched hasty;
  hasty.run<Writer>(1);
  hasty.run<Reader<false>>(1, 1, true);
  CHECK(has(hasty.races(), "of an earlier launch (writer)"));
}

namespace {

/// A launch writes to memory, shared or not, that the next, early launch reads.
std::size_t races_where_next_reads(bool shared) {
  std::array<int, 4> memory{};
  simt::RaceDetector detector;
  simt::Launch launch = simt::launch_of<Writer>(1);
  const auto begin = [&](int thread) {
    detector.launch_begins(launch);
    detector.cluster_begins(0);
    if (shared && !launch.early) detector.shared_memory(0, memory.data(), sizeof memory);
    detector.runs(0, thread, nullptr, 0);
  };
  const auto end = [&] {
    detector.thread_ends();
    detector.cluster_ends();
    detector.launch_ends();
  };
  begin(0);
  detector.access(simt::Access::write, memory.data(), sizeof(int), nullptr);
  end();
  launch.early = true;
  begin(1);
  detector.access(simt::Access::read, memory.data(), sizeof(int), nullptr);
  end();
  return detector.races().size();
}

}  // namespace

TEST_CASE("where shared memory was the host may put what an early launch reads, such as its arguments") {
  CHECK(races_where_next_reads(true) == 0);
  CHECK(races_where_next_reads(false) == 1);
}

TEST_CASE("a block of a cluster has to be there when another reaches for its shared memory") {
  CHECK(races_of<Tells<true, true, false>>(8, 4).empty());
  CHECK(races_of<Tells<true, true, true>>(8, 4).empty());
  CHECK(has(races_of<Tells<false, true, false>>(8, 4), "may not have started"));
  CHECK(has(races_of<Tells<true, false, false>>(8, 4), "may have ended"));
  CHECK(has(races_of<Tells<true, false, false>>(8, 4), "shared memory beside"));
}
