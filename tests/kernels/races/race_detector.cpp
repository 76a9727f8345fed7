#include "tests/kernels/races/race_detector.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace speclab::simt {

namespace {

constinit thread_local RaceDetector* running_now = nullptr;

/// Replaces the thread number when several threads of a block accessed a byte between the same two barriers.
constexpr std::uint16_t several = 0xffff;

/// The time of an access: the number of barriers that its block had passed, and of fences of its thread.
struct When {
  std::uint32_t launch = 0;  ///< counts from 1
  std::uint32_t block = 0;
  std::uint32_t epoch = 0;  ///< barriers that the block had passed
  std::uint16_t thread = 0;
  std::uint16_t fence = 0;  ///< fences of the thread since the last barrier
};

/// The accesses that have happened before a point in a thread.
struct Clock {
  std::uint32_t launches = 0;  ///< all launches up to this number
  /// One more launch, which was waited for although launches before it may still run.
  std::uint32_t one_launch_more = 0;
  /// For each block of this launch: an epoch; the accesses of all epochs before it have happened.
  std::vector<std::uint32_t> epochs;
  /// Accesses of single threads, up to and including this fence.
  std::vector<When> threads;

  std::uint32_t epochs_of(std::uint32_t block) const { return block < epochs.size() ? epochs[block] : 0; }
  void raise(std::uint32_t block, std::uint32_t epoch) {
    if (block >= epochs.size()) epochs.resize(std::size_t{block} + 1, 0);
    epochs[block] = std::max(epochs[block], epoch);
  }
  void join(const Clock& other) {
    launches = std::max(launches, other.launches);
    one_launch_more = std::max(one_launch_more, other.one_launch_more);
    for (std::uint32_t block = 0; block < other.epochs.size(); ++block) raise(block, other.epochs[block]);
    threads.insert(threads.end(), other.threads.begin(), other.threads.end());
    std::erase_if(threads, [this](const When& of) { return of.epoch < epochs_of(of.block); });
  }
  bool knows(const When& of) const {
    if (of.epoch < epochs_of(of.block)) return true;
    return std::any_of(threads.begin(), threads.end(), [&of](const When& known) {
      return known.block == of.block && known.thread == of.thread &&
             std::pair(known.epoch, known.fence) >= std::pair(of.epoch, of.fence);
    });
  }
};

struct Noted {
  When when;
  Access kind = Access::read;
  std::uint32_t code = 0;  ///< lower half of the address
};

/// The accesses noted for a byte: the last write, and the reads and additions after it, without those that
/// happened before another of their kind.
struct Byte {
  Noted written;
  Noted first;
  std::vector<Noted> others;
};

/// Four bytes, which share one record until some of them are accessed without the others.
struct Word {
  static constexpr std::uintptr_t bytes = 4;
  Byte all;
  std::unique_ptr<std::array<Byte, bytes>> each;
};

constexpr std::uintptr_t page_words = 64;
using Page = std::array<Word, page_words>;

struct Region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;

  bool has(std::uintptr_t address) const { return address - begin < bytes; }
};

struct ThreadState {
  std::optional<Clock> own;  ///< the thread's clock since the last barrier, if it is later than its block's
  std::optional<Clock> fenced;  ///< the clock at its last fence, which its fetch_adds pass on
  std::optional<Clock> added;   ///< the clocks that its fetch_adds have read; its own after its next fence
  std::uint16_t fence = 0;
};

struct BlockState {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  Clock clock;    ///< since the last barrier
  Clock arrived;  ///< joins the clocks of the threads that have arrived at the next barrier
  Clock ended;    ///< joins the clocks of its threads when they ended
  int barriers = 0;
  std::vector<ThreadState> threads;
  std::vector<Region> shared;
  struct Touch {
    Noted noted;
    const void* code = nullptr;
  };
  /// For each rank in the cluster: the last access to this block's shared memory by the block with that rank.
  std::array<Touch, max_cluster_blocks> touched;
};

const char* word_of(Access kind) {
  return kind == Access::read ? "read" : kind == Access::write ? "write" : "addition";
}

}  // namespace

