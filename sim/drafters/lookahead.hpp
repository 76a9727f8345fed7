// Lookahead decoding (Fu et al. 2024): drafts n-grams that the target itself produced by Jacobi iteration
// ahead of the text.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/random/philox.hpp"
#include "core/round/round.hpp"
#include "sim/drafters/point_rows.hpp"
#include "sim/error.hpp"

namespace speclab {

struct LookaheadOptions {
  std::int32_t window = 8;       ///< W: columns
  std::int32_t ngram = 4;        ///< N: tokens of an n-gram in the pool
  std::int32_t candidates = 15;  ///< G: n-grams kept for each first token
  std::uint64_t seed = 0;        ///< seed of the positions from which initial guesses are copied
};

/// Guesses g[k][j] form N - 1 levels of W columns. With n context tokens (prompt and emitted), numbered from
/// 0, g[k][j] is a guess of token n - 1 + k + j; g[0][0] is set to the last context token. Each read with new
/// tokens makes one step, a run of the target over all W (N - 1) positions. The row after level N - 2 of
/// column j is the row after the context
///
///     context, g[0][1], ..., g[0][j], g[1][j], ..., g[N-2][j]
///
/// and its argmax is the new token y[j]; the other rows of the run are not used. Each column adds an n-gram
/// to the pool of candidates: g[0][j], ..., g[N-2][j], y[j]. Then every level moves down by one and y becomes
/// the highest: this is Jacobi iteration along diagonals, and ordinary Jacobi iteration for N = 2. If the
/// context grew by e tokens, e - 1 columns leave at the left and new ones enter at the right. New and initial
/// columns hold N - 1 consecutive context tokens from a position that a Philox word addressed by (seed, step,
/// column) picks; shorter texts are repeated.
///
/// The pool keeps, for each first token, the G n-grams added last; adding a present n-gram again makes it the
/// latest. A round drafts, as point masses, the rest of the latest n-gram that starts with the last context
/// token. The original verifies all G candidates at once, as branches of one run. This version verifies one
/// chain, so G does not matter but the order of addition does: a step adds its leftmost column last. Column 0
/// adds nothing if its guess of the last context token was wrong, since levels 1 to N - 2 followed from that
/// guess (for N = 2 there are none, and it is always added).
///
/// Time of read: W rows of the target.
template <LanguageModel<double> Model>
class LookaheadDrafter {
 public:
  struct Memory {
    std::vector<Token> text;     ///< context tokens, during a step followed by guesses
    std::vector<Token> guesses;  ///< g[k][j] at k * W + j; empty before the first step
    std::uint32_t steps = 0;
    /// Candidates by first token: up to G times N - 1 tokens, the latest at the end.
    std::unordered_map<Token, std::vector<Token>> pool;
    std::vector<Token> chain;  ///< the n-gram that this round drafts
  };

  /// Requires window >= 1, ngram >= 2, candidates >= 1.
  explicit LookaheadDrafter(Model model, const LookaheadOptions& options = {})
      : model_(std::move(model)), options_(options), points_(model_.vocab()) {
    assert(options.window >= 1 && options.ngram >= 2 && options.candidates >= 1);
  }

  /// Reads the context and makes a step. Throws ModelError if the target gives a row with NaN.
  void read(Memory& memory, std::span<const Token> context) const {
    assert(context.size() >= memory.text.size());
    const std::size_t grown = context.size() - memory.text.size();
    if (grown == 0) return;
    memory.text.insert(memory.text.end(), context.end() - static_cast<std::ptrdiff_t>(grown), context.end());
    if (memory.guesses.empty()) {
      memory.guesses.resize(window() * levels());
      guess(memory, 0);
    } else {
      guess(memory, move_left(memory, grown - 1));
    }
    const bool guessed = std::exchange(memory.guesses[0], context.back()) == context.back();
    step(memory);
    add_ngrams(memory, guessed || levels() == 1 ? 0 : 1);
    memory.guesses.erase(memory.guesses.begin(), memory.guesses.begin() + options_.window);
  }

  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>&) const {
    if (position == 0) choose(memory, context);
    const auto at = static_cast<std::size_t>(position);
    return at < memory.chain.size() ? points_[memory.chain[at]] : Row{};
  }

