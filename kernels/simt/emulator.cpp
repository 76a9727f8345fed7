#include "kernels/simt/emulator.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/simt/emulated_thread.hpp"
#include "kernels/simt/fiber_stack.hpp"

namespace speclab::simt {

namespace emulated {

constinit thread_local Thread* running = nullptr;
constinit thread_local Loads* loads = nullptr;
constinit thread_local Observer* observer = nullptr;

namespace {

using boost::context::fiber;

/// The byte that fills shared memory before it is written; read as a number it is absurd.
constexpr int unset = 0xff;

struct Aligned {
  alignas(16) unsigned char bytes[16];
};

/// Storage that is allocated once under a key and found again by it.
struct Storage {
  const void* key = nullptr;
  std::size_t size = 0;
  std::vector<Aligned> bytes;

  unsigned char* data() { return reinterpret_cast<unsigned char*>(bytes.data()); }
  void reset(std::size_t count) {
    size = count;
    bytes.resize((count + sizeof(Aligned) - 1) / sizeof(Aligned));
    if (count > 0) std::memset(data(), unset, bytes.size() * sizeof(Aligned));
  }
};

}  // namespace

struct Block {
  std::int64_t index = 0;
  int rank = 0;
  Barrier barrier;
  std::vector<Warp> warps;
  std::vector<std::unique_ptr<Storage>> shared;
  Storage dynamic;
};

namespace {

void tell_of(const Block& block, Storage& storage) {
  if (observer != nullptr) observer->shared_memory(block.rank, storage.data(), storage.size);
}

/// A fiber that runs the body once for each block it is given.
struct Worker {
  Thread thread;
  StackOfFiber stack;
  fiber fiber_of;
  const Barrier* waiting = nullptr;  ///< the barrier where it waits, or null ...
  std::uint64_t generation = 0;      ///< ... and the barrier's generation when it began to wait
  bool started = false;
  bool done = false;
};

/// Thrown in a waiting thread when its launch has failed.
struct Closing {};

class Cluster;
thread_local Cluster* cluster = nullptr;

/// The blocks and threads of one cluster, which are emulated while it lives.
class Cluster {
 public:
  Cluster(const Launch& launch, Loads& counted, const std::function<void()>& body)
      : outer_(std::exchange(cluster, this)),
        outer_running_(running),
        outer_loads_(std::exchange(loads, &counted)),
        launch_(launch),
        body_(body),
        blocks_(static_cast<std::size_t>(launch.cluster)) {
    const int warps = (launch.threads + warp_size - 1) / warp_size;
    barrier_.expected = launch.threads * launch.cluster;
    for (int rank = 0; rank < launch.cluster; ++rank) {
      Block& block = blocks_[static_cast<std::size_t>(rank)];
      block.rank = rank;
      block.barrier.expected = launch.threads;
      block.warps.resize(static_cast<std::size_t>(warps));
      for (int i = 0; i < launch.threads; ++i) {
        auto worker = std::make_unique<Worker>();
        worker->thread.index = i;
        worker->thread.block = &block;
        worker->thread.warp = &block.warps[static_cast<std::size_t>(i / warp_size)];
        ++worker->thread.warp->barrier.expected;
        workers_.push_back(std::move(worker));
      }
    }
    for (auto& worker : workers_) start(*worker);
  }

  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  /// Ends every fiber, also one in the middle of a body that will never continue.
  ~Cluster() {
    closing_ = true;
    for (auto& worker : workers_) {
      if (worker->started) resume(*worker);
    }
    cluster = outer_;
    running = outer_running_;
    loads = outer_loads_;
  }

