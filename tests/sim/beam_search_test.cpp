#include "sim/beam_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

/// Returns a table whose rows have few distinct probabilities, so that zeros and ties are frequent.
Model table_with_ties(std::uint64_t seed, std::int32_t vocab, std::int32_t order) {
  Philox stream = world(seed);
  std::vector<double> probability;
  for (std::int32_t contexts = static_cast<std::int32_t>(std::pow(vocab, order)); contexts > 0; --contexts) {
    const std::size_t start = probability.size();
    for (Token id = 0; id < vocab; ++id) probability.push_back(static_cast<double>(stream() % 4));
    const auto sure = static_cast<std::size_t>(stream() % static_cast<std::uint64_t>(vocab));
    probability[start + sure] += 1;
  }
  return Model(TableModel(vocab, order, std::move(probability)));
}

/// Returns rows close to those of `base`, so that drafts are good but not perfect.
Model disturbed(const Model& base, std::uint64_t seed, double epsilon) {
  return mixed(base, table_with_ties(seed, base.vocab(), 1), epsilon);
}

/// Searches by the definition, without any savings: every extension of every member, fully sorted.
Beam exhaustive_beam(const Model& model, const std::vector<Token>& prompt, std::size_t width,
                     std::uint32_t length) {
  struct Candidate {
    Hypothesis hypothesis;
    std::size_t parent;
    double probability;
  };
  std::vector<double> scratch;
  Beam beam{{prompt, 0.0}};
  for (std::uint32_t step = 0; step < length; ++step) {
    std::vector<Candidate> all;
    for (std::size_t parent = 0; parent < beam.size(); ++parent) {
      const Row row = model.next(beam[parent].tokens, scratch);
      for (Token id = 0; id < row.size; ++id) {
        if (row[id] == 0) continue;
        Candidate candidate{beam[parent], parent, row[id]};
        candidate.hypothesis.tokens.push_back(id);
        candidate.hypothesis.score += std::log(row[id]);
        all.push_back(candidate);
      }
    }
    // Ids ascend within a parent, so that a stable sort breaks the last tie as stated.
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      if (a.hypothesis.score != b.hypothesis.score) return a.hypothesis.score > b.hypothesis.score;
      return a.parent != b.parent ? a.parent < b.parent : a.probability > b.probability;
    });
    beam.clear();
    for (std::size_t i = 0; i < std::min(width, all.size()); ++i) beam.push_back(all[i].hypothesis);
  }
  return beam;
}

void check_counts(const BeamSearch& search, std::size_t width, std::size_t draft_width, std::int32_t gamma,
                  std::uint32_t length) {
  const Tally& tally = search.tally;
  CHECK(tally.emitted == length);
  CHECK(tally.emitted == tally.accepted + tally.rounds);
  CHECK(tally.accepted <= tally.examined);
  CHECK(tally.examined <= tally.drafted);
  const auto most = static_cast<std::uint64_t>(gamma);
  CHECK(tally.drafted <= most * tally.rounds);
  CHECK(search.target_rows <= tally.rounds * (width + draft_width * most));
  if (gamma > 0) CHECK(search.draft_rows <= tally.rounds * (width + draft_width * (most - 1)));
  if (gamma == 0) CHECK(search.draft_rows == 0);
}

struct Comparison {
  int searches = 0;
  int identical = 0;
};

/// Compares speculative with plain beams on random tables, for all widths and gammas.
Comparison compare_on_tables(BeamAcceptance acceptance) {
  Comparison comparison;
  constexpr std::uint32_t length = 7;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const auto order = static_cast<std::int32_t>(seed % 3);
    const auto vocab = static_cast<std::int32_t>(2 + seed % 4);
    const Model target = table_with_ties(seed, vocab, order);
    const Model draft =
        seed % 2 == 0 ? disturbed(target, seed + 100, 0.2) : table_with_ties(seed + 100, vocab, 1);
    const std::vector<Token> prompt{static_cast<Token>(seed % 2)};
    for (std::size_t width = 1; width <= 4; ++width) {
      const BeamSearch plain = plain_beam_search(target, prompt, width, length);
      for (const std::size_t more : {0U, 1U, 3U}) {
        for (std::int32_t gamma = 0; gamma <= 4; ++gamma) {
          const BeamSearch speculative =
              speculative_beam_search(target, draft, prompt, width, width + more, gamma, length, acceptance);
          ++comparison.searches;
          comparison.identical += speculative.beam == plain.beam ? 1 : 0;
          check_counts(speculative, width, width + more, gamma, length);
        }
      }
    }
  }
  return comparison;
}

}  // namespace