  /// Returns 1 for the step of each round, whether or not it proposes: the target runs over W (N - 1) more
  /// positions, usually together with verification. c is the time that this adds.
  std::int32_t runs(std::int32_t) const { return 1; }

 private:
  std::size_t window() const { return static_cast<std::size_t>(options_.window); }
  std::size_t levels() const { return static_cast<std::size_t>(options_.ngram) - 1; }

  /// Drops `columns` columns; returns how many are left.
  std::size_t move_left(Memory& memory, std::size_t columns) const {
    const std::size_t gone = std::min(columns, window());
    for (std::size_t level = 0; level < levels(); ++level) {
      const auto row = memory.guesses.begin() + static_cast<std::ptrdiff_t>(level * window());
      std::copy(row + static_cast<std::ptrdiff_t>(gone), row + options_.window, row);
    }
    return window() - gone;
  }

  /// Fills the columns from `first` on.
  void guess(Memory& memory, std::size_t first) const {
    const std::size_t size = memory.text.size();
    const std::size_t places = size > levels() ? size - levels() + 1 : 1;
    for (std::size_t column = first; column < window(); ++column) {
      const Draw draw{Use::world, 0, static_cast<std::uint32_t>(column)};
      const std::uint64_t place = Philox(options_.seed, Site{0, memory.steps, draw})() % places;
      for (std::size_t level = 0; level < levels(); ++level)
        memory.guesses[level * window() + column] = memory.text[(place + level) % size];
    }
  }

  /// Computes the new tokens and makes them the highest level.
  void step(Memory& memory) const {
    const std::size_t settled = memory.text.size();
    std::vector<Token>& text = memory.text;
    std::vector<double> scratch;
    for (std::size_t column = 0; column < window(); ++column) {
      if (column > 0) text.push_back(memory.guesses[column]);
      for (std::size_t level = 1; level < levels(); ++level)
        text.push_back(memory.guesses[level * window() + column]);
      const Token token = argmax(model_.next(text, scratch));
      if (token < 0) throw ModelError("a model produced a row that holds NaN");
      memory.guesses.push_back(token);
      text.resize(settled + column);
    }
    text.resize(settled);
    ++memory.steps;
  }

  void add_ngrams(Memory& memory, std::size_t first_column) const {
    std::vector<Token> rest(levels());
    for (std::size_t column = window(); column-- > first_column;) {
      for (std::size_t i = 0; i < levels(); ++i) rest[i] = memory.guesses[(i + 1) * window() + column];
      add(memory, memory.guesses[column], rest);
    }
  }

  void add(Memory& memory, Token first, std::span<const Token> rest) const {
    std::vector<Token>& known = memory.pool[first];
    const auto length = static_cast<std::ptrdiff_t>(rest.size());
    for (auto at = known.begin(); at != known.end(); at += length) {
      if (!std::equal(rest.begin(), rest.end(), at)) continue;
      std::rotate(at, at + length, known.end());
      return;
    }
    known.insert(known.end(), rest.begin(), rest.end());
    if (known.size() > static_cast<std::size_t>(options_.candidates) * rest.size())
      known.erase(known.begin(), known.begin() + length);
  }

  void choose(Memory& memory, std::span<const Token> settled) const {
    memory.chain.clear();
    if (settled.empty()) return;
    const auto found = memory.pool.find(settled.back());
    if (found == memory.pool.end()) return;
    memory.chain.assign(found->second.end() - static_cast<std::ptrdiff_t>(levels()), found->second.end());
  }

  Model model_;
  LookaheadOptions options_;
  PointRows points_;
};

}  // namespace speclab
