#include "serving/server/replica.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace speclab {

namespace {

constexpr double min_gap_ms = 1e-3;
const double log_bin = std::log(1.01);

std::uint32_t blocks_of(std::uint64_t tokens, std::uint32_t block) {
  return static_cast<std::uint32_t>((tokens + block - 1) / block);
}

}  // namespace

StepTotals& StepTotals::operator+=(const StepTotals& other) {
  steps += other.steps;
  decoding += other.decoding;
  drafted += other.drafted;
  verified += other.verified;
  accepted += other.accepted;
  emitted += other.emitted;
  preempted += other.preempted;
  decoding_steps += other.decoding_steps;
  switches += other.switches;
  busy_ms += other.busy_ms;
  running_ms += other.running_ms;
  for (std::size_t i = 0; i < ms_by_gamma.size(); ++i) ms_by_gamma[i] += other.ms_by_gamma[i];
  return *this;
}

void GapHistogram::add(double ms) {
  // The bin is kept from call to call, because a step's sequences have the same gap unless preempted.
  if (ms != last_ms_) {
    last_ms_ = ms;
    least_ms_ = std::min(least_ms_, ms);
    largest_ms_ = std::max(largest_ms_, ms);
    last_bin_ = static_cast<std::size_t>(std::max(0.0, std::floor(std::log(ms / min_gap_ms) / log_bin)));
  }
  const std::size_t index = last_bin_;
  if (index >= bins_.size()) bins_.resize(index + 1, 0);
  ++bins_[index];
  ++count_;
  sum_ += ms;
}

GapHistogram& GapHistogram::operator+=(const GapHistogram& other) {
  if (other.bins_.size() > bins_.size()) bins_.resize(other.bins_.size(), 0);
  for (std::size_t i = 0; i < other.bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  least_ms_ = std::min(least_ms_, other.least_ms_);
  largest_ms_ = std::max(largest_ms_, other.largest_ms_);
  return *this;
}

double GapHistogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(count_);
  double below = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const auto here = static_cast<double>(bins_[i]);
    if (here > 0 && below + here >= wanted) {
      // Interpolates as if the gaps of a bin were spread evenly over it.
      const double within = std::clamp((wanted - below) / here, 0.0, 1.0);
      return std::clamp(min_gap_ms * std::exp((static_cast<double>(i) + within) * log_bin), least_ms_,
                        largest_ms_);
    }
    below += here;
  }
  return 0;
}

Replica::Replica(const EngineOptions& options, StepPolicy policy, const AcceptanceDraws& draws,
                 std::span<const Request> requests, std::span<Served> served)
    : options_(options), policy_(std::move(policy)), draws_(draws), requests_(requests), served_(served) {}

void Replica::forget() {
  totals_ = {};
  gaps_ = {};
}

/// Makes room for `tokens` in the cache of running_[index] by preempting requests that were admitted after
/// it. Returns false if the request itself was preempted.
bool Replica::reserve(std::size_t index, std::uint32_t tokens) {
  if (options_.cache_blocks == 0) return true;
  const std::uint32_t needed = blocks_of(tokens, options_.block_tokens);
  while (needed > running_[index].blocks &&
         used_blocks_ + (needed - running_[index].blocks) > options_.cache_blocks) {
    const bool itself = running_.size() == index + 1;
    put_back();
    if (itself) return false;
  }
  if (needed > running_[index].blocks) {
    used_blocks_ += needed - running_[index].blocks;
    running_[index].blocks = needed;
  }
  return true;
}

void Replica::put_back() {
  used_blocks_ -= running_.back().blocks;
  waiting_.push_front(running_.back());
  running_.pop_back();
  ++totals_.preempted;
}

