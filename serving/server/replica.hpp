// One engine with continuous batching: a step decodes all running requests and reads as many tokens of
// waiting prompts as still fit (chunked prefill; Agrawal et al. 2023, Sarathi). It schedules as vLLM does:
// running requests first, then waiting ones in order. The cache consists of blocks; when none is free, the
// request admitted last is preempted: it loses its blocks, waits again, and its tokens are recomputed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "serving/server/acceptance_law.hpp"
#include "serving/server/request_stream.hpp"
#include "serving/server/step_policies.hpp"
#include "serving/server/step_work.hpp"

namespace speclab {

struct EngineOptions {
  std::uint32_t max_sequences = 256;  ///< most requests that run at a time
  std::uint32_t step_tokens = 8192;   ///< most tokens in a step, drafted ones included
  std::uint64_t cache_blocks = 0;     ///< 0: no limit
  std::uint32_t block_tokens = 16;
  double wake_ms = 0;  ///< added to a step before which the engine was idle
  /// Most cached tokens per sequence that a draft run reads (sparse KV; Chen et al. 2024, MagicDec); 0: all.
  std::uint32_t draft_budget = 0;
  StepTime time{};
};

/// Times of one served request.
struct Served {
  double first_ms = -1;  ///< first token emitted
  double end_ms = -1;    ///< last token emitted
};

/// Sums over all steps.
struct StepTotals {
  std::uint64_t steps = 0;
  std::uint64_t decoding = 0;  ///< decoding sequences, summed over steps: the number of rounds
  std::uint64_t drafted = 0;
  std::uint64_t verified = 0;  ///< drafted tokens that were verified
  std::uint64_t accepted = 0;
  std::uint64_t emitted = 0;
  std::uint64_t preempted = 0;
  std::uint64_t decoding_steps = 0;
  std::uint64_t switches = 0;  ///< decoding steps whose gamma differs from the step before
  double busy_ms = 0;
  /// Running requests times the milliseconds of their steps.
  double running_ms = 0;
  std::array<double, longest_draft + 1> ms_by_gamma{};  ///< milliseconds of decoding steps, by gamma

  StepTotals& operator+=(const StepTotals& other);
};

/// A histogram of times between a request's emissions, in bins of 1%. A round emits its tokens at once.
class GapHistogram {
 public:
  void add(double ms);
  GapHistogram& operator+=(const GapHistogram& other);
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  /// Returns the quantile that a fraction `share` of the gaps does not exceed, within 1%, and within all
  /// gaps.
  double quantile(double share) const;

 private:
  std::vector<std::uint64_t> bins_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double least_ms_ = std::numeric_limits<double>::infinity();
  double largest_ms_ = 0;
  double last_ms_ = -1;
  std::size_t last_bin_ = 0;
};

class Replica {
 public:
  Replica(const EngineOptions& options, StepPolicy policy, const AcceptanceDraws& draws,
          std::span<const Request> requests, std::span<Served> served);

  void enqueue(std::uint32_t request) { waiting_.push_back({request}); }
  std::uint64_t load() const { return waiting_.size() + running_.size(); }
  bool idle() const { return !in_step_; }

  /// Begins a step at `now` and returns its end; infinity if there is nothing to do.
  double begin_step(double now);
  /// Ends the step; appends complete requests to `whole`.
  void end_step(double now, std::vector<std::uint32_t>& whole);

  const StepTotals& totals() const { return totals_; }
  const GapHistogram& gaps() const { return gaps_; }
  /// Clears totals and gaps.
  void forget();

 private:
  struct Waiting {
    std::uint32_t request = 0;
    std::uint32_t out = 0;  ///< tokens emitted so far
    std::uint32_t rounds = 0;
    double last_ms = 0;  ///< time of the last emission
    RequestAcceptance own{};
  };
  struct Running : Waiting {
    /// Tokens still to read: the prompt and, after a preemption, the tokens emitted before it.
    std::uint32_t unread = 0;
    std::uint32_t context = 0;  ///< tokens in the cache
    std::uint32_t reads = 0;    ///< `unread` tokens that this step reads
    std::uint32_t drafts = 0;   ///< drafted tokens that this step verifies
    std::uint32_t accepts = 0;  ///< accepted ones of `drafts`
    std::uint32_t blocks = 0;
    /// AdaptiveVerification only: how many of the previous round's drafted tokens would have been accepted;
    /// empty before the first round.
    std::optional<std::uint32_t> accepts_before{};

    bool decodes() const { return unread == 0; }
  };

  /// Reserves cache for running requests, then admits waiting ones while step and cache have room.
  void admit();
  /// Returns the work of a step that drafts nothing.
  StepWork plain_work() const;
  bool reserve(std::size_t index, std::uint32_t tokens);
  void put_back();
  void emit(Running& one, std::uint32_t tokens, double now);
  std::uint32_t choose_gamma(const DecodingBatch& batch);
  void verify_by_confidence(const AdaptiveVerification& policy, const StepWork& plain);

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
  bool any_decoded_ = false;
  bool in_step_ = false;
  double last_end_ms_ = -std::numeric_limits<double>::infinity();
  StepTotals totals_;
  GapHistogram gaps_;
};

}  // namespace speclab
