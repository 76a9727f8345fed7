#include "sim/schedules/schedule.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/schedules/asynchronous.hpp"
#include "sim/schedules/batched.hpp"
#include "sim/schedules/dsi.hpp"
#include "sim/schedules/hierarchical.hpp"
#include "sim/schedules/pearl.hpp"
#include "sim/schedules/rounds.hpp"
#include "sim/schedules/speculative_function_execution.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr double forever = 1e300;

AcceptanceBits bits_of(const std::string& text) {
  AcceptanceBits bits;
  for (const char letter : text) bits.push_back(letter == '1' ? 1 : 0);
  return bits;
}

struct Played {
  Elapsed elapsed;
  std::vector<Event> events;
};

Played play(const AnySchedule& schedule, const AcceptanceBits& bits, std::uint64_t tokens) {
  EventLog log{forever};
  const Elapsed elapsed = schedule.run(Acceptances{bits, tokens}, log);
  return {elapsed, log.events};
}

Played play(const AnySchedule& schedule, const std::string& text) {
  return play(schedule, bits_of(text), text.size());
}

std::size_t count(const Played& played, EventKind kind) {
  return static_cast<std::size_t>(std::count_if(played.events.begin(), played.events.end(),
                                                [&](const Event& event) { return event.kind == kind; }));
}

struct Example {
  const char* name;
  AnySchedule schedule;
  bool parallel = false;  ///< whether runs may take place at the same time
};

const std::vector<Example>& all_schedules() {
  static const std::vector<Example> all{
      {"plain", Plain{}},
      {"speculative", Speculative{5, 0.07}},
      {"upper bound", UpperBound{6, 0.07}},
      {"heads", Heads{4, 0.07}},
      {"hierarchical", Hierarchical{{{4, 0.2, 0}, {3, 0.05, 0.7}, {2, 0.01, 0.5}}}},
      {"DSI, all servers", Dsi{0, 1, 0.07}, true},
      {"DSI, two servers", Dsi{2, 3, 0.07}, true},
      {"DSI, slow draft", Dsi{1, 1, 1}, true},
      {"PEARL", Pearl{5, 0.07, false}, true},
      {"PEARL, next row", Pearl{5, 0.3, true}, true},
      {"asynchronous", Asynchronous{5, 0.3, 0.7, false}, true},
      {"asynchronous, plain", Asynchronous{4, 0.1, 0.7, true}, true},
      {"two functions", SpeculativeFunctionExecution{1, 0.5, 0.1, false}, true},
      {"two functions, interrupting", SpeculativeFunctionExecution{1, 2, 0.1, true}, true},
      {"batch, refilled", Batched{4, 3, 0.05, 10, true, {8}}},
      {"batch, emptied", Batched{4, 3, 0.05, 10, false, {8}}}};
  return all;
}

std::vector<AnySchedule> programs() {
  std::vector<AnySchedule> all;
  for (const Example& each : all_schedules()) all.push_back(each.schedule);
  return all;
}

/// A user's schedule: one token every two units.
struct HalfSpeed {};

template <class Events>
Elapsed run_schedule(const HalfSpeed&, const Acceptances& text, Events& events) {
  const double time = 2 * static_cast<double>(text.tokens);
  if constexpr (Events::wanted) events.add({0, time, {TrackKind::target}, EventKind::target_run});
  return {text.tokens, time, static_cast<double>(text.tokens)};
}

using TrackKey = std::pair<int, int>;

/// Groups events by track, in the order of their starts.
std::map<TrackKey, std::vector<Event>> tracks_of(const Played& played) {
  std::map<TrackKey, std::vector<Event>> tracks;
  for (const Event& event : played.events) {
    tracks[{static_cast<int>(event.track.kind), event.track.number}].push_back(event);
  }
  for (auto& [key, events] : tracks) {
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
  }
  return tracks;
}

bool tracks_hold(const Played& played) {
  bool holds = true;
  for (const auto& [key, events] : tracks_of(played)) {
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      holds = holds && events[i].end <= events[i + 1].start + 1e-9;
    }
  }
  return holds;
}

}  // namespace

