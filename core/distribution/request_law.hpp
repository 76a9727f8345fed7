// The sampling options of a real request beyond Adjustment (core/distribution/transforms.hpp): penalties on
// tokens that occurred before, bias, bans, a minimal length and min-p, applied in an engine's order. With
// penalties or a minimal length a row depends on all tokens before it. Host only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/distribution/transforms.hpp"

namespace speclab {

enum class RequestFilter : std::uint8_t {
  repetition_penalty,
  frequency_penalty,
  presence_penalty,
  logit_bias,
  min_tokens,
  banned,
  temperature,
  top_k,
  top_p,
  min_p
};

/// Filters in the order in which they apply. Each sees the row that the ones before it left, normalised.
/// Filters of one group apply jointly: each decides on the same row, and a token stays if all keep it.
using FilterGroups = std::vector<std::vector<RequestFilter>>;

/// The penalties that also count the tokens of the prompt.
enum class PenaltyPrompt : std::uint8_t { none, repetition, all };

/// The order of an engine, and the tokens that its penalties count.
struct EngineOrder {
  std::string_view name;
  std::string_view source;  ///< version, files and lines that were read
  FilterGroups groups;
  PenaltyPrompt prompt = PenaltyPrompt::repetition;
  std::optional<std::int32_t> window = {};  ///< last tokens that penalties count; empty: all
};

/// Returns the orders that a request can name; the first is the default.
inline const std::vector<EngineOrder>& engine_orders() {
  using enum RequestFilter;
  static const std::vector<EngineOrder> orders{
      {"transformers",
       "transformers 5.24.0, generation/utils.py:1447-1634 (it has no frequency or presence penalty)",
       {{logit_bias},
        {repetition_penalty},
        {frequency_penalty},
        {presence_penalty},
        {banned},
        {min_tokens},
        {temperature},
        {top_k},
        {top_p},
        {min_p}}},
      {"vllm",
       "vLLM 0.32.0, v1/sample/sampler.py:275-293, 394-407, model_executor/layers/utils.py:75-83",
       {{banned},
        {min_tokens},
        {logit_bias},
        {repetition_penalty},
        {frequency_penalty},
        {presence_penalty},
        {temperature},
        {min_p},
        {top_k},
        {top_p}}},
      {"llama.cpp",
       "llama-cpp-python 0.3.36, common/common.h:241, 263-273, common/sampling.cpp:326-383, "
       "src/llama-sampler.cpp:2957-2977, tools/server/server-context.cpp:383",
       {{logit_bias},
        {banned},
        {min_tokens},
        {repetition_penalty},
        {frequency_penalty},
        {presence_penalty},
        {top_k},
        {top_p},
        {min_p},
        {temperature}},
       PenaltyPrompt::all,
       64},
      {"sglang",
       "SGLang 0.5.23, plain decoding: srt/sampling/sampling_batch_info.py:426-449, "
       "srt/layers/sampler.py:435-440 (without min_p)",
       {{frequency_penalty},
        {presence_penalty},
        {min_tokens},
        {repetition_penalty},
        {banned},
        {logit_bias},
        {temperature},
        {top_k, top_p},
        {min_p}},
       PenaltyPrompt::none},
      {"sglang-verify",
       "SGLang 0.5.23, verification: srt/speculative/eagle_utils.py:562-581, 725-743",
       {{frequency_penalty},
        {presence_penalty},
        {min_tokens},
        {repetition_penalty},
        {banned},
        {logit_bias},
        {temperature},
        {top_k},
        {top_p},
        {min_p}},
       PenaltyPrompt::none}};
  return orders;
}

/// The order of a request: an engine's, or its own. Filters that its own order lacks do not apply.
struct RequestOrder {
  std::string_view engine = "transformers";  ///< one of engine_orders()
  FilterGroups own = {};                     ///< instead of the engine's, if not empty
};

/// The sampling options of a request. The defaults change nothing.
struct RequestLaw {
  double temperature = 1;
  std::int32_t top_k = 0;
  double top_p = 1;
  double min_p = 0;  ///< keep tokens with at least this share of the largest probability
  /// Divides positive logits of tokens that occurred and multiplies negative ones, so it depends on the
  /// constant that probabilities do not determine: logits are log(probability) + logit_offset.
  double repetition_penalty = 1;
  std::optional<double> logit_offset = {};
  double frequency_penalty = 0;  ///< subtracted from a token's logit for each time that it occurred
  double presence_penalty = 0;   ///< subtracted once from the logit of a token that occurred
  std::optional<std::int32_t> penalty_window = {};   ///< default: the order's
  std::optional<PenaltyPrompt> penalty_prompt = {};  ///< default: the order's
  std::vector<std::pair<Token, double>> logit_bias = {};
  std::int32_t min_tokens = 0;  ///< before so many emitted tokens no end token is emitted
  std::vector<Token> end_tokens = {};
  std::vector<Token> banned = {};
  RequestOrder order = {};

  const EngineOrder& named_order() const {
    for (const EngineOrder& one : engine_orders()) {
      if (one.name == order.engine) return one;
    }
    return engine_orders().front();
  }
  const FilterGroups& groups() const { return order.own.empty() ? named_order().groups : order.own; }
  /// Return what penalties count: the named order's choice, unless the request has its own.
  PenaltyPrompt counted_prompt() const { return penalty_prompt.value_or(named_order().prompt); }
  std::optional<std::int32_t> counted_window() const {
    return penalty_window || !order.own.empty() ? penalty_window : named_order().window;
  }

