// Room 4 (the page's view of live decoding): models of a small text decode a text token by token, and the
// same pair runs under several schedules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/rules/token.hpp"
#include "explorer/engine/record.hpp"
#include "sim/acceptance_stream.hpp"
#include "sim/adaptive_drafting.hpp"
#include "sim/any_rule.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/decode.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/policies/fixed.hpp"
#include "sim/schedules/dsi.hpp"
#include "sim/schedules/pearl.hpp"
#include "sim/schedules/rounds.hpp"
#include "sim/sequences.hpp"
#include "sim/text/corpus.hpp"

namespace speclab::explorer {

/// A text, and the n-gram models of it that were requested.
class TextModels {
 public:
  explicit TextModels(std::string_view text) : corpus_(make_corpus(text, Tokenization::words, max_words)) {}

  const Vocabulary& vocabulary() const { return corpus_.vocabulary; }
  std::size_t tokens() const { return corpus_.tokens.size(); }
  const Model& ngram(int order) {
    auto found = models_.find(order);
    if (found == models_.end()) {
      found =
          models_.emplace(order, train_kneser_ney(corpus_.tokens, corpus_.vocabulary.size(), order)).first;
    }
    return found->second;
  }

 private:
  static constexpr std::int32_t max_words = 8000;  // the default of a config's corpus