TEST_CASE("rounds on six bits, by hand") {
  // Positions 0 1 2 are accepted, 3 is rejected, 4 5 are accepted.
  const std::string text = "111011";
  CHECK(play(Plain{}, text).elapsed.time == 6);
  // gamma 2 gives the rounds {0 1, bonus 2}, {rejected 3}, {4 5, bonus}: 3 + 1 + 3 tokens.
  const Played speculative = play(Speculative{2, 0.1}, text);
  CHECK(speculative.elapsed.tokens == 7);
  CHECK(speculative.elapsed.time == doctest::Approx(3 * 1.2));
  CHECK(count(speculative, EventKind::draft_run) == 6);
  CHECK(count(speculative, EventKind::target_run) == 3);
  CHECK(speculative.events[2].accepted == 2);
  CHECK(speculative.events[5].accepted == 0);
  // The upper bound drafts 3 and then 2 tokens.
  const Played upper_bound = play(UpperBound{10, 0.1}, text);
  CHECK(upper_bound.elapsed.tokens == 7);
  CHECK(upper_bound.elapsed.time == doctest::Approx(2 + 0.5));
  CHECK(play(Heads{2, 0.1}, text).elapsed.time == doctest::Approx(3 * 1.1));
}

TEST_CASE("a hierarchy verifies its surplus") {
  // The middle model always accepts its draft's tokens, so that each of its rounds gives 3 tokens: 4 are
  // wanted, 6 drafted.
  const Hierarchical schedule{{{4, 0.2, 0}, {2, 0.05, 1}}};
  const Played played = play(schedule, "1111111");
  CHECK(played.elapsed.tokens == 7);
  CHECK(played.elapsed.time == doctest::Approx(1 + 2 * (0.2 + 2 * 0.05)));
  // A hierarchy of one level is speculative decoding, event for event.
  const AcceptanceBits bits = iid_acceptances(0.7, 1, 0, 500);
  const Played one = play(Hierarchical{{{5, 0.07, 0}}}, bits, 400);
  const Played plain = play(Speculative{5, 0.07}, bits, 400);
  CHECK(one.elapsed.tokens == plain.elapsed.tokens);
  CHECK(one.elapsed.time == doctest::Approx(plain.elapsed.time));
  CHECK(one.events.size() == plain.events.size());
}

TEST_CASE("DSI by hand") {
  SUBCASE("a rejection after k drafts is found at k c + 1") {
    const Played played = play(Dsi{0, 1, 0.25}, "110");
    CHECK(played.elapsed.tokens == 3);
    CHECK(played.elapsed.time == doctest::Approx(1.5));
    // Runs start at 0, 0.25, 0.5, ...; the third one finds the rejection.
    CHECK(count(played, EventKind::target_run) == 3);
    CHECK(count(played, EventKind::draft_run) == 2);
  }
  SUBCASE("a lookahead of two finds an odd rejection later") {
    CHECK(play(Dsi{0, 2, 0.25}, "10").elapsed.time == doctest::Approx(1.5));
    CHECK(play(Dsi{0, 2, 0.25}, "110").elapsed.time == doctest::Approx(1.5));
    CHECK(play(Dsi{0, 2, 0.25}, "0").elapsed.time == doctest::Approx(1));
  }
  SUBCASE("one server takes what was drafted while it was busy") {
    // Runs start at 0 (no drafts) and 1 (four drafts).
    const Played played = play(Dsi{1, 1, 0.25}, "11110");
    CHECK(played.elapsed.time == doctest::Approx(2));
    CHECK(count(played, EventKind::target_run) == 2);
    CHECK(play(Dsi{1, 1, 0.25}, "111110").elapsed.time == doctest::Approx(3));
  }
  SUBCASE("one server and a draft as slow as the target is plain decoding") {
    const AcceptanceBits bits = iid_acceptances(0.8, 1, 0, 1000);
    const Played played = play(Dsi{1, 1, 1}, bits, 800);
    CHECK(played.elapsed.time == doctest::Approx(static_cast<double>(played.elapsed.tokens)));
  }
  SUBCASE("nothing accepted: a token a target run, as plain decoding") {
    for (const std::uint64_t servers : {0, 1, 3}) {
      CHECK(play(Dsi{servers, 1, 0.1}, "000000").elapsed.time == doctest::Approx(6));
    }
  }
  SUBCASE("a run takes the first server that is free, of a hundred as of few") {
    const auto events = play(Dsi{0, 1, 0.01}, "11101").events;
    std::vector<double> free_from;
    int runs = 0;
    for (const Event& event : events) {
      if (event.track.kind != TrackKind::target || event.kind != EventKind::target_run) continue;
      const auto server = static_cast<std::size_t>(event.track.number);
      free_from.resize(std::max(free_from.size(), server + 1));
      for (std::size_t earlier = 0; earlier < server; ++earlier)
        CHECK(free_from[earlier] > event.start + 1e-9);
      CHECK(free_from[server] <= event.start + 1e-9);
      free_from[server] = event.end;
      ++runs;
    }
    CHECK(runs > 0);
  }
  SUBCASE("never more servers than there are, and enough of them are as many as wanted") {
    const AcceptanceBits bits = iid_acceptances(0.8, 2, 0, 1000);
    for (const std::uint64_t servers : {1, 2, 5}) {
      int most = 0;
      for (const Event& event : play(Dsi{servers, 1, 0.07}, bits, 800).events) {
        if (event.track.kind == TrackKind::target) most = std::max(most, event.track.number);
      }
      CHECK(most == static_cast<int>(servers) - 1);
    }
    // One run starts every 0.05: twenty run at a time, where an end and a start coincide.
    int most = 0;
    for (const Event& event : play(Dsi{0, 1, 0.05}, bits, 800).events) {
      if (event.track.kind == TrackKind::target) most = std::max(most, event.track.number);
    }
    CHECK(most == 19);
    CHECK(play(Dsi{15, 1, 0.07}, bits, 800).elapsed.time == play(Dsi{0, 1, 0.07}, bits, 800).elapsed.time);
    CHECK(play(Dsi{2, 1, 0.07}, bits, 800).elapsed.time > play(Dsi{0, 1, 0.07}, bits, 800).elapsed.time);
  }
}

