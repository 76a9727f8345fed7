// Tests rounds of a recorded text against enumeration in fractions: the joint distribution of text and round
// lengths for a pair of Markov chains.
#include "analysis/recorded/expected_rounds.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "analysis/exact/rational.hpp"
#include "analysis/exact/round_distribution.hpp"
#include "core/rules/block.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/token.hpp"
#include "tests/analysis/recorded/round_starts.hpp"

using namespace speclab;

namespace {

using Q = Rational;
using Table = ExactTable<Q>;

const Table target({{Q(1, 2), Q(1, 3), Q(1, 6)}, {Q(1, 5), Q(1, 5), Q(3, 5)}, {Q(1, 7), Q(4, 7), Q(2, 7)}});
const Table draft({{Q(1, 4), Q(1, 4), Q(1, 2)}, {Q(2, 5), Q(1, 5), Q(2, 5)}, {Q(1, 3), Q(1, 3), Q(1, 3)}});

using Lengths = std::vector<std::size_t>;

using JointLaw = std::map<std::pair<std::vector<Token>, Lengths>, Q>;

/// Returns P(text of `length` tokens, and the lengths of the rounds that emit it); the last round is cut at
/// the end of the text. Each round is enumerated once for each last token, since its distribution depends
/// only on that.
template <class Rule>
JointLaw joint_law(const Rule& rule, std::int32_t gamma, std::size_t length) {
  std::map<std::vector<Token>, SequenceDistribution<Q>> rounds;
  JointLaw law;
  JointLaw open{{{{}, {}}, Q(1)}};
  while (!open.empty()) {
    JointLaw longer;
    for (const auto& [seen, probability] : open) {
      const auto& [text, lengths] = seen;
      const std::vector<Token> last(text.end() - (text.empty() ? 0 : 1), text.end());
      if (!rounds.contains(last)) {
        rounds[last] = round_distribution<Q>(target, draft, rule, gamma, last).emitted;
      }
      for (const auto& [emitted, share] : rounds[last]) {
        auto next = seen;
        next.first.insert(next.first.end(), emitted.begin(), emitted.end());
        next.first.resize(std::min(length, next.first.size()));
        next.second.push_back(next.first.size() - text.size());
        (next.first.size() < length ? longer : law)[next] += probability * share;
      }
    }
    open = std::move(longer);
  }
  return law;
}

Q row_value(const Table& table, const std::vector<Token>& text, std::size_t position) {
  std::vector<Q> storage;
  return table.next(std::span(text).first(position), storage)[text[position]];
}

/// Returns the expected rounds of each text, from the joint distribution.
std::map<std::vector<Token>, Q> expected_by_text(
    const std::map<std::pair<std::vector<Token>, Lengths>, Q>& law) {
  std::map<std::vector<Token>, Q> rounds;
  std::map<std::vector<Token>, Q> mass;
  for (const auto& [seen, probability] : law) {
    rounds[seen.first] += probability * Q(static_cast<std::int64_t>(seen.second.size()));
    mass[seen.first] += probability;
  }
  for (auto& [text, value] : rounds) value /= mass[text];
  return rounds;
}

Q ratio_at(const std::vector<Token>& text, std::size_t position) {
  return row_value(draft, text, position) / row_value(target, text, position);
}

template <class Survival>
Q rounds_from_columns(std::size_t length, int gamma, const Survival& survival) {
  Q sum;
  for (const Q& start : round_starts<Q>(length, static_cast<std::size_t>(gamma), survival)) sum += start;
  return sum;
}

/// Returns whether the two log-probabilities per token of every text determine its expected rounds, to the
/// last digit.
template <class Rule, class Survival>
bool columns_suffice(const Rule& rule, int gamma, std::size_t length, const Survival& survival_of) {
  for (const auto& [text, rounds] : expected_by_text(joint_law(rule, gamma, length))) {
    if (!(rounds_from_columns(length, gamma, survival_of(text)) == rounds)) return false;
  }
  return true;
}

const auto token_from_columns = [](const std::vector<Token>& text) {
  return token_survival<Q>([text](std::size_t, std::size_t position) {
    const Q ratio = ratio_at(text, position);
    return ratio < Q(1) ? ratio : Q(1);
  });
};
const auto block_from_columns = [](const std::vector<Token>& text) {
  return block_survival<Q>([text](std::size_t position) { return ratio_at(text, position); });
};

/// Returns the recording of these texts of the chains.
Recording recorded(const std::vector<std::vector<Token>>& texts) {
  Recording recording;
  recording.draft.resize(1);
  for (const auto& text : texts) {
    recording.sequences.push_back({"", "", recording.size(), text.size()});
    for (std::size_t i = 0; i < text.size(); ++i) {
      recording.target.push_back(std::log(static_cast<double>(row_value(target, text, i))));
      recording.draft[0].push_back(std::log(static_cast<double>(row_value(draft, text, i))));
    }
  }
  return recording;
}

std::vector<Token> some_text(std::size_t length, std::uint32_t seed) {
  std::vector<Token> text;
  for (std::size_t i = 0; i < length; ++i) {
    seed = seed * 1664525U + 1013904223U;
    text.push_back(static_cast<Token>((seed >> 16U) % 3));
  }
  return text;
}

}  // namespace

