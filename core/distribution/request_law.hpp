// Applies the sampling options of a request (request_options.hpp) to a row, in an engine's order. With
// penalties, a minimal length or a grammar a row depends on all tokens before it. Host only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/distribution/request_options.hpp"
#include "core/distribution/transforms.hpp"

namespace speclab {

/// The tokens on which a filtered row depends.
struct RequestHistory {
  std::span<const Token> prompt;
  std::span<const Token> emitted;
};

/// Memory of `filter_row`, to be reused for one law.
struct RequestScratch {
  GrammarWalk walk;
  std::vector<double> logits;
  std::vector<double> weights;
  std::vector<Token> order;
  std::vector<std::int32_t> repetition_counts;
  std::vector<std::int32_t> occurrence_counts;
  std::vector<double> first;
};

namespace detail {

inline constexpr double masked = -std::numeric_limits<double>::infinity();

/// Writes how often each token occurred among the last tokens that penalties count.
inline void count_tokens(const RequestLaw& law, const RequestHistory& history, bool with_prompt,
                         std::vector<std::int32_t>& counts) {
  std::size_t left = history.prompt.size() + history.emitted.size();
  if (const auto window = law.counted_window()) left = std::min(left, static_cast<std::size_t>(*window));
  const auto count = [&](std::span<const Token> tokens) {
    const std::span<const Token> last = tokens.last(std::min(left, tokens.size()));
    left -= last.size();
    for (const Token token : last) ++counts[static_cast<std::size_t>(token)];
  };
  count(history.emitted);
  if (with_prompt) count(history.prompt);
}

/// Filters one row of logits in the order of a law.
class RowFilter {
 public:
  RowFilter(const RequestLaw& law, const RequestHistory& history, bool with_grammar, RequestScratch& scratch)
      : law_(law), history_(history), with_grammar_(with_grammar), scratch_(scratch) {
    scratch.repetition_counts.assign(scratch.logits.size(), 0);
    scratch.occurrence_counts.assign(scratch.logits.size(), 0);
    using F = RequestFilter;
    if (!law.applies({F::repetition_penalty, F::frequency_penalty, F::presence_penalty})) return;
    const PenaltyPrompt prompt = law.counted_prompt();
    count_tokens(law, history, prompt != PenaltyPrompt::none, scratch.repetition_counts);
    count_tokens(law, history, prompt == PenaltyPrompt::all, scratch.occurrence_counts);
  }

  void apply(const std::vector<RequestFilter>& group) {
    bool weighed = false;
    for (const RequestFilter filter : group) {
      if (!law_.asks(filter) || changes_logits(filter)) continue;
      if (!weighed) weigh();
      weighed = true;
      truncate(filter);
    }
  }

 private:
  double& logit(Token token) { return scratch_.logits[static_cast<std::size_t>(token)]; }
  void mask(std::span<const Token> tokens) {
    for (const Token token : tokens) logit(token) = masked;
  }

  void mask_grammar(const GrammarState& state) {
    if (state.other) return;
    scratch_.weights.assign(scratch_.logits.begin(), scratch_.logits.end());
    std::fill(scratch_.logits.begin(), scratch_.logits.end(), masked);
    for (const auto& [token, after] : state.next)
      logit(token) = scratch_.weights[static_cast<std::size_t>(token)];
  }

  /// Applies a filter that looks at one token at a time; returns false for the others.
  bool changes_logits(RequestFilter filter) {
    std::vector<double>& logits = scratch_.logits;
    switch (filter) {
      case RequestFilter::repetition_penalty:
        for (std::size_t id = 0; id < logits.size(); ++id) {
          if (scratch_.repetition_counts[id] == 0) continue;
          const double offset = law_.logit_offset.value_or(0);
          const double given = logits[id] + offset;
          logits[id] =
              (given > 0 ? given / law_.repetition_penalty : given * law_.repetition_penalty) - offset;
        }
        return true;
      case RequestFilter::frequency_penalty:
        for (std::size_t id = 0; id < logits.size(); ++id)
          logits[id] -= law_.frequency_penalty * scratch_.occurrence_counts[id];
        return true;
      case RequestFilter::presence_penalty:
        for (std::size_t id = 0; id < logits.size(); ++id)
          if (scratch_.occurrence_counts[id] > 0) logits[id] -= law_.presence_penalty;
        return true;
      case RequestFilter::logit_bias:
        for (const auto& [token, bias] : law_.logit_bias) logit(token) += bias;
        return true;
      case RequestFilter::min_tokens:
        if (history_.emitted.size() < static_cast<std::size_t>(law_.min_tokens)) mask(law_.end_tokens);
        return true;
      case RequestFilter::banned:
        mask(law_.banned);
        return true;
      case RequestFilter::grammar:
        if (with_grammar_) mask_grammar(scratch_.walk.after(law_.grammar, history_.emitted));
        return true;
      case RequestFilter::temperature:
        if (law_.temperature == 0) return false;
        for (double& one : logits) one /= law_.temperature;
        return true;
      default:
        return false;
    }
  }

