#include "sim/model_clock.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <ctime>
#include <functional>
#include <initializer_list>

#include "core/stop.hpp"
#include "sim/decode.hpp"
#include "sim/models/runs_together.hpp"

namespace speclab {

namespace {

double now(ClockKind clock) {
  if (clock == ClockKind::wall)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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

/// Calls `each(text)` for every text of a batch, and makes their model runs together.
void for_batch(std::size_t texts, const std::function<void(std::size_t)>& each) {
  if (texts == 1) {
    each(0);
  } else {
    decode_together(texts, each);
  }
}

/// Runs the model over the `positions` tokens after the first `start`, and computes all rows after them.
void run_over(const Model& model, std::span<const Token> text, std::size_t start, std::size_t positions) {
  std::vector<double> row;
  model.prepare(text.first(start + positions), start + 1);
  for (std::size_t i = 1; i <= positions; ++i) model.next(text.first(start + i), row);
}

using Texts = std::span<const std::vector<Token>>;

/// Runs one round: an untimed target run of as many positions, draft runs, whose seconds it appends to
/// `draft_seconds`, then the timed target run. Returns its seconds.
double play_round(const Model& target, const Model& draft, Texts texts, std::size_t start,
                  std::size_t positions, ClockKind clock, std::vector<double>& draft_seconds) {
  for_batch(texts.size(), [&](std::size_t at) {
    const std::span<const Token> text(texts[at]);
    std::vector<double> row;
    target.next(text.first(start - positions), row);
    run_over(target, text, start - positions, positions);
    if (positions > 1) draft.next(text.first(start), row);
  });
  for (std::size_t i = 1; i < positions; ++i) {
    const StopWatch watch(clock);
    for_batch(texts.size(), [&](std::size_t at) {
      std::vector<double> row;
      draft.next(std::span(texts[at]).first(start + i), row);
    });
    draft_seconds.push_back(watch.seconds());
  }
  const StopWatch watch(clock);
  for_batch(texts.size(), [&](std::size_t at) { run_over(target, texts[at], start, positions); });
  return watch.seconds();
}

/// Returns the seconds of a draft run over two new tokens and one over the next token.
double draft_after_two(const Model& draft, Texts texts, std::size_t start, ClockKind clock) {
  const auto ask = [&](std::initializer_list<std::size_t> lengths) {
    for_batch(texts.size(), [&](std::size_t at) {
      std::vector<double> row;
      for (const std::size_t length : lengths) draft.next(std::span(texts[at]).first(length), row);
    });
  };
  ask({start - 1, start});
  const StopWatch watch(clock);
  ask({start + 2, start + 3});
  return watch.seconds();
}

/// Decodes a batch: `step(context, number, trial, row)` repeatedly extends the context of each text.
template <class Step>
ClockedDecode decode_batch(const Model& target, const Model* draft, Texts prompts, std::uint32_t repeat,
                           std::size_t batch, std::size_t tokens, ClockKind clock, const Step& step) {
  std::vector<std::vector<Token>> contexts;
  for (std::size_t text = 0; text < batch; ++text)
    contexts.push_back(prompts[(repeat + text) % prompts.size()]);
  const std::vector<std::vector<Token>> start = contexts;
  for_batch(batch, [&](std::size_t text) {
    std::vector<double> row;
    target.next(contexts[text], row);
    if (draft != nullptr) draft->next(contexts[text], row);
  });
  ClockedDecode found;
  // Texts of a batch continue until all have their tokens, so that every run is of the whole batch.
  std::size_t unfinished = batch;
  const StopWatch watch(clock);
  for_batch(batch, [&](std::size_t text) {
    RoundScratch<double> scratch;
    std::vector<Token>& context = contexts[text];
    for (std::uint32_t number = 0; unfinished > 0; ++number) {
      end_if_stopped();
      const std::size_t before = context.size() - start[text].size();
      step(context, number, repeat + static_cast<std::uint32_t>(text), scratch);
      if (before < tokens && context.size() - start[text].size() >= tokens) --unfinished;
      ++found.rounds;
      let_others_go_on();
    }
  });
  found.seconds = watch.seconds();
  for (std::size_t text = 0; text < batch; ++text) found.tokens += contexts[text].size() - start[text].size();
  return found;
}

}  // namespace

RunSeconds measure_runs(const Model& target, const Model& draft, Texts texts,
                        std::span<const std::size_t> starts, std::size_t most, ClockKind clock) {
  std::vector<std::vector<double>> of_target(most);
  std::vector<double> one;
  std::vector<double> two;
  // Starts are visited from the last to the first, so that no start reuses a longer cached context.
  std::vector<std::size_t> backwards(starts.begin(), starts.end());
  std::sort(backwards.rbegin(), backwards.rend());
  for (const std::size_t start : backwards) {
    assert(start > most && start + std::max<std::size_t>(most, 3) <= texts.front().size());
    for (std::size_t n = 1; n <= most; ++n) {
      end_if_stopped();
      of_target[n - 1].push_back(play_round(target, draft, texts, start, n, clock, one));
    }
    two.push_back(draft_after_two(draft, texts, start, clock));
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
                             std::size_t tokens, std::uint32_t repeats, std::size_t batch, ClockKind clock,
                             const Control& control) {
  ClockedGammas found;
  found.gammas.resize(gammas.size());
  const auto plain_step = [&](std::vector<Token>& context, std::uint32_t number, std::uint32_t trial,
                              RoundScratch<double>& scratch) {
    context.push_back(plain_token(rule, target.next(context, scratch.extra_row), seed, trial, number));
  };
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    found.plain.push_back(decode_batch(target, nullptr, prompts, repeat, batch, tokens, clock, plain_step));
    control.progress(tokens);
    for (std::size_t i = 0; i < gammas.size(); ++i) {
      if (control.stop()) return {};
      // Each repeat begins with another gamma, so that no gamma always follows the same one.
      const std::size_t at = (i + repeat) % gammas.size();
      const auto round_step = [&](std::vector<Token>& context, std::uint32_t number, std::uint32_t trial,
                                  RoundScratch<double>& scratch) {
        SampledRandomSource random = sampled_random_source(seed, trial, number);
        if (rule->round(target, draft, gammas[at], context, random, scratch, RoundWatch()).next < 0)
          throw_invalid_row();
      };
      found.gammas[at].push_back(
          decode_batch(target, &draft, prompts, repeat, batch, tokens, clock, round_step));
      control.progress(tokens);
    }
  }
  return found;
}

}  // namespace speclab