std::uint32_t Replica::choose_gamma(const DecodingBatch& batch) {
  if (const auto* adaptive = std::get_if<AdaptiveVerification>(&policy_)) return adaptive->gamma;
  const auto* clairvoyant = std::get_if<Clairvoyant>(&policy_);
  if (clairvoyant == nullptr) {
    return std::visit(
        [&](auto& policy) -> std::uint32_t {
          if constexpr (std::is_invocable_v<decltype(policy), const DecodingBatch&>) {
            return policy(batch);
          } else {
            return 0;
          }
        },
        policy_);
  }
  // counts[k]: sequences that would accept k of `most` tokens.
  std::array<std::uint32_t, longest_draft + 1> counts{};
  for (const Running& one : running_) {
    if (one.decodes()) ++counts[draws_.accepted(one.own, one.request, one.rounds, clairvoyant->most)];
  }
  std::uint32_t best = 0;
  double best_speed = 0;
  double accepted = 0;
  std::uint32_t above = batch.sequences;
  for (std::uint32_t gamma = 0; gamma <= clairvoyant->most; ++gamma) {
    if (gamma > 0) accepted += above -= counts[gamma - 1];
    StepWork work = batch.plain;
    work.verified = work.decoding + accepted;
    work.drafts = gamma;
    const double speed = (work.decoding + accepted) / clairvoyant->time(work);
    if (speed > best_speed) {
      best_speed = speed;
      best = gamma;
    }
  }
  return best;
}

/// Decides which drafts are verified, and how many of them are accepted.
void Replica::verify_by_confidence(const AdaptiveVerification& policy, const StepWork& plain) {
  std::vector<VerifiedSequence> sequences;
  double sampling = 0;
  for (const Running& one : running_) {
    if (one.unread == one.reads) ++sampling;
    if (!one.decodes()) continue;
    sequences.push_back({.request = one.request,
                         .round = one.rounds,
                         .accepts = draws_.accepted(one.own, one.request, one.rounds, policy.gamma),
                         .accepts_before = one.accepts_before.value_or(0),
                         .first = !one.accepts_before});
  }
  StepWork work = plain;
  work.drafts = policy.gamma;
  verify(policy, draws_, work, sampling, sequences);
  auto next = sequences.begin();
  for (Running& one : running_) {
    if (!one.decodes()) continue;
    one.drafts = next->verified;
    one.accepts = std::min(next->accepts, next->verified);
    one.accepts_before = next->accepts;
    ++next;
  }
}

void Replica::admit() {
  // The cache must hold the tokens that a decoding request may accept. This step's gamma is chosen only once
  // the batch is known, so the previous step's counts (vLLM's lookahead slots).
  const std::uint32_t ahead = last_gamma_ + 1;
  std::uint32_t tokens = 0;
  const auto preempted = totals_.preempted;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& one = running_[i];
    one.reads = one.decodes() ? 0 : std::min(one.unread, options_.step_tokens - tokens);
    if (!reserve(i, one.context + (one.decodes() ? ahead : one.reads))) break;
    tokens += one.decodes() ? ahead : one.reads;
    tokens = std::min(tokens, options_.step_tokens);
  }
  while (!waiting_.empty() && running_.size() < options_.max_sequences && tokens < options_.step_tokens &&
         (totals_.preempted == preempted || running_.empty())) {
    Running one{waiting_.front()};
    one.unread = requests_[one.request].prompt + one.out;
    one.reads = std::min(one.unread, options_.step_tokens - tokens);
    const std::uint32_t needed = blocks_of(one.reads, options_.block_tokens);
    if (options_.cache_blocks != 0 && used_blocks_ + needed > options_.cache_blocks && !running_.empty())
      break;
    waiting_.pop_front();
    if (one.out == 0) one.own = draws_.begin(one.request);
    if (options_.cache_blocks != 0) used_blocks_ += one.blocks = needed;
    running_.push_back(one);
    tokens += one.reads;
  }
}