TEST_CASE("a beam worked out by hand, ties included") {
  // After 0, tokens 1 and 2 tie at 1/4 below token 0; after 1 or 2 the next token is always 0.
  const Model model(TableModel(3, 1, {2, 1, 1, 1, 0, 0, 1, 0, 0}));
  const std::vector<Token> prompt{0};
  const double half = std::log(0.5);
  const double quarter = std::log(0.25);
  CHECK(plain_beam_search(model, prompt, 2, 1).beam == Beam{{{0, 0}, half}, {{0, 1}, quarter}});
  // Among the sequences of two tokens, 00 has 1/4, and 10 has 1/4 from the second parent; 20 has lost its
  // parent.
  CHECK(plain_beam_search(model, prompt, 2, 2).beam ==
        Beam{{{0, 0, 0}, half + half}, {{0, 1, 0}, quarter + 0.0}});
  // There are fewer sequences than the beam has room for.
  CHECK(plain_beam_search(model, std::vector<Token>{1}, 4, 1).beam == Beam{{{1, 0}, 0.0}});
  CHECK(plain_beam_search(model, prompt, 3, 0).beam == Beam{{{0}, 0.0}});
}

TEST_CASE("plain beam search is its definition, candidates fully sorted") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto vocab = static_cast<std::int32_t>(2 + seed % 5);
    const Model model = table_with_ties(seed, vocab, static_cast<std::int32_t>(seed % 3));
    for (std::size_t width = 1; width <= 5; ++width)
      CHECK(plain_beam_search(model, {}, width, 6).beam == exhaustive_beam(model, {}, width, 6));
  }
}

TEST_CASE("a beam with room for every sequence finds the most probable of all") {
  const Model model = table_with_ties(5, 3, 2);
  constexpr int length = 4;
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> scratch;
  for (const std::vector<Token>& sequence : all_contexts(3, length)) {
    double score = 0;
    for (std::size_t i = 0; i < sequence.size(); ++i)
      score += std::log(model.next(std::span(sequence).first(i), scratch)[sequence[i]]);
    best = std::max(best, score);
  }
  CHECK(plain_beam_search(model, {}, 81, length).beam.front().score == best);
}

TEST_CASE("speculative beams are plain beams: tables with zeros and ties") {
  const Comparison comparison = compare_on_tables(BeamAcceptance::contained);
  CHECK(comparison.searches == 24 * 4 * 3 * 5);
  CHECK(comparison.identical == comparison.searches);
}

TEST_CASE("a planted fault, accepting a step for its best sequence alone, changes beams") {
  const Comparison comparison = compare_on_tables(BeamAcceptance::fault_best_contained);
  // 864 of the searches have width >= 2 and gamma >= 1, and can differ.
  CHECK(comparison.searches - comparison.identical > 50);
}

TEST_CASE("speculative beams are plain beams: n-grams of a small text") {
  const std::vector<Token> text = random_tokens(11, 4000, 30);
  const Model target(std::make_shared<const NgramModel>(train_kneser_ney(text, 30, 4)));
  const Model draft(std::make_shared<const NgramModel>(train_kneser_ney(text, 30, 2)));
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  for (std::size_t place = 0; place < 12; ++place) {
    const std::span prompt = std::span(text).subspan(place * 100, 5);
    for (std::size_t width = 1; width <= 4; ++width) {
      const BeamSearch plain = plain_beam_search(target, prompt, width, 12);
      for (const std::size_t draft_width : {width, 2 * width, 6 * width}) {
        for (std::int32_t gamma = 0; gamma <= 4; ++gamma) {
          const BeamSearch speculative =
              speculative_beam_search(target, draft, prompt, width, draft_width, gamma, 12);
          CHECK(speculative.beam == plain.beam);
          check_counts(speculative, width, draft_width, gamma, 12);
          accepted += speculative.tally.accepted;
          rejected += speculative.tally.examined - speculative.tally.accepted;
        }
      }
    }
  }
  // Both kinds of step occurred.
  CHECK(accepted > 100);
  CHECK(rejected > 100);
}

