#include "sim/beam_search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/stop.hpp"
#include "sim/decode.hpp"

namespace speclab {

namespace {

struct Continuation {
  double probability;
  Token token;
};

bool larger(const Continuation& a, const Continuation& b) {
  return a.probability > b.probability || (a.probability == b.probability && a.token < b.token);
}

/// Finds the `count` largest positive probabilities, in order, lower ids first among equals. Most ids cost
/// one comparison.
void find_largest(Row row, std::size_t count, std::vector<Continuation>& largest) {
  largest.clear();
  double enough = 0;  // a probability must exceed it: of equal ones the lower id, met first, stays
  for (Token id = 0; id < row.size; ++id) {
    if (!(row[id] > enough)) continue;
    const Continuation choice{row[id], id};
    if (largest.size() == count) largest.pop_back();
    largest.insert(std::ranges::upper_bound(largest, choice, larger), choice);
    if (largest.size() == count) enough = largest.back().probability;
  }
}

struct Extension {
  double score;
  std::size_t parent;
  Continuation choice;
};

bool better(const Extension& a, const Extension& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.parent != b.parent ? a.parent < b.parent : larger(a.choice, b.choice);
}

void refuse_invalid(Row row) {
  const double total = total_probability(row);
  if (!(total > 0) || std::isinf(total)) throw_invalid_row();
}

bool holds(const Beam& beam, const Hypothesis& wanted) {
  return std::ranges::any_of(beam, [&](const Hypothesis& member) { return member.tokens == wanted.tokens; });
}

/// Returns the part of the target's beam that the search continues from: all of it, or nothing if the step is
/// rejected.
Beam accepted_part(Beam beam, const Beam& drafted, BeamAcceptance acceptance) {
  if (acceptance == BeamAcceptance::fault_best_contained) {
    if (!holds(drafted, beam.front())) return {};
    std::erase_if(beam, [&](const Hypothesis& member) { return !holds(drafted, member); });
    return beam;
  }
  const bool contained =
      std::ranges::all_of(beam, [&](const Hypothesis& member) { return holds(drafted, member); });
  return contained ? beam : Beam{};
}

Beam start_from(std::span<const Token> prompt) { return {{{prompt.begin(), prompt.end()}, 0.0}}; }

}  // namespace

Beam extended(const Model& model, const Beam& beam, std::size_t width) {
  std::vector<double> scratch;
  std::vector<Continuation> largest;
  std::vector<Extension> extensions;
  for (std::size_t parent = 0; parent < beam.size(); ++parent) {
    end_if_stopped();
    const Row row = model.next(beam[parent].tokens, scratch);
    refuse_invalid(row);
    // Extensions of one parent are ordered by probability, so at most `width` of them can be chosen.
    find_largest(row, width, largest);
    for (const Continuation& choice : largest)
      extensions.push_back({beam[parent].score + std::log(choice.probability), parent, choice});
  }
  const std::size_t retained = std::min(width, extensions.size());
  const auto end = extensions.begin() + static_cast<std::ptrdiff_t>(retained);
  std::partial_sort(extensions.begin(), end, extensions.end(), better);
  Beam next;
  next.reserve(retained);
  for (auto it = extensions.begin(); it != end; ++it) {
    Hypothesis& child = next.emplace_back();
    child.tokens.reserve(beam[it->parent].tokens.size() + 1);
    child.tokens = beam[it->parent].tokens;
    child.tokens.push_back(it->choice.token);
    child.score = it->score;
  }
  return next;
}

BeamSearch plain_beam_search(const Model& target, std::span<const Token> prompt, std::size_t width,
                             std::uint32_t length) {
  assert(width >= 1);
  BeamSearch search;
  search.beam = start_from(prompt);
  for (std::uint32_t step = 0; step < length; ++step) {
    search.target_rows += search.beam.size();
    search.beam = extended(target, search.beam, width);
    search.tally.add_round(Round{0, 0, 0, 0, no_token});
  }
  return search;
}

BeamSearch speculative_beam_search(const Model& target, const Model& draft, std::span<const Token> prompt,
                                   std::size_t width, std::size_t draft_width, std::int32_t gamma,
                                   std::uint32_t length, BeamAcceptance acceptance) {
  assert(1 <= width && width <= draft_width && gamma >= 0 && target.vocab() == draft.vocab());
  BeamSearch search;
  search.beam = start_from(prompt);
  std::vector<Beam> drafted;
  while (search.tally.emitted < length) {
    // The target's run gives one step more than drafted.
    const auto left = static_cast<std::int64_t>(length - search.tally.emitted);
    const auto guesses = static_cast<std::int32_t>(std::min<std::int64_t>(gamma, left - 1));
    drafted.clear();
    search.target_rows += search.beam.size();
    for (std::int32_t i = 0; i < guesses; ++i) {
      const Beam& from = drafted.empty() ? search.beam : drafted.back();
      search.draft_rows += from.size();
      Beam next = extended(draft, from, draft_width);
      search.target_rows += next.size();
      drafted.push_back(std::move(next));
    }
    std::int32_t accepted = 0;
    search.beam = extended(target, search.beam, width);
    for (const Beam& guess : drafted) {
      const Beam known = accepted_part(search.beam, guess, acceptance);
      if (known.empty()) break;
      ++accepted;
      search.beam = extended(target, known, width);
    }
    search.tally.add_round(Round{guesses, guesses, std::min(accepted + 1, guesses), accepted, no_token});
  }
  return search;
}

}  // namespace speclab