  /// Writes the probabilities of the current logits, on which top-k, top-p, min-p and argmax decide, and the
  /// ids, the most probable first.
  void weigh() {
    scratch_.weights.resize(scratch_.logits.size());
    softmax(scratch_.logits, 1, scratch_.weights);
    scratch_.order.resize(scratch_.weights.size());
    std::iota(scratch_.order.begin(), scratch_.order.end(), Token{0});
    std::sort(scratch_.order.begin(), scratch_.order.end(), LargerProbability{scratch_.weights});
  }

  void truncate(RequestFilter filter) {
    const std::span<Token> order = scratch_.order;
    const auto probability = [&](Token id) { return scratch_.weights[static_cast<std::size_t>(id)]; };
    const auto weight = [&](std::size_t place) { return probability(order[place]); };
    std::size_t keep = 1;  // temperature 0 keeps the largest
    if (filter == RequestFilter::top_k) {
      keep = std::min(static_cast<std::size_t>(law_.top_k), order.size());
    } else if (filter == RequestFilter::top_p) {
      keep = count_reaching(order.size(), law_.top_p, weight);
    } else if (filter == RequestFilter::min_p) {
      while (keep < order.size() && reaches(weight(keep), law_.min_p * weight(0))) ++keep;
    }
    order_ties(order, keep, probability);
    mask(order.subspan(keep));
  }

  const RequestLaw& law_;
  const RequestHistory& history_;
  const bool with_grammar_;
  RequestScratch& scratch_;
};

inline void filter_once(std::span<double> row, const RequestLaw& law, const RequestHistory& history,
                        bool with_grammar, RequestScratch& scratch) {
  scratch.logits.resize(row.size());
  for (std::size_t id = 0; id < row.size(); ++id) scratch.logits[id] = std::log(row[id]);
  RowFilter filter(law, history, with_grammar, scratch);
  for (const std::vector<RequestFilter>& group : law.groups()) filter.apply(group);
  const double largest = *std::max_element(scratch.logits.begin(), scratch.logits.end());
  if (largest == masked) {
    std::fill(row.begin(), row.end(), 0.0);
  } else {
    softmax(scratch.logits, 1, row);
  }
}

}  // namespace detail

/// Applies a request's options to a row of probabilities in place. A row with a NaN stays as it is. If the
/// filters mask every token, the row becomes 0. Sampling then reports the row.
inline void filter_row(std::span<double> row, const RequestLaw& law, const RequestHistory& history,
                       RequestScratch& scratch) {
  const Row given{row.data(), static_cast<std::int32_t>(row.size())};
  if (row.empty() || std::isnan(total_probability(given))) return;
  if (!law.grammar_second()) {
    detail::filter_once(row, law, history, true, scratch);
    return;
  }
  // The first draw stands if the grammar allows it. Filters that cut see other rows in the two draws.
  std::vector<double>& first = scratch.first;
  first.assign(row.begin(), row.end());
  detail::filter_once(first, law, history, false, scratch);
  detail::filter_once(row, law, history, true, scratch);
  if (total_probability(given) == 0) return;
  const GrammarState& state = scratch.walk.after(law.grammar, history.emitted);
  double refused = 0;
  for (std::size_t id = 0; id < first.size(); ++id) {
    if (state.after(static_cast<Token>(id))) continue;
    refused += first[id];
    first[id] = 0;
  }
  for (std::size_t id = 0; id < row.size(); ++id) row[id] = first[id] + refused * row[id];
}

}  // namespace speclab