TEST_CASE("without a draft, or with drafts that are never right, the search is the plain one") {
  const Model target(TableModel(4, 0, {4, 3, 2, 1}));
  const BeamSearch plain = plain_beam_search(target, {}, 3, 9);
  CHECK(speculative_beam_search(target, target, {}, 3, 5, 0, 9) == plain);
  // This draft never proposes token 0.
  const Model wrong(TableModel(4, 0, {0, 0, 1, 1}));
  const BeamSearch search = speculative_beam_search(target, wrong, {}, 3, 3, 2, 9);
  CHECK(search.beam == plain.beam);
  CHECK(search.tally.accepted == 0);
  CHECK(search.tally.rounds == 9);
  // The first guess ends a round; the last round, of one step, drafts nothing.
  CHECK(search.tally.examined == 8);
  CHECK(search.tally.drafted == 7 * 2 + 1);
}

TEST_CASE("a perfect draft of the target's width has every step accepted: the count formulas") {
  const Model target = disturbed(Model(TableModel(5, 0, {5, 4, 3, 2, 1})), 3, 0.3);
  for (const std::uint64_t width : {1U, 2U, 4U}) {
    for (const std::int32_t gamma : {1, 2, 4}) {
      const auto drafted = static_cast<std::uint64_t>(gamma);
      const std::uint64_t rounds = 6;
      const auto length = static_cast<std::uint32_t>(rounds * (drafted + 1));
      const BeamSearch search = speculative_beam_search(target, target, {}, width, width, gamma, length);
      CHECK(search.tally.rounds == rounds);
      CHECK(search.tally.accepted == rounds * drafted);
      CHECK(search.tally.accepted == search.tally.drafted);
      // A run has w + u gamma rows, except for the prompt, which is one sequence.
      CHECK(search.target_rows == rounds * (width + width * drafted) - (width - 1));
      CHECK(search.draft_rows == rounds * (width + width * (drafted - 1)) - (width - 1));
      const BeamSearch plain = plain_beam_search(target, {}, width, length);
      CHECK(plain.target_rows == width * length - (width - 1));
      CHECK(plain.tally.rounds == length);
    }
  }
}

TEST_CASE("a wider perfect draft can be rejected: its extra sequences outrank the target's") {
  // After 0 the target's best is 1, which has many followers; 2 is second and has a certain follower.
  const Model target(TableModel(5, 1, {0,   0.6, 0.4,  0,    0,     //
                                       0.3, 0.3, 0.2,  0.1,  0.1,   //
                                       0,   0,   0.02, 0.49, 0.49,  //
                                       1,   0,   0,    0,    0,     //
                                       1,   0,   0,    0,    0}));
  const std::vector<Token> prompt{0};
  const BeamSearch exact = speculative_beam_search(target, target, prompt, 1, 1, 2, 3);
  CHECK(exact.tally.accepted == 2);
  // D_1 = {1, 2}, and D_2 = {23, 24} with .196 each, against B_2 = {10} with .18.
  const BeamSearch wide = speculative_beam_search(target, target, prompt, 1, 2, 2, 3);
  CHECK(wide.tally.rounds == 2);
  CHECK(wide.tally.accepted == 1);
  CHECK(wide.beam == exact.beam);
}

TEST_CASE("the last round drafts only what is left") {
  const Model target(TableModel(3, 0, {3, 2, 1}));
  const BeamSearch search = speculative_beam_search(target, target, {}, 2, 2, 4, 7);
  CHECK(search.tally.rounds == 2);
  CHECK(search.tally.drafted == 4 + 1);
  CHECK(search.tally.emitted == 7);
  CHECK(search.beam.front().tokens.size() == 7);
}

TEST_CASE("damaged rows are refused, whichever model has them") {
  const Model sound(TableModel(2, 0, {1, 1}));
  // (1 - inf) * p + inf * q gives a row of NaN or infinity.
  const Model invalid(MixtureModel{sound, sound, std::numeric_limits<double>::infinity()});
  CHECK_THROWS_AS(plain_beam_search(invalid, {}, 2, 3), ModelError);
  CHECK_THROWS_AS(speculative_beam_search(invalid, sound, {}, 2, 2, 2, 3), ModelError);
  CHECK_THROWS_AS(speculative_beam_search(sound, invalid, {}, 2, 2, 2, 3), ModelError);
}