TEST_CASE("PEARL by hand") {
  // gamma is 3. Pre-verify decides 0; post-verify decides 1 2; post-verify of 3 4 5 rejects 4.
  CHECK(play(Pearl{3, 0.1, false}, "11110").elapsed.tokens == 5);
  CHECK(play(Pearl{3, 0.1, false}, "11110").elapsed.time == 3);
  // With the row after the block the steps decide 0; 1 2 3; 4 rejected.
  CHECK(play(Pearl{3, 0.1, true}, "11110").elapsed.time == 3);
  // Position 3 is rejected in the third step, or in the second.
  CHECK(play(Pearl{3, 0.1, false}, "1110").elapsed.time == 3);
  CHECK(play(Pearl{3, 0.1, true}, "1110").elapsed.time == 2);
  // Nothing is accepted: there is only pre-verify, and a slow draft stretches the steps.
  CHECK(play(Pearl{3, 0.1, false}, "000").elapsed.time == 3);
  CHECK(play(Pearl{3, 0.5, false}, "000").elapsed.time == doctest::Approx(4.5));
}

TEST_CASE("drafts for likely outcomes by hand") {
  // The rounds are 11+1, 0: with all outcomes drafted for, none, and drafts that take longer than
  // verification.
  const auto time = [](double c, double hit, bool plain) {
    return play(Asynchronous{2, c, hit, plain}, "1110").elapsed.time;
  };
  CHECK(time(0.1, 1, false) == 2);
  CHECK(time(0.1, 0, false) == doctest::Approx(2 * 1.2));
  CHECK(time(0.1, 0, true) == 4);
  CHECK(time(0.75, 1, false) == doctest::Approx(2 * 1.5));
  const AcceptanceBits bits = iid_acceptances(0.7, 1, 0, 500);
  CHECK(play(Asynchronous{5, 0.07, 0, false}, bits, 400).elapsed.time ==
        doctest::Approx(play(Speculative{5, 0.07}, bits, 400).elapsed.time));
}

TEST_CASE("two functions by hand") {
  // f = 1, g = 2, q = 0.5. Accepted: max(1, 2.5). Rejected: g runs again, from 2.5 or from 1.
  CHECK(play(SpeculativeFunctionExecution{1, 2, 0.5, false}, "1").elapsed.time == doctest::Approx(2.5));
  CHECK(play(SpeculativeFunctionExecution{1, 2, 0.5, false}, "0").elapsed.time == doctest::Approx(4.5));
  CHECK(play(SpeculativeFunctionExecution{1, 2, 0.5, true}, "0").elapsed.time == doctest::Approx(3));
  CHECK(play(SpeculativeFunctionExecution{1, 2, 0.5, true}, "10").elapsed.plain_time == 6);
}

TEST_CASE("batches by hand") {
  // There are two sequences of three tokens: bits 111 and 000. gamma 1: the first takes two rounds, the
  // second three.
  const SaturatingCost cost{1};  // time proportional to the tokens
  const Batched waves{2, 1, 0, 3, false, cost};
  const Played played = play(waves, "111000");
  CHECK(played.elapsed.tokens == 6);
  CHECK(played.elapsed.time == 4 + 4 + 2);
  CHECK(played.elapsed.plain_time == 6);
  // Refilled: the first place is free after two rounds, and no sequence is left to take it.
  const Played refilled = play(Batched{2, 1, 0, 3, true, cost}, "111000");
  CHECK(refilled.elapsed.tokens == 3 + 2);
  CHECK(refilled.elapsed.time == 8);
  // A third sequence takes it.
  const Played third = play(Batched{2, 1, 0, 3, true, cost}, "111000111");
  CHECK(third.elapsed.tokens == 3 + 3 + 2);
  CHECK(third.elapsed.time == 12);
  // Only complete batches count.
  CHECK(play(waves, "111000111").elapsed.tokens == 6);
  // One sequence whose runs are bound by memory is speculative decoding whose last round is cut.
  const AcceptanceBits bits = iid_acceptances(0.7, 3, 0, 500);
  const Played one = play(Batched{1, 4, 0.1, 400, false, {100}}, bits, 400);
  const Played alone = play(Speculative{4, 0.1}, bits, 400);
  CHECK(one.elapsed.tokens == 400);
  CHECK(one.elapsed.time == doctest::Approx(alone.elapsed.time));
}

