// The sampling options of a request as values: penalties, bias, bans, a minimal length, a grammar, and the
// order of the filters. request_law.hpp applies them to rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/distribution/adjustment.hpp"
#include "core/distribution/grammar.hpp"
#include "core/token.hpp"

namespace speclab {

enum class RequestFilter : std::uint8_t {
  repetition_penalty,
  frequency_penalty,
  presence_penalty,
  logit_bias,
  min_tokens,
  banned,
  grammar,
  temperature,
  top_k,
  top_p,
  min_p
};

/// A filter and the key of its option.
struct NamedFilter {
  std::string_view name;
  RequestFilter filter;
};

inline const std::vector<NamedFilter>& request_filters() {
  using enum RequestFilter;
  static const std::vector<NamedFilter> all{{"repetition_penalty", repetition_penalty},
                                            {"frequency_penalty", frequency_penalty},
                                            {"presence_penalty", presence_penalty},
                                            {"logit_bias", logit_bias},
                                            {"min_tokens", min_tokens},
                                            {"banned", banned},
                                            {"grammar", grammar},
                                            {"temperature", temperature},
                                            {"top_k", top_k},
                                            {"top_p", top_p},
                                            {"min_p", min_p}};
  return all;
}

/// Filters in the order in which they apply. Each sees the row that the ones before it left, normalised.
/// Filters of one group apply jointly: each decides on the same row, and a token stays if all keep it.
using FilterGroups = std::vector<std::vector<RequestFilter>>;

/// Reads an order: names of request_filters() and spaces, with "&" between those that apply jointly.
inline FilterGroups filter_groups(const std::string& order) {
  FilterGroups groups;
  bool joins = false;
  std::istringstream words(order);
  for (std::string word; words >> word; joins = word == "&") {
    if (word == "&") continue;
    const auto& all = request_filters();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const NamedFilter& one) { return one.name == word; });
    if (found == all.end()) throw std::logic_error(word + " is no filter");
    if (!joins) groups.emplace_back();
    groups.back().push_back(found->filter);
  }
  return groups;
}

/// The penalties that also count the tokens of the prompt.
enum class PenaltyPrompt : std::uint8_t { none, repetition, all };

/// The order of an engine, and the tokens that its penalties count.
struct EngineOrder {
  std::string_view name;
  std::string_view source;  ///< version, files and lines that were read
  FilterGroups groups;
  PenaltyPrompt prompt = PenaltyPrompt::repetition;
  std::optional<std::int32_t> window = {};  ///< last tokens that penalties count; empty: all
  /// Whether a token is first drawn without the grammar, and again with it only if the grammar forbids it.
  bool grammar_second = false;
};

/// Returns the orders that a request can name; the first is the default.
inline const std::vector<EngineOrder>& engine_orders() {
  // SGLang's plain decoding and its verification differ in how they cut.
  static const std::string sglang =
      "frequency_penalty presence_penalty min_tokens repetition_penalty banned grammar logit_bias "
      "temperature ";
  static const std::vector<EngineOrder> orders{
      {"transformers",
       "transformers 5.24.0, generation/utils.py:1447-1634 (it has no frequency or presence penalty)",
       filter_groups(
           "logit_bias repetition_penalty frequency_penalty presence_penalty banned min_tokens grammar "
           "temperature top_k top_p min_p")},
      {"vllm",
       "vLLM 0.32.0, v1/worker/gpu_model_runner.py:4335, v1/sample/sampler.py:275-293, 394-407, "
       "model_executor/layers/utils.py:75-83",
       filter_groups(
           "grammar banned min_tokens logit_bias repetition_penalty frequency_penalty presence_penalty "
           "temperature min_p top_k top_p")},
      {"llama.cpp",
       "llama-cpp-python 0.3.36, common/common.h:241, 263-273, common/sampling.cpp:326-383, 634-676, "
       "src/llama-sampler.cpp:2957-2977, tools/server/server-context.cpp:383",
       filter_groups(
           "grammar logit_bias banned min_tokens repetition_penalty frequency_penalty presence_penalty top_k "
           "top_p min_p temperature"),
       PenaltyPrompt::all, 64, true},
      {"sglang",
       "SGLang 0.5.23, plain decoding: srt/sampling/sampling_batch_info.py:426-449, "
       "srt/layers/sampler.py:435-440 (without min_p)",
       filter_groups(sglang + "top_k & top_p min_p"), PenaltyPrompt::none},
      {"sglang-verify", "SGLang 0.5.23, verification: srt/speculative/eagle_utils.py:562-581, 725-743",
       filter_groups(sglang + "top_k top_p min_p"), PenaltyPrompt::none}};
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
  Grammar grammar = {};
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
      case RequestFilter::grammar:
        return !grammar.empty();
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
  /// Returns whether a token is first drawn without the grammar.
  bool grammar_second() const { return named_order().grammar_second && applies({RequestFilter::grammar}); }
  /// Returns whether a row depends on more tokens than the model's own row does.
  bool remembers() const {
    using F = RequestFilter;
    return applies(
        {F::repetition_penalty, F::frequency_penalty, F::presence_penalty, F::min_tokens, F::grammar});
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

}  // namespace speclab