struct RaceDetector::State {
  WithoutOrder without;
  std::size_t max_races = 0;
  Launch launch;
  std::uint32_t number = 0;          ///< number of the launch
  Clock start;                       ///< clock with which its blocks start
  bool lets_next = false;            ///< whether a thread has let the next launch start
  std::uint32_t end_knows = 0;       ///< launches that have ended when this one has
  std::uint32_t previous_knows = 0;  ///< launches that have ended when the previous one has
  std::vector<std::string> names{""};
  std::vector<BlockState> blocks;  ///< of the cluster, by rank
  int cluster_passed = 0;
  BlockState* block = nullptr;  ///< block of the thread that runs
  std::uint16_t thread = 0;
  Region stack;
  bool busy = false;

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages;
  std::pair<std::uintptr_t, Page*> last_page{~std::uintptr_t{0}, nullptr};
  /// For each address, the clock that fetch_adds to it have passed on in this launch.
  std::unordered_map<std::uintptr_t, Clock> handed_on;
  std::vector<Race> races;
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> reported;
  std::uint64_t checked_bytes = 0;
  int block_barriers = 0;
  int cluster_barriers = 0;

  ThreadState& me() { return block->threads[thread]; }
  const Clock& clock() { return me().own ? *me().own : block->clock; }
  Clock& own_clock() {
    if (!me().own) me().own = block->clock;
    return *me().own;
  }
  When now() { return {number, block->index, block->epoch, thread, me().fence}; }

  bool happened_before(const When& of) {
    if (of.launch == 0) return true;
    if (of.launch != number) return of.launch <= clock().launches || of.launch == clock().one_launch_more;
    return (of.block == block->index && of.thread == thread) || clock().knows(of);
  }

  Word& word(std::uintptr_t address) {
    const std::uintptr_t at = address / Word::bytes;
    if (last_page.first != at / page_words) {
      std::unique_ptr<Page>& found = pages[at / page_words];
      if (!found) found = std::make_unique<Page>();
      last_page = {at / page_words, found.get()};
    }
    return (*last_page.second)[at % page_words];
  }
  /// Calls `visit(byte)` for each byte of a range, and once for the bytes of a word that share one record.
  template <class Visit>
  void each_byte(std::uintptr_t begin, std::uintptr_t end, const Visit& visit) {
    for (std::uintptr_t at = begin; at < end;) {
      Word& here = word(at);
      const std::uintptr_t first = at % Word::bytes;
      const std::uintptr_t last = std::min(Word::bytes, first + (end - at));
      if (!here.each && last - first < Word::bytes) {
        here.each = std::make_unique<std::array<Byte, Word::bytes>>();
        here.each->fill(here.all);
      }
      if (here.each) {
        for (std::uintptr_t i = first; i < last; ++i) visit((*here.each)[i]);
      } else {
        visit(here.all);
      }
      at += last - first;
    }
  }

  void forget(const Region& region) {
    each_byte(region.begin, region.begin + region.bytes, [](Byte& byte) { byte = {}; });
  }

  std::string text_of(const Noted& noted) const {
    const When& when = noted.when;
    std::string text = std::string(word_of(noted.kind)) + " by block " + std::to_string(when.block);
    if (when.thread != several) text += ", thread " + std::to_string(when.thread);
    text += " after " + std::to_string(when.epoch) + " barriers";
    if (when.launch != number) text += " of an earlier launch (" + names[when.launch] + ")";
    return text;
  }
  void report(const Noted& mine, const Noted* other, const void* code, const char* what) {
    const auto here = reinterpret_cast<std::uintptr_t>(code);
    std::uintptr_t there = 0;
    if (other != nullptr) there = (here & ~std::uintptr_t{0xffffffff}) | other->code;
    if (!reported.emplace(std::min(here, there), std::max(here, there)).second) return;
    races.push_back({std::string(launch.kernel) + ": " + text_of(mine) + " in " + what +
                         (other == nullptr ? "" : " beside " + text_of(*other)),
                     {code, reinterpret_cast<const void*>(there)}});
  }

  /// Notes a read or an addition of a byte. It replaces accesses of its kind that happened before it.
  void note(Byte& byte, const Noted& mine) {
    const auto replaces = [&](const Noted& old) {
      return old.kind == mine.kind && happened_before(old.when);
    };
    const auto merges = [&](Noted& old) {
      const bool alike = old.kind == mine.kind && old.when.launch == mine.when.launch &&
                         old.when.block == mine.when.block && old.when.epoch == mine.when.epoch;
      if (alike) old.when.thread = several;
      return alike;
    };
    if (replaces(byte.first) || byte.first.when.launch == 0) {
      byte.first = mine;
      if (!byte.others.empty()) std::erase_if(byte.others, replaces);
      return;
    }
    if (merges(byte.first)) return;
    for (Noted& old : byte.others) {
      if (replaces(old)) return void(old = mine);
      if (merges(old)) return;
    }
    byte.others.push_back(mine);
  }