  /// Runs one cluster, whose blocks are numbered from `first`. Warps take turns, and each runs until it must
  /// wait, so that it runs ahead of threads that it should wait for but does not.
  void run(std::int64_t first, const std::vector<std::size_t>& turns) {
    if (observer != nullptr) observer->cluster_begins(first);
    for (Block& block : blocks_) {
      block.index = first + block.rank;
      block.dynamic.reset(launch_.dynamic_shared);
      tell_of(block, block.dynamic);
      for (auto& storage : block.shared) {
        storage->reset(storage->size);
        tell_of(block, *storage);
      }
    }
    for (auto& worker : workers_) worker->done = false;
    left_ = workers_.size();
    while (left_ > 0) {
      bool moved = false;
      for (std::size_t warp = 0; warp < turns.size(); warp += warp_size) {
        while (take_turns(turns, warp)) moved = true;
      }
      if (!moved) {
        throw EmulationError(std::string(launch_.kernel) + ": block " + std::to_string(first) +
                             ": threads wait at different barriers, or for threads that have ended");
      }
    }
    if (observer != nullptr) observer->cluster_ends();
  }

  /// Waits at the barrier. Returns true in the thread that arrives last.
  bool wait(Barrier& barrier) {
    if (++barrier.arrived == barrier.expected) {
      barrier.arrived = 0;
      ++barrier.generation;
      return true;
    }
    running_->waiting = &barrier;
    running_->generation = barrier.generation;
    to_main(*running_);
    if (closing_) throw Closing{};
    return false;
  }

  const Launch& launch() const { return launch_; }
  Barrier& barrier() { return barrier_; }
  Block& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }

 private:
  /// Gives a turn to each thread of a warp that need not wait; returns false if there was none.
  bool take_turns(const std::vector<std::size_t>& turns, std::size_t warp) {
    bool moved = false;
    for (std::size_t turn = warp; turn < warp + warp_size; ++turn) {
      Worker& worker = *workers_[turns[turn]];
      if (worker.done) continue;
      if (worker.waiting != nullptr) {
        if (worker.waiting->generation == worker.generation) continue;
        worker.waiting = nullptr;
      }
      moved = true;
      resume(worker);
      if (failure_) std::rethrow_exception(failure_);
      if (worker.done) --left_;
    }
    return moved;
  }

  /// Starts the fiber, which runs one body after the other until the cluster closes.
  void start(Worker& worker) {
    worker.fiber_of = fiber(std::allocator_arg, StackMaker(worker.stack), [this, &worker](fiber&& main) {
      main_ = std::move(main);
      worker.started = true;
      worker.stack.arrive(main_stack_);
      for (;;) {
        try {
          body_();
        } catch (const Closing&) {
        } catch (...) {
          failure_ = std::current_exception();
        }
        worker.done = true;
        if (observer != nullptr && !closing_) observer->thread_ends();
        if (!closing_) to_main(worker);
        if (closing_) {
          worker.stack.leave_for(main_stack_);
          return std::move(main_);
        }
      }
    });
  }

  void to_main(Worker& worker) {
    worker.stack.leave_for(main_stack_);
    main_ = std::move(main_).resume();
    worker.stack.arrive(main_stack_);
  }

  void resume(Worker& worker) {
    running_ = &worker;
    running = &worker.thread;
    if (observer != nullptr && !closing_) {
      const StackOfFiber& stack = worker.stack;
      observer->runs(worker.thread.block->rank, worker.thread.index, stack.bottom, stack.size);
    }
    main_stack_.leave_for(worker.stack);
    worker.fiber_of = std::move(worker.fiber_of).resume();
    main_stack_.arrive(worker.stack);
    if (observer != nullptr && !closing_) observer->pauses();
  }