  Corpus corpus_;
  std::map<int, Model> models_;
};

struct LiveTask {
  int target_order = 4;
  int draft_order = 2;  ///< 0: prompt lookup
  std::int32_t gamma = 4;
  std::int32_t tokens = 60;  ///< least number of emitted tokens
  double c = 0.05;
  std::uint64_t seed = 1;
  std::string_view prompt;
};

namespace detail {

/// Returns rounds of prompt lookup. A round drafts fewer tokens, or none, if the lookup finds no more. Random
/// numbers are addressed by the position in the text at which a round starts, as in sim/sequence_decode.hpp.
inline std::vector<RoundRecord> record_lookup(const Model& target, std::int32_t gamma,
                                              std::vector<Token> context, std::size_t tokens,
                                              std::uint64_t seed) {
  const LookupDrafter drafter(target.vocab());
  const FixedPolicy policy(gamma);
  LookupDrafter::Memory memory;
  FixedPolicy::Memory learned;
  const AdaptiveDrafting<LookupDrafter, FixedPolicy> drafting{drafter, memory, policy, learned};
  std::vector<RoundRecord> records;
  RoundScratch<double> scratch;
  const std::size_t prompt = context.size();
  while (context.size() < prompt + tokens) {
    const std::size_t start = context.size();
    SampledRandomSource random = sampled_random_source(seed, 0, static_cast<std::uint32_t>(start - prompt));
    std::vector<Token> drafted;
    const auto keep = [&](std::vector<Token>& text, auto& source, auto& rows) {
      const Drafted done = drafting(text, source, rows);
      drafted.assign(text.begin() + static_cast<std::ptrdiff_t>(start), text.end());
      return done;
    };
    const Round done = drafted_round(target, keep, TokenRule{}, context, random, scratch, NoWatch{});
    if (done.next < 0) throw_invalid_row();
    records.push_back({std::move(drafted), done.accepted, done.next});
  }
  return records;
}

inline void describe_records(const std::vector<RoundRecord>& records, const Vocabulary& vocabulary,
                             Record& out) {
  const auto word = [&](Token token) { return vocabulary.text(token); };
  std::vector<Token> drafted;
  for (const RoundRecord& record : records) {
    drafted.insert(drafted.end(), record.drafted.begin(), record.drafted.end());
  }
  out.texts("drafted", drafted, word);
  out.list("counts", records, [](const RoundRecord& record) { return record.drafted.size(); });
  out.list("accepted", records, &RoundRecord::accepted);
  out.texts("next", records, [&](const RoundRecord& record) { return word(record.next); });
}

/// Writes the sums over rounds; a draft run takes the time of `c` target runs (0 for lookup).
inline void describe_totals(const std::vector<RoundRecord>& records, double c, Record& out) {
  double drafted = 0;
  double examined = 0;
  double accepted = 0;
  for (const RoundRecord& record : records) {
    drafted += static_cast<double>(record.drafted.size());
    accepted += record.accepted;
    examined += record.accepted + (record.corrected() ? 1 : 0);
  }
  const auto rounds = static_cast<double>(records.size());
  out.number("target_runs", rounds);
  out.number("drafted_tokens", drafted);
  out.number("accepted_tokens", accepted);
  out.number("tokens", rounds + accepted);
  if (examined > 0) out.number("alpha_examined", accepted / examined);
  out.number("tokens_per_target_step", (rounds + accepted) / rounds);
  out.number("time", rounds + drafted * c);
  out.number("speedup", (rounds + accepted) / (rounds + drafted * c));
}

/// Returns the row of the timeline for a track: the draft first, then the target's servers.
inline double row_of(const Track& track) { return track.kind == TrackKind::draft ? 0 : 1 + track.number; }

/// Number of positions beyond the last needed token that schedules may compute, as in the experiment
/// "schedules".
inline constexpr std::uint32_t spare_positions = 128;

/// Runs four schedules over one further sequence of the pair, as the experiment "schedules" runs its first
/// sequence. Writes the times of all tokens, and the runs of its trace of 12 tokens, up to the 12th target
/// run.
inline void describe_schedules(const LiveTask& task, const Model& target, const Model& draft,
                               const std::vector<Token>& prompt, Record& out) {
  constexpr std::uint64_t traced = 12;
  SimulationSize simulation;
  simulation.seed = task.seed;
  simulation.trials = 1;
  simulation.length = static_cast<std::uint32_t>(task.tokens);
  simulation.prompts = {prompt};
  const AcceptanceBits bits =
      pair_acceptances(target, draft, TokenRule{}, simulation, 0, simulation.length + spare_positions);
  const Acceptances text{bits, simulation.length, task.seed, 0};
  const Acceptances trace{bits, std::min<std::uint64_t>(traced, simulation.length), task.seed, 0};
  const auto gamma = static_cast<std::uint64_t>(task.gamma);
  std::vector<double> times;
  std::vector<double> plain_times;
  std::vector<double> schedule, row, start, end, dropped;
  const auto play = [&](const auto& played) {
    EventLog log{static_cast<double>(trace.tokens)};
    run_schedule(played, trace, log);
    NoEvents none;
    const Elapsed elapsed = run_schedule(played, text, none);
    for (const Event& event : log.events) {
      schedule.push_back(static_cast<double>(times.size()));
      row.push_back(row_of(event.track));
      start.push_back(event.start);
      end.push_back(event.end);
      dropped.push_back(event.kind == EventKind::dropped_run ? 1 : 0);
    }
    times.push_back(elapsed.time);
    plain_times.push_back(elapsed.plain_time);
  };
  play(Plain{});
  play(Speculative{gamma, task.c});
  play(Dsi{2, gamma, task.c});
  play(Pearl{gamma, task.c, true});
  out.list("schedule_times", times);
  out.list("schedule_plain_times", plain_times);
  std::vector<double> speedups;
  for (std::size_t i = 0; i < times.size(); ++i) speedups.push_back(plain_times[i] / times[i]);
  out.list("schedule_speedups", speedups);
  out.number("horizon", static_cast<double>(trace.tokens));
  out.list("event_schedule", schedule);
  out.list("event_row", row);
  out.list("event_start", start);
  out.list("event_end", end);
  out.list("event_dropped", dropped);
}

}  // namespace detail

inline void decode_text(const LiveTask& task, TextModels& models, Record& out) {
  const Model& target = models.ngram(task.target_order);
  const std::vector<Token> prompt = models.vocabulary().tokens(task.prompt);
  const auto tokens = static_cast<std::size_t>(task.tokens);
  const bool lookup = task.draft_order == 0;
  const std::vector<RoundRecord> records =
      lookup ? detail::record_lookup(target, task.gamma, prompt, tokens, task.seed)
             : record_rounds(target, models.ngram(task.draft_order), TokenRule{}, task.gamma, prompt, tokens,
                             task.seed);
  out.texts("prompt", prompt, [&](Token token) { return models.vocabulary().text(token); });
  detail::describe_records(records, models.vocabulary(), out);
  detail::describe_totals(records, lookup ? 0 : task.c, out);
  out.number("words", models.vocabulary().size());
  out.number("corpus_tokens", static_cast<double>(models.tokens()));
  if (!lookup) detail::describe_schedules(task, target, models.ngram(task.draft_order), prompt, out);
}

}  // namespace speclab::explorer