  void check(Byte& byte, const Noted& mine, const void* code, const char* where) {
    const auto against = [&](const Noted& old) {
      if (old.kind == mine.kind && mine.kind != Access::write) return;
      if (!happened_before(old.when)) report(mine, &old, code, where);
    };
    against(byte.written);
    if (byte.first.when.launch != 0) {
      against(byte.first);
      for (const Noted& old : byte.others) against(old);
    }
    if (mine.kind != Access::write) return note(byte, mine);
    byte.written = mine;
    byte.first = {};
    byte.others.clear();
  }

  /// Returns the block whose shared memory contains the address, or null.
  BlockState* owner_of(std::uintptr_t address) {
    for (BlockState& one : blocks) {
      for (const Region& region : one.shared) {
        if (region.has(address)) return &one;
      }
    }
    return nullptr;
  }

  void arrive(BlockState& at) {
    if (me().own) at.arrived.join(*me().own);
  }
  /// Lets a block pass a barrier, with everything that its threads knew.
  void pass(BlockState& at) {
    ++at.epoch;
    at.clock.join(at.arrived);
    at.arrived = {};
    at.clock.raise(at.index, at.epoch);
    for (ThreadState& thread_of : at.threads) {
      thread_of.own.reset();
      thread_of.fence = 0;
    }
  }
};

namespace {

/// Marks that the detector itself is at work: it may call copies of standard library functions that were
/// compiled to report accesses.
class Busy {
 public:
  explicit Busy(bool& busy) : busy_(busy) { busy_ = true; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { busy_ = false; }

 private:
  bool& busy_;
};

}  // namespace

RaceDetector::RaceDetector(const WithoutOrder& without, std::size_t max_races)
    : state_(std::make_unique<State>()) {
  state_->without = without;
  state_->max_races = max_races;
}
RaceDetector::~RaceDetector() {
  if (running_now == this) running_now = nullptr;
}

const std::vector<Race>& RaceDetector::races() const { return state_->races; }
std::uint64_t RaceDetector::checked_bytes() const { return state_->checked_bytes; }
int RaceDetector::block_barriers() const { return state_->block_barriers; }
int RaceDetector::cluster_barriers() const { return state_->cluster_barriers; }

RaceDetector* running_detector() { return running_now; }

void RaceDetector::access(Access kind, const void* address, std::size_t bytes, const void* code) {
  State& state = *state_;
  if (state.busy || state.races.size() >= state.max_races) return;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (state.stack.has(first)) return;
  const Busy busy(state.busy);
  state.checked_bytes += bytes;
  const Noted mine{state.now(), kind, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code))};
  const char* where = "global memory";
  if (BlockState* const owner = state.owner_of(first)) {
    where = "shared memory";
    if (owner != state.block) {
      where = "another block's shared memory";
      const auto rank = static_cast<std::size_t>(state.block - state.blocks.data());
      owner->touched[rank] = {mine, code};
      if (state.clock().epochs_of(owner->index) == 0)
        state.report(mine, nullptr, code, "shared memory of a block that may not have started");
    }
  }
  if (kind == Access::write && !state.handed_on.empty()) state.handed_on.erase(first);
  state.each_byte(first, first + bytes, [&](Byte& byte) { state.check(byte, mine, code, where); });
}

void RaceDetector::launch_begins(const Launch& launch) {
  State& state = *state_;
  const Busy busy(state.busy);
  state.previous_knows = state.end_knows;
  state.launch = launch;
  ++state.number;
  state.names.emplace_back(launch.kernel);
  // An early launch may start as soon as the previous launch lets it; then only what the previous launch knew
  // at its own start is sure to have ended.
  state.start.launches = !launch.early     ? state.number - 1
                         : state.lets_next ? state.start.launches
                                           : state.end_knows;
  state.end_knows = state.start.launches;
  state.lets_next = false;
  state.handed_on.clear();
}

void RaceDetector::launch_ends() { running_now = nullptr; }