TEST_CASE("lanes never overlap, and the last event ends when the schedule does") {
  const AcceptanceBits bits = iid_acceptances(0.75, 4, 0, 1000);
  for (const auto& [name, schedule, parallel] : all_schedules()) {
    CAPTURE(name);
    const Played played = play(schedule, bits, 300);
    REQUIRE_FALSE(played.events.empty());
    CHECK(tracks_hold(played));
    double last = 0;
    double first = forever;
    bool ordered = true;
    for (const Event& event : played.events) {
      ordered = ordered && event.start < event.end;
      first = std::min(first, event.start);
      last = std::max(last, event.end);
    }
    CHECK(ordered);
    CHECK(first == 0);
    CHECK(last <= played.elapsed.time + 1e-9);
    CHECK(last == doctest::Approx(played.elapsed.time));

    // Recording events changes nothing; a horizon keeps the events that start before it.
    const Elapsed unseen = schedule.run(Acceptances{bits, 300});
    CHECK(std::tie(unseen.tokens, unseen.time, unseen.plain_time) ==
          std::tie(played.elapsed.tokens, played.elapsed.time, played.elapsed.plain_time));
    EventLog early{10};
    schedule.run(Acceptances{bits, 300}, early);
    const auto before = [](const Event& event) { return event.start < 10; };
    CHECK(early.events.size() ==
          static_cast<std::size_t>(std::count_if(played.events.begin(), played.events.end(), before)));
  }
  // The check can fail: here a run begins before another has ended.
  Played broken = play(Speculative{2, 0.1}, bits, 50);
  broken.events.back().start -= 2;
  CHECK_FALSE(tracks_hold(broken));
}

TEST_CASE("schedules of one lane at a time are busy throughout: their events add up to their time") {
  const AcceptanceBits bits = iid_acceptances(0.75, 5, 0, 1000);
  for (const auto& [name, schedule, parallel] : all_schedules()) {
    if (parallel) continue;
    const Played played = play(schedule, bits, 300);
    double busy = 0;
    for (const Event& event : played.events) busy += event.end - event.start;
    CAPTURE(name);
    CHECK(busy == doctest::Approx(played.elapsed.time));
  }
}

TEST_CASE("all schedules end on text that is never rejected") {
  const AcceptanceBits bits(1000, 1);
  for (const auto& [name, schedule, parallel] : all_schedules()) {
    CAPTURE(name);
    CHECK(play(schedule, bits, 900).elapsed.time > 0);
  }
}

TEST_CASE("many trials: the same at any number of threads, and stopped when told") {
  SimulationSize simulation;
  simulation.seed = 7;
  simulation.trials = 12;
  simulation.length = 500;
  const auto bits = [&](std::uint32_t trial) { return iid_acceptances(0.8, simulation.seed, trial, 700); };
  const auto with_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return run_schedules(programs(), simulation, bits);
  };
  const ScheduleRuns one = with_threads(1);
  const ScheduleRuns two = with_threads(2);
  REQUIRE(one.trials() == 12);
  for (std::size_t trial = 0; trial < 12; ++trial) {
    const AcceptanceBits own = bits(static_cast<std::uint32_t>(trial));
    CHECK(one.accepted(trial) == two.accepted(trial));
    CHECK(one.accepted(trial) == static_cast<std::uint64_t>(std::count(own.begin(), own.begin() + 500, 1)));
    REQUIRE(one.elapsed(trial).size() == all_schedules().size());
    for (std::size_t i = 0; i < one.elapsed(trial).size(); ++i) {
      CHECK(one.elapsed(trial)[i].time == two.elapsed(trial)[i].time);
      CHECK(one.elapsed(trial)[i].tokens == two.elapsed(trial)[i].tokens);
    }
  }
  CHECK(run_schedules(programs(), simulation, bits, Control{.stop = [] { return true; }}).trials() == 0);
}

TEST_CASE("a schedule of one's own is a type with run_schedule") {
  const AnySchedule schedule = HalfSpeed{};
  CHECK(schedule.run(Acceptances{bits_of("0000"), 4}).time == 8);
  CHECK(play(schedule, "0000").events.size() == 1);
}