  /// Returns whether a filter's option differs from its default, wherever it stands in the order.
  bool asks(RequestFilter filter) const {
    switch (filter) {
      case RequestFilter::repetition_penalty:
        return repetition_penalty != 1;
      case RequestFilter::frequency_penalty:
        return frequency_penalty != 0;
      case RequestFilter::presence_penalty:
        return presence_penalty != 0;
      case RequestFilter::logit_bias:
        return !logit_bias.empty();
      case RequestFilter::min_tokens:
        return min_tokens > 0;
      case RequestFilter::banned:
        return !banned.empty();
      case RequestFilter::temperature:
        return temperature != 1;
      case RequestFilter::top_k:
        return top_k > 0;
      case RequestFilter::top_p:
        return top_p < 1;
      case RequestFilter::min_p:
        return min_p > 0;
    }
    return false;
  }
  /// Returns whether the request applies one of these filters.
  bool applies(std::initializer_list<RequestFilter> filters) const {
    for (const std::vector<RequestFilter>& group : groups()) {
      for (const RequestFilter one : group) {
        if (asks(one) && std::find(filters.begin(), filters.end(), one) != filters.end()) return true;
      }
    }
    return false;
  }
  /// Returns whether a row depends on more tokens than the model's own row does.
  bool remembers() const {
    using F = RequestFilter;
    return applies({F::repetition_penalty, F::frequency_penalty, F::presence_penalty, F::min_tokens});
  }
  /// Returns the request as an Adjustment, if it is no more than that.
  std::optional<Adjustment> adjustment() const {
    using F = RequestFilter;
    if (remembers() || applies({F::logit_bias, F::banned, F::min_p})) return std::nullopt;
    const int several = int{asks(F::temperature)} + int{asks(F::top_k)} + int{asks(F::top_p)};
    if (several > 1 && groups() != engine_orders().front().groups) return std::nullopt;
    return Adjustment{temperature, top_k, top_p};
  }
  bool identity() const {
    const std::optional<Adjustment> whole = adjustment();
    return whole && whole->identity();
  }
};

/// The tokens on which a filtered row depends.
struct RequestHistory {
  std::span<const Token> prompt;
  std::span<const Token> emitted;
};

/// Memory of `filter_row`, to be reused.
struct RequestScratch {
  std::vector<double> logits;
  std::vector<double> weights;
  std::vector<Token> order;
  std::vector<std::int32_t> repetition_counts;
  std::vector<std::int32_t> occurrence_counts;
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
  RowFilter(const RequestLaw& law, const RequestHistory& history, RequestScratch& scratch)
      : law_(law), history_(history), scratch_(scratch) {
    scratch.repetition_counts.assign(scratch.logits.size(), 0);
    scratch.occurrence_counts.assign(scratch.logits.size(), 0);
    if (!law.remembers()) return;
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

  /// Applies a filter that looks at one token at a time; returns false for the others.
  bool changes_logits(RequestFilter filter) {
    std::vector<double>& logits = scratch_.logits;
    switch (filter) {
      case RequestFilter::repetition_penalty:
        for (std::size_t id = 0; id < logits.size(); ++id) {
          if (scratch_.repetition_counts[id] == 0) continue;
          logits[id] =
              logits[id] > 0 ? logits[id] / law_.repetition_penalty : logits[id] * law_.repetition_penalty;
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
      case RequestFilter::temperature:
        if (law_.temperature == 0) return false;
        for (double& one : logits) one /= law_.temperature;
        return true;
      default:
        return false;
    }
  }

  /// Writes the probabilities of the current logits, on which top-k, top-p, min-p and argmax decide.
  void weigh() {
    scratch_.weights.resize(scratch_.logits.size());
    softmax(scratch_.logits, 1, scratch_.weights);
  }

  void truncate(RequestFilter filter) {
    std::vector<double>& weights = scratch_.weights;
    std::vector<Token>& order = scratch_.order;
    order.resize(weights.size());
    std::iota(order.begin(), order.end(), Token{0});
    std::sort(order.begin(), order.end(), LargerProbability{weights});
    const auto weight = [&](std::size_t place) { return weights[static_cast<std::size_t>(order[place])]; };
    std::size_t keep = 0;
    if (filter == RequestFilter::top_k) {
      keep = std::min(static_cast<std::size_t>(law_.top_k), order.size());
    } else if (filter == RequestFilter::top_p) {
      for (double running = 0; keep < order.size() && running < law_.top_p; ++keep) running += weight(keep);
    } else if (filter == RequestFilter::min_p) {
      while (keep < order.size() && weight(keep) >= law_.min_p * weight(0)) ++keep;
    }  // else temperature 0, which keeps the largest
    mask(std::span<const Token>(order).subspan(std::max<std::size_t>(keep, 1)));
  }

  const RequestLaw& law_;
  const RequestHistory& history_;
  RequestScratch& scratch_;
};

}  // namespace detail

/// Applies a request's options to a row of probabilities in place. A row with a NaN stays as it is, and one
/// of which nothing is left becomes 0, so that sampling reports either.
inline void filter_row(std::span<double> row, const RequestLaw& law, const RequestHistory& history,
                       RequestScratch& scratch) {
  const Row given{row.data(), static_cast<std::int32_t>(row.size())};
  if (row.empty() || std::isnan(total_probability(given))) return;
  scratch.logits.resize(row.size());
  const double offset = law.logit_offset.value_or(0);
  for (std::size_t id = 0; id < row.size(); ++id) scratch.logits[id] = std::log(row[id]) + offset;
  detail::RowFilter filter(law, history, scratch);
  for (const std::vector<RequestFilter>& group : law.groups()) filter.apply(group);
  const double largest = *std::max_element(scratch.logits.begin(), scratch.logits.end());
  if (largest == detail::masked) {
    std::fill(row.begin(), row.end(), 0.0);
  } else {
    softmax(scratch.logits, 1, row);
  }
}

}  // namespace speclab