void RaceDetector::cluster_begins(std::int64_t first) {
  State& state = *state_;
  const Busy busy(state.busy);
  state.blocks.clear();
  state.blocks.resize(static_cast<std::size_t>(state.launch.cluster));
  state.cluster_passed = 0;
  for (std::size_t rank = 0; rank < state.blocks.size(); ++rank) {
    BlockState& block = state.blocks[rank];
    block.index = static_cast<std::uint32_t>(first + static_cast<std::int64_t>(rank));
    block.clock = state.start;
    block.threads.resize(static_cast<std::size_t>(state.launch.threads));
  }
}

void RaceDetector::cluster_ends() {
  State& state = *state_;
  const Busy busy(state.busy);
  for (const BlockState& owner : state.blocks) {
    for (const auto& [touch, code] : owner.touched) {
      if (code == nullptr || touch.when.epoch < owner.ended.epochs_of(touch.when.block)) continue;
      state.report(touch, nullptr, code, "shared memory of a block that may have ended");
    }
    // The host may reuse this memory, for example for the arguments of a launch that starts early.
    for (const Region& region : owner.shared) state.forget(region);
  }
}

void RaceDetector::runs(int rank, int thread, const void* stack, std::size_t stack_bytes) {
  state_->block = &state_->blocks[static_cast<std::size_t>(rank)];
  state_->thread = static_cast<std::uint16_t>(thread);
  state_->stack = {reinterpret_cast<std::uintptr_t>(stack), stack_bytes};
  running_now = this;
}
void RaceDetector::pauses() { running_now = nullptr; }

void RaceDetector::thread_ends() {
  State& state = *state_;
  const Busy busy(state.busy);
  state.block->ended.join(state.clock());
  // If any thread knows that another launch has ended, it has ended.
  state.end_knows = std::max(state.end_knows, state.clock().launches);
}

void RaceDetector::shared_memory(int rank, const void* memory, std::size_t bytes) {
  State& state = *state_;
  const Busy busy(state.busy);
  if (bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const Region region{begin, bytes};
  state.blocks[static_cast<std::size_t>(rank)].shared.push_back(region);
  state.forget(region);
}

void RaceDetector::arrives_at_block() { state_->arrive(*state_->block); }
void RaceDetector::arrives_at_cluster() { state_->arrive(*state_->block); }

void RaceDetector::block_goes_on() {
  State& state = *state_;
  const Busy busy(state.busy);
  const int passed = state.block->barriers++;
  state.block_barriers = std::max(state.block_barriers, passed + 1);
  if (passed != state.without.block_barrier) state.pass(*state.block);
}

void RaceDetector::cluster_goes_on() {
  State& state = *state_;
  const Busy busy(state.busy);
  const int passed = state.cluster_passed++;
  state.cluster_barriers = std::max(state.cluster_barriers, passed + 1);
  if (passed == state.without.cluster_barrier) return;
  Clock all;
  for (BlockState& block : state.blocks) {
    state.pass(block);
    all.join(block.clock);
  }
  for (BlockState& block : state.blocks) block.clock = all;
}

void RaceDetector::fences() {
  State& state = *state_;
  if (state.without.fences) return;
  const Busy busy(state.busy);
  ThreadState& me = state.me();
  if (me.added) {
    state.own_clock().join(*me.added);
    me.added.reset();
  }
  me.fenced = state.clock();
  me.fenced->threads.push_back(state.now());
  ++me.fence;
}

void RaceDetector::adds(const void* address, std::size_t bytes) {
  State& state = *state_;
  access(Access::add, address, bytes, __builtin_return_address(0));
  const Busy busy(state.busy);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  ThreadState& me = state.me();
  if (!me.fenced && state.handed_on.empty()) return;
  const auto found = state.handed_on.find(at);
  if (found != state.handed_on.end()) {
    if (!me.added) me.added.emplace();
    me.added->join(found->second);
  }
  if (me.fenced) state.handed_on[at].join(*me.fenced);
}

void RaceDetector::waits_for_previous() {
  State& state = *state_;
  if (state.without.waits || !state.launch.early) return;
  const Busy busy(state.busy);
  Clock& clock = state.own_clock();
  clock.one_launch_more = state.number - 1;
  // The launches before the previous one have ended if the previous one waited for them itself.
  if (state.previous_knows + 2 >= state.number) clock.launches = state.number - 1;
}

void RaceDetector::lets_next_start() { state_->lets_next = true; }

}  // namespace speclab::simt