TEST_CASE("token verification: expected rounds of every text follow from two columns, exactly") {
  for (const int gamma : {1, 2, 3, 4, 5}) {
    CAPTURE(gamma);
    CHECK(columns_suffice(TokenRule{}, gamma, 6, token_from_columns));
  }
}

TEST_CASE("token verification: so does the law of texts and round lengths") {
  const std::size_t length = 4;
  for (const auto& [seen, probability] : joint_law(TokenRule{}, 2, length)) {
    const auto& [text, lengths] = seen;
    Q wanted(1);
    for (std::size_t i = 0; i < length; ++i) wanted *= row_value(target, text, i);
    const auto survival = token_from_columns(text);
    std::size_t start = 0;
    for (const std::size_t one : lengths) {
      const bool to_the_end = start + one == length;
      // A round that reaches the end of the text emitted at least the rest of it.
      if (to_the_end) {
        wanted *= survival(start, one - 1);
      } else {
        wanted *= one <= 2 ? survival(start, one - 1) - survival(start, one) : survival(start, 2);
      }
      start += one;
    }
    CHECK(wanted == probability);
  }
}

TEST_CASE("block verification: its rounds follow from two columns too, but not by the token rule's formula") {
  for (const int gamma : {1, 2, 3, 4}) {
    CAPTURE(gamma);
    CHECK(columns_suffice(BlockRule{}, gamma, 5, block_from_columns));
    CHECK(columns_suffice(BlockRule{}, gamma, 5, token_from_columns) == (gamma == 1));
  }
}

TEST_CASE("lenient rules emit another law: the formula does not hold of them") {
  const LenienceRule lenient(0.5);
  CHECK_FALSE(columns_suffice(lenient, 2, 4, token_from_columns));
}

