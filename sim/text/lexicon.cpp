#include "sim/text/lexicon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/stop.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// The data about the pairs that stays the same from one iteration to the next. A cell is a source token (or
/// NULL, which comes after them) with a target token of the same pair; the targets of one source token are
/// consecutive.
class Cells {
 public:
  Cells(std::span<const SentencePair> pairs, std::int32_t vocab) : pairs_(pairs), vocab_(vocab) {
    std::size_t cells = 0;
    std::vector<std::size_t> occurrences(sources() + 1);
    for (const SentencePair& pair : pairs) {
      for (const Token token : pair.source) ++occurrences[index(token) + 1];
      ++occurrences[sources()];
      starts_.push_back(cells);
      cells += (pair.source.size() + 1) * pair.target.size();
    }
    for (std::size_t i = 1; i < occurrences.size(); ++i) occurrences[i] += occurrences[i - 1];
    first_place_ = occurrences;
    places_.resize(occurrences.back());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      std::size_t start = starts_[p];
      for (std::size_t i = 0; i <= pairs[p].source.size(); ++i, start += pairs[p].target.size()) {
        const std::size_t source = i < pairs[p].source.size() ? index(pairs[p].source[i]) : null();
        places_[occurrences[source]++] = {p, start};
      }
    }
    entries_.resize(cells);
    list_entries();
  }

  std::size_t sources() const { return static_cast<std::size_t>(vocab_) + 1; }
  std::size_t null() const { return static_cast<std::size_t>(vocab_); }
  const std::vector<std::uint32_t>& first_entry() const { return first_entry_; }
  const std::vector<Token>& targets() const { return targets_; }

  /// Calls visit(p, start) for each place of a source word: its pair, and the first of its cells.
  template <class Visit>
  void for_each_place(std::size_t source, const Visit& visit) const {
    for (std::size_t i = first_place_[source]; i < first_place_[source + 1]; ++i)
      visit(places_[i].pair, places_[i].start);
  }
  std::size_t start(std::size_t pair) const { return starts_[pair]; }
  std::uint32_t entry(std::size_t cell) const { return entries_[cell]; }

  /// Calls body(source, scratch) for every source word, in parallel. `scratch` holds a zero for each word of
  /// the vocabulary; the body must restore the zeros.
  template <class Body>
  void for_each_source(const Body& body) const {
    const std::size_t strides = std::min<std::size_t>(sources(), 128);
    for_each_index(strides, [&](std::size_t stride) {
      std::vector<std::uint32_t> scratch(static_cast<std::size_t>(vocab_));
      // Sources are processed from the last to the first, since NULL takes longest.
      for (std::size_t i = stride; i < sources(); i += strides) body(sources() - 1 - i, scratch);
    });
  }

 private:
  struct Place {
    std::size_t pair;
    std::size_t start;
  };

  static std::size_t index(Token token) { return static_cast<std::size_t>(token); }

  void list_entries() {
    std::vector<std::vector<Token>> lists(sources());
    for_each_source([&](std::size_t source, std::vector<std::uint32_t>& seen) {
      for_each_place(source, [&](std::size_t p, std::size_t) {
        for (const Token target : pairs_[p].target) {
          if (seen[index(target)]++ == 0) lists[source].push_back(target);
        }
      });
      std::sort(lists[source].begin(), lists[source].end());
      for (const Token target : lists[source]) seen[index(target)] = 0;
    });
    first_entry_.assign(1, 0);
    for (const std::vector<Token>& list : lists) {
      targets_.insert(targets_.end(), list.begin(), list.end());
      first_entry_.push_back(static_cast<std::uint32_t>(targets_.size()));
    }
    for_each_source([&](std::size_t source, std::vector<std::uint32_t>& position) {
      for (std::uint32_t entry = first_entry_[source]; entry < first_entry_[source + 1]; ++entry)
        position[index(targets_[entry])] = entry;
      for_each_place(source, [&](std::size_t p, std::size_t start) {
        for (std::size_t j = 0; j < pairs_[p].target.size(); ++j)
          entries_[start + j] = position[index(pairs_[p].target[j])];
      });
      for (const Token target : lists[source]) position[index(target)] = 0;
    });
  }

  std::span<const SentencePair> pairs_;
  std::int32_t vocab_;
  std::vector<std::size_t> starts_;  // first cell of each pair
  std::vector<std::size_t> first_place_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> entries_;      // entry of each cell
  std::vector<std::uint32_t> first_entry_;  // first entry of each source word
  std::vector<Token> targets_;              // target of each entry
};

