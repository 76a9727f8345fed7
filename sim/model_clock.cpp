#include "sim/model_clock.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <ctime>

#include "sim/decode.hpp"

namespace speclab {

namespace {

double now(ClockKind clock) {
  if (clock == ClockKind::wall) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  constexpr double nano = 1e-9;
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + nano * static_cast<double>(time.tv_nsec);
}

double median_of(std::vector<double> values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

class StopWatch {
 public:
  explicit StopWatch(ClockKind clock) : clock_(clock), begin_(now(clock)) {}
  double seconds() const { return now(clock_) - begin_; }

 private:
  ClockKind clock_;
  double begin_;
};

/// A run over the `positions` tokens after the first `start`, and all rows after them.
void run_over(const Model& model, std::span<const Token> text, std::size_t start, std::size_t positions) {
  std::vector<double> row;
  model.prepare(text.first(start + positions), start + 1);
  for (std::size_t i = 1; i <= positions; ++i) model.next(text.first(start + i), row);
}

/// Seconds of the target run of a round, after the draft runs of the round, whose seconds it adds.
double play_round(const Model& target, const Model& draft, std::span<const Token> text, std::size_t start,
                  std::size_t positions, ClockKind clock, std::vector<double>& draft_seconds) {
  std::vector<double> row;
  target.next(text.first(start - positions), row);
  run_over(target, text, start - positions, positions);
  if (positions > 1) draft.next(text.first(start), row);
  for (std::size_t i = 1; i < positions; ++i) {
    const StopWatch watch(clock);
    draft.next(text.first(start + i), row);
    draft_seconds.push_back(watch.seconds());
  }
  const StopWatch watch(clock);
  run_over(target, text, start, positions);
  return watch.seconds();
}

/// Seconds of a draft run over two new tokens and one over the next.
double draft_after_two(const Model& draft, std::span<const Token> text, std::size_t start, ClockKind clock) {
  std::vector<double> row;
  draft.next(text.first(start - 1), row);
  draft.next(text.first(start), row);
  const StopWatch watch(clock);
  draft.next(text.first(start + 2), row);
  draft.next(text.first(start + 3), row);
  return watch.seconds();
}

ClockedDecode decode_plainly(const Model& target, const AnyRule& rule, std::vector<Token> context,
                             std::uint64_t seed, std::uint32_t trial, std::size_t tokens, ClockKind clock) {
  std::vector<double> row;
  target.next(context, row);
  const StopWatch watch(clock);
  for (std::uint32_t i = 0; i < tokens; ++i) {
    context.push_back(plain_token(rule, target.next(context, row), seed, trial, i));
  }
  return {watch.seconds(), tokens, tokens};
}

ClockedDecode decode_in_rounds(const Model& target, const Model& draft, const AnyRule& rule,
                               std::int32_t gamma, std::vector<Token> context, std::uint64_t seed,
                               std::uint32_t trial, std::size_t tokens, ClockKind clock) {
  RoundScratch<double> scratch;
  target.next(context, scratch.extra_row);
  draft.next(context, scratch.extra_row);
  const std::size_t start = context.size();
  std::uint32_t rounds = 0;
  const StopWatch watch(clock);
  for (; context.size() < start + tokens; ++rounds) {
    SampledRandomSource random = sampled_random_source(seed, trial, rounds);
    if (rule->round(target, draft, gamma, context, random, scratch, RoundWatch()).next < 0) {
      throw_invalid_row();
    }
  }
  return {watch.seconds(), context.size() - start, rounds};
}

}  // namespace

RunSeconds measure_runs(const Model& target, const Model& draft, std::span<const Token> text,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock) {
  std::vector<std::vector<double>> of_target(most);
  std::vector<double> one;
  std::vector<double> two;
  // From the last on, so that each begins before all that the models still know of another.
  std::vector<std::size_t> backwards(starts.begin(), starts.end());
  std::sort(backwards.rbegin(), backwards.rend());
  for (const std::size_t start : backwards) {
    assert(start > most && start + std::max<std::size_t>(most, 3) <= text.size());
    for (std::size_t n = 1; n <= most; ++n) {
      of_target[n - 1].push_back(play_round(target, draft, text, start, n, clock, one));
    }
    two.push_back(draft_after_two(draft, text, start, clock));
  }
  RunSeconds found;
  for (auto& times : of_target) found.target.push_back(median_of(std::move(times)));
  found.draft.push_back(median_of(std::move(one)));
  found.draft.push_back(median_of(std::move(two)) - found.draft.front());
  return found;
}

ClockedGammas clock_decoding(const Model& target, const Model& draft, const AnyRule& rule,
                             std::span<const std::int32_t> gammas,
                             std::span<const std::vector<Token>> prompts, std::uint64_t seed,
                             std::size_t tokens, std::uint32_t repeats, ClockKind clock,
                             const Control& control) {
  ClockedGammas found;
  found.gammas.resize(gammas.size());
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const std::vector<Token>& prompt = prompts[repeat % prompts.size()];
    found.plain.push_back(decode_plainly(target, rule, prompt, seed, repeat, tokens, clock));
    control.progress(tokens);
    for (std::size_t i = 0; i < gammas.size(); ++i) {
      if (control.stop()) return {};
      // Another one begins in every repeat, so that none always follows the same one.
      const std::size_t at = (i + repeat) % gammas.size();
      found.gammas[at].push_back(
          decode_in_rounds(target, draft, rule, gammas[at], prompt, seed, repeat, tokens, clock));
      control.progress(tokens);
    }
  }
  return found;
}

}  // namespace speclab