TEST_CASE("all gammas at once are the definition, for sequences of any length") {
  std::vector<std::vector<Token>> texts;
  for (const std::size_t length : {1, 2, 3, 7, 40, 100}) {
    texts.push_back(some_text(length, static_cast<std::uint32_t>(length)));
  }
  const Recording recording = recorded(texts);
  constexpr std::size_t most = 20;
  for (const RecordedRule rule : {RecordedRule::token, RecordedRule::block}) {
    const auto all = expected_rounds(recording, sequence_stretches(recording), most, rule);
    const std::vector<double> keep = keep_probabilities(recording);
    for (std::size_t gamma = 1; gamma <= most; ++gamma) {
      for (std::size_t s = 0; s < texts.size(); ++s) {
        const std::size_t first = recording.sequences[s].first;
        const auto token =
            token_survival<double>([&](std::size_t, std::size_t i) { return keep[first + i]; });
        const auto block = block_survival<double>([&](std::size_t i) {
          return std::exp(recording.draft[0][first + i] - recording.target[first + i]);
        });
        const auto starts = rule == RecordedRule::token ? round_starts<double>(texts[s].size(), gamma, token)
                                                        : round_starts<double>(texts[s].size(), gamma, block);
        const double rounds = std::accumulate(starts.begin(), starts.end(), 0.0);
        CHECK(all[gamma - 1].rounds[s] == doctest::Approx(rounds).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("rounds are counted where they start, in any stretches") {
  const Recording recording = recorded({some_text(50, 1), some_text(30, 2)});
  const auto whole = expected_rounds(recording, sequence_stretches(recording), 6);
  const std::vector<Stretch> pieces{{0, 7}, {7, 50}, {50, 51}, {51, 80}};
  const auto cut = expected_rounds(recording, pieces, 6);
  for (std::size_t g = 0; g < 6; ++g) {
    CHECK(cut[g].rounds[0] + cut[g].rounds[1] == doctest::Approx(whole[g].rounds[0]));
    CHECK(cut[g].rounds[2] + cut[g].rounds[3] == doctest::Approx(whole[g].rounds[1]));
    CHECK(cut[g].rounds[2] == doctest::Approx(1));
  }
}

TEST_CASE("whole rounds of coins of one probability have the closed form's length") {
  // The length is that of Equation 1 of Leviathan et al. 2023, whatever the length of the text: no round is
  // cut off.
  const double alpha = 0.8;
  Recording recording;
  recording.target.assign(40, std::log(0.5));
  recording.draft.assign(1, std::vector<double>(40, std::log(0.5 * alpha)));
  recording.sequences = {{"", "", 0, 30}, {"", "", 30, 10}};
  const auto all = expected_rounds(recording, sequence_stretches(recording), 9);
  for (int gamma = 1; gamma <= 9; ++gamma) {
    const GammaRounds& one = all[static_cast<std::size_t>(gamma) - 1];
    CHECK(one.whole_tokens / one.whole_rounds ==
          doctest::Approx((1 - std::pow(alpha, gamma + 1)) / (1 - alpha)).epsilon(1e-12));
  }
}

TEST_CASE("columns by depth are used at their depth") {
  Recording recording = recorded({some_text(40, 5)});
  recording.draft.push_back(recording.draft[0]);
  recording.draft.push_back(recording.draft[0]);
  const auto same = expected_rounds(recording, sequence_stretches(recording), 3);
  Recording one = recording;
  one.draft.resize(1);
  const auto plain = expected_rounds(one, sequence_stretches(one), 3);
  for (std::size_t g = 0; g < 3; ++g) CHECK(same[g].rounds[0] == doctest::Approx(plain[g].rounds[0]));
  // A second depth that is never accepted makes every gamma decode like gamma 1.
  for (double& value : recording.draft[1]) value = -INFINITY;
  const auto stopped = expected_rounds(recording, sequence_stretches(recording), 3);
  CHECK(stopped[2].rounds[0] == doctest::Approx(stopped[0].rounds[0]).epsilon(0.1));
  CHECK(stopped[2].rounds[0] > plain[2].rounds[0] + 1);
}

TEST_CASE("acceptance by position") {
  const Recording recording = recorded({some_text(400, 9)});
  const auto positions = accepted_by_position(recording, 4);
  for (std::size_t i = 1; i < 4; ++i) CHECK(positions[i].all < positions[i - 1].all);
  // The tokens of a round are 1 and the accepted ones, except for rounds at the end.
  const auto all = expected_rounds(recording, sequence_stretches(recording), 4);
  double tokens = 1;
  for (const AcceptedPosition& position : positions) tokens += position.all;
  CHECK(tokens == doctest::Approx(all[3].whole_tokens / all[3].whole_rounds).epsilon(0.01));
}

TEST_CASE("acceptance of a position, given those before, is of the rounds that have the position") {
  // Everything in the first text is kept, nothing in the second: its last round has a first position and no
  // second one.
  Recording recording;
  recording.draft.resize(1);
  for (const auto& [logq, count] : {std::pair<double, std::size_t>{-1, 6}, {-INFINITY, 3}}) {
    recording.sequences.push_back({std::to_string(count), "", recording.size(), count});
    recording.target.insert(recording.target.end(), count, -1.0);
    recording.draft[0].insert(recording.draft[0].end(), count, logq);
  }
  // With two drafted tokens, the first text has two rounds and the second three, the last of which drafts one
  // token.
  const auto positions = accepted_by_position(recording, 2);
  CHECK(positions[0].all == doctest::Approx(2.0 / 5));
  CHECK(positions[1].all == doctest::Approx(2.0 / 4));
  CHECK(positions[1].given_before == doctest::Approx(1));
  CHECK(positions[0].given_before == positions[0].all);
}