/// Sets sums[p][j] to the sum over the source tokens i of pair p of t(target j | source i). Returns the
/// log-likelihood.
double add_up(std::span<const SentencePair> pairs, const Cells& cells, std::span<const double> table,
              std::vector<std::vector<double>>& sums) {
  std::vector<double> logs(pairs.size());
  for_each_index(pairs.size(), [&](std::size_t p) {
    const std::size_t length = pairs[p].target.size();
    sums[p].assign(length, 0.0);
    std::size_t cell = cells.start(p);
    end_if_stopped();
    for (std::size_t i = 0; i <= pairs[p].source.size(); ++i) {
      for (std::size_t j = 0; j < length; ++j) sums[p][j] += table[cells.entry(cell++)];
    }
    for (const double sum : sums[p])
      logs[p] += std::log(sum / static_cast<double>(pairs[p].source.size() + 1));
  });
  double total = 0;
  for (const double log : logs) total += log;
  return total;
}

Lexicon pruned(const Cells& cells, std::span<const double> table, double least) {
  std::vector<std::uint32_t> first{0};
  std::vector<Token> targets;
  std::vector<double> probabilities;
  for (std::size_t source = 0; source < cells.sources(); ++source) {
    const std::uint32_t begin = cells.first_entry()[source];
    const std::uint32_t end = cells.first_entry()[source + 1];
    const double largest = begin == end ? 0 : *std::max_element(table.begin() + begin, table.begin() + end);
    double retained = 0;
    for (std::uint32_t entry = begin; entry < end; ++entry) {
      if (table[entry] < std::min(least, largest)) continue;
      targets.push_back(cells.targets()[entry]);
      probabilities.push_back(table[entry]);
      retained += table[entry];
    }
    for (std::size_t i = first.back(); i < probabilities.size(); ++i) probabilities[i] /= retained;
    first.push_back(static_cast<std::uint32_t>(targets.size()));
  }
  return {std::move(first), std::move(targets), std::move(probabilities)};
}

}  // namespace

Lexicon::Lexicon(std::vector<std::uint32_t> first, std::vector<Token> targets,
                 std::vector<double> probabilities)
    : first_(std::move(first)), targets_(std::move(targets)), probabilities_(std::move(probabilities)) {
  assert(first_.size() >= 2 && first_.back() == targets_.size() && targets_.size() == probabilities_.size());
}

double Lexicon::probability(Token source, Token target) const {
  const std::span<const Token> known = targets(source);
  const auto found = std::lower_bound(known.begin(), known.end(), target);
  if (found == known.end() || *found != target) return 0;
  return probabilities(source)[static_cast<std::size_t>(found - known.begin())];
}

FittedLexicon fit_lexicon(std::span<const SentencePair> pairs, std::int32_t vocab, int iterations,
                          double least) {
  for (const SentencePair& pair : pairs) {
    for (const std::vector<Token>* side : {&pair.source, &pair.target}) {
      for (const Token token : *side) {
        if (token < 0 || token >= vocab)
          throw ModelError(fmt::format("token {} is not below the vocabulary of {}", token, vocab));
      }
    }
  }
  const Cells cells(pairs, vocab);
  std::vector<double> table(cells.targets().size());
  for (std::size_t source = 0; source < cells.sources(); ++source) {
    const std::uint32_t begin = cells.first_entry()[source];
    const std::uint32_t end = cells.first_entry()[source + 1];
    std::fill(table.begin() + begin, table.begin() + end, 1.0 / (end - begin));
  }
  std::vector<std::vector<double>> sums(pairs.size());
  std::vector<double> log_likelihoods;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    end_if_stopped();
    log_likelihoods.push_back(add_up(pairs, cells, table, sums));
    // Expected counts are added source word by source word, each in the order of the pairs, so that the
    // number of threads does not matter.
    std::vector<double> counts(table.size());
    cells.for_each_source([&](std::size_t source, std::vector<std::uint32_t>&) {
      cells.for_each_place(source, [&](std::size_t p, std::size_t start) {
        for (std::size_t j = 0; j < sums[p].size(); ++j) {
          const std::uint32_t entry = cells.entry(start + j);
          counts[entry] += table[entry] / sums[p][j];
        }
      });
      double total = 0;
      const std::uint32_t begin = cells.first_entry()[source];
      const std::uint32_t end = cells.first_entry()[source + 1];
      for (std::uint32_t entry = begin; entry < end; ++entry) total += counts[entry];
      for (std::uint32_t entry = begin; entry < end; ++entry) counts[entry] /= total;
    });
    table = std::move(counts);
  }
  log_likelihoods.push_back(add_up(pairs, cells, table, sums));
  return {pruned(cells, table, least), std::move(log_likelihoods)};
}

}  // namespace speclab