  Cluster* outer_;  ///< the cluster whose thread launched this one, or null
  Thread* outer_running_;
  Loads* outer_loads_;
  const Launch& launch_;
  const std::function<void()>& body_;
  std::vector<Block> blocks_;
  Barrier barrier_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Worker* running_ = nullptr;
  fiber main_;
  StackOfFiber main_stack_;
  bool closing_ = false;
  std::size_t left_ = 0;  ///< threads that have not ended
  std::exception_ptr failure_;
};

}  // namespace

std::int64_t block_index() { return self().block->index; }
int cluster_rank() { return self().block->rank; }
int cluster_size() { return cluster->launch().cluster; }
void wait_at_block() {
  if (observer != nullptr) observer->arrives_at_block();
  if (cluster->wait(self().block->barrier) && observer != nullptr) observer->block_goes_on();
}
void wait_at_cluster() {
  if (observer != nullptr) observer->arrives_at_cluster();
  if (cluster->wait(cluster->barrier()) && observer != nullptr) observer->cluster_goes_on();
}
void wait_at_warp() { cluster->wait(self().warp->barrier); }

void* shared_storage(const void* key, std::size_t bytes) {
  auto& all = self().block->shared;
  for (const auto& storage : all) {
    if (storage->key == key) return storage->data();
  }
  auto& added = *all.emplace_back(std::make_unique<Storage>());
  added.key = key;
  added.reset(bytes);
  tell_of(*self().block, added);
  std::size_t total = 0;
  for (const auto& storage : all) total += storage->size;
  if (total > static_shared_limit) {
    throw EmulationError(std::string(cluster->launch().kernel) + ": " + std::to_string(total) +
                         " bytes of static shared memory; at most " + std::to_string(static_shared_limit));
  }
  return added.data();
}

unsigned char* dynamic_storage() { return self().block->dynamic.data(); }

void* in_block(void* pointer, int rank) {
  auto* const place = static_cast<unsigned char*>(pointer);
  Block& mine = *self().block;
  Block& other = cluster->block(rank);
  const auto within = [place](Storage& storage) {
    return storage.data() <= place && place < storage.data() + storage.size;
  };
  if (within(mine.dynamic)) return other.dynamic.data() + (place - mine.dynamic.data());
  for (const auto& storage : mine.shared) {
    if (!within(*storage)) continue;
    for (const auto& there : other.shared) {
      if (there->key == storage->key) return there->data() + (place - storage->data());
    }
  }
  throw EmulationError(std::string(cluster->launch().kernel) +
                       ": a block reaches for shared memory that the other has not got");
}

}  // namespace emulated

Observed::Observed(Observer& observer) : outer_(std::exchange(emulated::observer, &observer)) {}
Observed::~Observed() { emulated::observer = outer_; }

void emulate(const Launch& launch, Order order, Loads& loads, const std::function<void()>& body) {
  if (launch.threads < 1 || launch.threads > 1024 || launch.threads % warp_size != 0 ||
      launch.blocks > max_blocks || launch.cluster < 1 || launch.cluster > max_cluster_blocks ||
      launch.blocks % launch.cluster != 0 || launch.dynamic_shared > dynamic_shared_limit) {
    throw EmulationError(std::string(launch.kernel) + ": no GPU takes a launch of this shape");
  }
  emulated::Cluster cluster(launch, loads, body);
  if (emulated::observer != nullptr) emulated::observer->launch_begins(launch);

  std::minstd_rand random(1);
  const auto ordered = [order, &random](std::size_t first, std::size_t count) {
    std::vector<std::size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    if (order == Order::backward) std::reverse(numbers.begin(), numbers.end());
    if (order == Order::shuffled) std::shuffle(numbers.begin(), numbers.end(), random);
    return numbers;
  };
  // Threads take turns warp by warp, and within a warp lane by lane.
  std::vector<std::size_t> turns;
  for (const std::size_t warp :
       ordered(0, static_cast<std::size_t>(launch.threads * launch.cluster / warp_size))) {
    const auto lanes = ordered(warp * warp_size, warp_size);
    turns.insert(turns.end(), lanes.begin(), lanes.end());
  }
  const auto clusters = ordered(0, static_cast<std::size_t>(launch.blocks / launch.cluster));
  for (const std::size_t at : clusters) cluster.run(static_cast<std::int64_t>(at) * launch.cluster, turns);
  if (emulated::observer != nullptr) emulated::observer->launch_ends();
}

}  // namespace speclab::simt
