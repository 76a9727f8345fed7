// One engine with continuous batching: every step decodes all running requests and reads as much of waiting
// prompts as its tokens allow (chunked prefill; Agrawal et al. 2023, Sarathi). As vLLM's scheduler: running
// requests first, then waiting ones in their order; a cache of blocks, and where none is left the request
// that was admitted last is put back to be computed again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"
#include "serving/server/draft_device.hpp"
#include "serving/server/request_stream.hpp"
#include "serving/server/step_policies.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

/// What the draft loses where it is not run: engines that skip it at gamma = 0 save its time and leave holes
/// in its cache.
struct StaleDraft {
  double loss = 0;           ///< of a token's acceptance rate when `window` tokens are missing; 0: none
  std::uint32_t window = 1;  ///< tokens without a draft until the whole loss, and with one until none is left
};

struct EngineOptions {
  std::uint32_t max_sequences = 256;  ///< that run at a time
  std::uint32_t step_tokens = 8192;   ///< most tokens of a step, drafted ones included
  std::uint64_t cache_blocks = 0;     ///< 0: without bound
  std::uint32_t block_tokens = 16;
  bool replays = false;  ///< accepted tokens of a partly rejected draft run again (models with a state)
  double switch_ms = 0;  ///< of a step whose gamma differs from the step's before
  double wake_ms = 0;    ///< of a step before which the engine was idle
  StaleDraft stale{};
  /// Most tokens of a sequence's cache that a draft run reads (sparse KV; Chen et al. 2024, MagicDec); 0:
  /// all.
  std::uint32_t draft_budget = 0;
  StepTime time{};
  std::optional<DraftDevice> draft_device{};  ///< with FixedGamma; `time` and `stale` are not read then
};

/// Of one request.
struct Served {
  double first_ms = -1;  ///< its first token is out
  double end_ms = -1;    ///< its last
};

/// Sums over steps.
struct StepTotals {
  std::uint64_t steps = 0;
  std::uint64_t decoding = 0;  ///< sequences, summed over steps: rounds
  std::uint64_t drafted = 0;
  std::uint64_t verified = 0;  ///< of the drafted tokens
  std::uint64_t prepared = 0;  ///< rounds whose drafts a draft device had prepared
  std::uint64_t accepted = 0;
  std::uint64_t emitted = 0;
  std::uint64_t preempted = 0;
  std::uint64_t decoding_steps = 0;
  std::uint64_t switches = 0;  ///< decoding steps whose gamma is not that of the one before
  double busy_ms = 0;
  double running_ms = 0;                                ///< running requests times milliseconds of steps
  std::array<double, longest_draft + 1> ms_by_gamma{};  ///< of steps that decode

  StepTotals& operator+=(const StepTotals& other);
};

/// Times between two emissions of a request, in bins of 1%; a round emits its tokens at once.
class GapHistogram {
 public:
  void add(double ms);
  GapHistogram& operator+=(const GapHistogram& other);
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  /// The value that this share of gaps does not exceed, within 1%.
  double quantile(double share) const;

 private:
  std::vector<std::uint64_t> bins_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double last_ms_ = 0;
  std::size_t last_bin_ = 0;
};

class Replica {
 public:
  Replica(const EngineOptions& options, StepPolicy policy, const AcceptanceDraws& draws,
          std::span<const Request> requests, std::span<Served> served);

  void enqueue(std::uint32_t request) { waiting_.push_back({request}); }
  std::uint64_t load() const { return waiting_.size() + running_.size(); }
  bool idle() const { return !in_step_; }

  /// Begins a step at `now` and returns its end; waits, and returns infinity, when there is nothing to do.
  double begin_step(double now);
  /// Ends the step. Appends requests that are whole to `whole`.
  void end_step(double now, std::vector<std::uint32_t>& whole);

  const StepTotals& totals() const { return totals_; }
  const GapHistogram& gaps() const { return gaps_; }
  /// Forgets sums so far.
  void forget();

 private:
  struct Running {
    std::uint32_t request = 0;
    std::uint32_t unread = 0;   ///< tokens of the prompt, and of what was out when it was put back
    std::uint32_t context = 0;  ///< tokens in the cache
    std::uint32_t out = 0;      ///< tokens emitted
    std::uint32_t rounds = 0;
    std::uint32_t reads = 0;    ///< of `unread` in this step
    std::uint32_t drafts = 0;   ///< verified in this step
    std::uint32_t accepts = 0;  ///< of these
    std::uint32_t blocks = 0;
    std::uint32_t stale = 0;  ///< tokens that the draft has missed
    bool prepared = false;    ///< drafts of the next round, on a draft device
    /// Of AdaptiveVerification: how many drafts of the round before would have been accepted; none before the
    /// first.
    std::optional<std::uint32_t> accepts_before{};
    double last_ms = 0;  ///< of the last emission
    RequestAcceptance own{};

    bool decodes() const { return unread == 0; }
  };
  struct Waiting {
    std::uint32_t request = 0;
    std::uint32_t out = 0;
    std::uint32_t rounds = 0;
    double last_ms = 0;
    RequestAcceptance own{};
  };

  /// Reserves room in the cache for the running requests, and takes waiting ones into what is left of the
  /// step.
  void admit();
  /// The work of a step in which nothing is drafted.
  StepWork plain_work() const;
  bool reserve(std::size_t index, std::uint32_t tokens);
  void put_back();
  void emit(Running& one, std::uint32_t tokens, double now);
  std::uint32_t choose_gamma(const DecodingBatch& batch);
  double keep(const Running& one) const;
  std::uint32_t drafts_of(const Running& one) const;
  void verify_by_confidence(const AdaptiveVerification& policy, const StepWork& plain);
  void prepare(Running& one, std::uint32_t drafts, std::uint32_t accepted) const;
  double draft_context(std::uint32_t tokens) const;
  double step_with_device(const DraftDevice& device, const StepWork& work, double now);

  const EngineOptions& options_;
  StepPolicy policy_;
  const AcceptanceDraws& draws_;
  std::span<const Request> requests_;
  std::span<Served> served_;
  std::deque<Waiting> waiting_;
  std::vector<Running> running_;  ///< in the order of admission
  std::uint64_t used_blocks_ = 0;
  std::uint32_t gamma_ = 0;
  std::uint32_t last_gamma_ = 0;
  double drafted_at_ = 0;  ///< when the draft device has drafted for likely outcomes of the last step
  bool any_decoded_ = false;
  bool in_step_ = false;
  double last_end_ms_ = -std::numeric_limits<double>::infinity();
  StepTotals totals_;
  GapHistogram gaps_;
};

}  // namespace speclab