StepWork Replica::plain_work() const {
  const std::uint32_t draft_budget = options_.draft_budget == 0 ? ~0U : options_.draft_budget;
  StepWork work;
  for (const Running& one : running_) {
    if (one.decodes()) {
      work.decoding += 1;
      work.decoding_context += one.context;
      work.draft_context += std::min(one.context, draft_budget);
    } else if (one.reads > 0) {
      work.prefilling += 1;
      work.prefilled += one.reads;
      work.context += one.context;
    }
  }
  work.context += work.decoding_context;
  work.verified = work.decoding;
  return work;
}

double Replica::begin_step(double now) {
  admit();
  if (running_.empty()) return std::numeric_limits<double>::infinity();

  StepWork work = plain_work();
  const DecodingBatch batch{static_cast<std::uint32_t>(work.decoding), work};
  gamma_ = batch.sequences == 0 ? 0 : std::min(choose_gamma(batch), longest_draft);

  DecodedStep outcome{gamma_, batch.sequences};
  const bool truncated = std::holds_alternative<Clairvoyant>(policy_);
  const auto* adaptive = std::get_if<AdaptiveVerification>(&policy_);
  if (adaptive != nullptr && batch.sequences > 0) verify_by_confidence(*adaptive, work);
  work.verified = 0;
  for (Running& one : running_) {
    if (!one.decodes()) continue;
    if (adaptive == nullptr) {
      one.drafts = gamma_;
      one.accepts = draws_.accepted(one.own, one.request, one.rounds, one.drafts);
    }
    outcome.accepted += one.accepts;
    outcome.examined += std::min(one.accepts + 1, one.drafts);
    const std::uint32_t verified = truncated ? one.accepts : one.drafts;
    work.verified += verified + 1;
    totals_.drafted += adaptive != nullptr ? gamma_ : one.drafts;
    totals_.verified += verified;
  }
  work.drafts = gamma_;
  double ms = options_.time(work);
  if (now > last_end_ms_) ms += options_.wake_ms;
  if (batch.sequences > 0) {
    if (adaptive != nullptr) ms += adaptive->step_ms;
    totals_.switches += any_decoded_ && gamma_ != last_gamma_ ? 1 : 0;
    ++totals_.decoding_steps;
    any_decoded_ = true;
    last_gamma_ = gamma_;
    totals_.ms_by_gamma[gamma_] += ms;
    totals_.decoding += batch.sequences;
    totals_.accepted += outcome.accepted;
    std::visit(
        [&](auto& policy) {
          if constexpr (requires { policy.observe(outcome); }) policy.observe(outcome);
        },
        policy_);
  }
  ++totals_.steps;
  totals_.busy_ms += ms;
  totals_.running_ms += ms * static_cast<double>(running_.size());
  in_step_ = true;
  return now + ms;
}

void Replica::emit(Running& one, std::uint32_t tokens, double now) {
  Served& served = served_[one.request];
  const std::uint32_t wanted = requests_[one.request].output;
  const std::uint32_t emitted = std::min(tokens, wanted - one.out);
  if (one.out == 0) {
    served.first_ms = now;
  } else {
    gaps_.add(now - one.last_ms);
  }
  one.last_ms = now;
  one.out += emitted;
  totals_.emitted += emitted;
  draws_.advance(one.own, one.request, tokens);
  if (one.out == wanted) served.end_ms = now;
}

void Replica::end_step(double now, std::vector<std::uint32_t>& whole) {
  in_step_ = false;
  last_end_ms_ = now;
  std::size_t kept = 0;
  for (Running& one : running_) {
    if (one.decodes()) {
      const std::uint32_t tokens = one.accepts + 1;
      ++one.rounds;
      one.context += tokens;
      emit(one, tokens, now);
    } else {
      one.context += one.reads;
      one.unread -= one.reads;
      if (one.unread == 0) emit(one, 1, now);
    }
    if (one.out == requests_[one.request].output) {
      used_blocks_ -= one.blocks;
      whole.push_back(one.request);
    } else {
      running_[kept++] = one;
    }
  }
  running_.resize(kept);
}

}  // namespace speclab
