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

/// A run over the `positions` tokens that end with the drafted ones, and all rows after them.
double seconds_of_run(const Model& model, std::span<const Token> text, std::size_t start,
                      std::size_t positions, ClockKind clock) {
  std::vector<double> row;
  // Everything before is known; forgets what came after it in an earlier run.
  model.next(text.first(start), row);
  const double begin = now(clock);
  model.prepare(text.first(start + positions), start + 1);
  for (std::size_t i = 1; i <= positions; ++i) model.next(text.first(start + i), row);
  return now(clock) - begin;
}

ClockedDecode decode_plainly(const Model& target, const AnyRule& rule, std::vector<Token> context,
                             std::uint64_t seed, std::uint32_t trial, std::size_t tokens, ClockKind clock) {
  std::vector<double> row;
  target.next(context, row);
  const double begin = now(clock);
  for (std::uint32_t i = 0; i < tokens; ++i) {
    context.push_back(plain_token(rule, target.next(context, row), seed, trial, i));
  }
  return {now(clock) - begin, tokens, tokens};
}

ClockedDecode decode_in_rounds(const Model& target, const Model& draft, const AnyRule& rule,
                               std::int32_t gamma, std::vector<Token> context, std::uint64_t seed,
                               std::uint32_t trial, std::size_t tokens, ClockKind clock) {
  RoundScratch<double> scratch;
  target.next(context, scratch.extra_row);
  draft.next(context, scratch.extra_row);
  const std::size_t start = context.size();
  std::uint32_t rounds = 0;
  const double begin = now(clock);
  for (; context.size() < start + tokens; ++rounds) {
    SampledRandomSource random = sampled_random_source(seed, trial, rounds);
    if (rule->round(target, draft, gamma, context, random, scratch, RoundWatch()).next < 0) {
      throw_invalid_row();
    }
  }
  return {now(clock) - begin, context.size() - start, rounds};
}

}  // namespace

RunSeconds measure_runs(const Model& target, const Model& draft, std::span<const Token> text,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock) {
  constexpr std::size_t most_of_draft = 2;
  std::vector<std::vector<double>> of_target(most);
  std::vector<std::vector<double>> of_draft(std::min(most_of_draft, most));
  for (const std::size_t start : starts) {
    assert(start >= 1 && start + most <= text.size());
    for (std::size_t n = 1; n <= most; ++n) {
      of_target[n - 1].push_back(seconds_of_run(target, text, start, n, clock));
    }
    for (std::size_t n = 1; n <= of_draft.size(); ++n) {
      of_draft[n - 1].push_back(seconds_of_run(draft, text, start, n, clock));
    }
  }
  RunSeconds found;
  for (auto& times : of_target) found.target.push_back(median_of(std::move(times)));
  for (auto& times : of_draft) found.draft.push_back(median_of(std::move(times)));
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
