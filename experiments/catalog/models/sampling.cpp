#include "experiments/catalog/models/sampling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/request_model.hpp"

namespace speclab {

namespace {

/// Reads an order: the name of an engine, or a list of filters. "&" joins filters that apply jointly.
class OrderType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    auto& order = *static_cast<RequestOrder*>(value);
    if (json.is_string()) {
      const EngineOrder& engine =
          named_entry(engine_orders(), json.get<std::string>(), [&](const std::string& near) {
            return ConfigError(path, "unknown order {}{}", shown(json), near);
          });
      order = {engine.name, {}};
      return;
    }
    if (!json.is_array() || json.empty()) reject(path, json, words());
    order = {};
    std::vector<RequestFilter> seen;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string here = fmt::format("{}/{}", path, i);
      if (!json[i].is_string()) reject(here, json[i], "the name of a filter");
      order.own.push_back(read_group(json[i].get<std::string>(), here, seen));
    }
  }
  void write(const void* value, Json& json) const override {
    const auto& order = *static_cast<const RequestOrder*>(value);
    if (order.own.empty()) {
      json = std::string(order.engine);
      return;
    }
    json = Json::array();
    for (const std::vector<RequestFilter>& group : order.own) {
      std::vector<std::string_view> names;
      for (const RequestFilter filter : group)
        names.push_back(std::ranges::find(request_filters(), filter, &NamedFilter::filter)->name);
      json.push_back(fmt::format("{}", fmt::join(names, " & ")));
    }
  }
  std::string words() const override {
    return fmt::format("one of {}, or a list of filters, such as [\"temperature\", \"top_k & top_p\"]",
                       fmt::join(entry_names(engine_orders()), ", "));
  }
  void schema(Json& out) const override {
    const Json texts{{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}}}};
    out["oneOf"] = Json::array({Json{{"enum", entry_names(engine_orders())}}, texts});
  }

 private:
  static std::vector<RequestFilter> read_group(const std::string& words, const std::string& path,
                                               std::vector<RequestFilter>& seen) {
    std::vector<RequestFilter> group;
    for (const std::string& name : split(words, '&')) {
      const RequestFilter found = named_entry(request_filters(), name, [&](const std::string& near) {
                                    return ConfigError(path, "unknown filter \"{}\"{}", name, near);
                                  }).filter;
      if (std::ranges::find(seen, found) != seen.end())
        throw ConfigError(path, "{} occurs twice; a filter applies once", name);
      seen.push_back(found);
      group.push_back(found);
    }
    return group;
  }
};

Token token_of(const std::string& key, const std::string& path) {
  const auto token = parsed<Token>(key);
  if (!token || *token < 0 || std::to_string(*token) != key)
    throw ConfigError(path, "\"{}\" is not a token id, a whole number such as \"5\"", key);
  return *token;
}

/// Reads {"token id": bias}.
class BiasType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_object()) reject(path, json, words());
    auto& biases = *static_cast<std::vector<std::pair<Token, double>>*>(value);
    biases.clear();
    for (const auto& [key, bias] : json.items()) {
      const Token token = token_of(key, path);
      double number = 0;
      speclab::number(-1000, 1000).type->read(bias, path + "/" + key, &number);
      biases.emplace_back(token, number);
    }
  }
  void write(const void* value, Json& json) const override {
    json = Json::object();
    for (const auto& [token, bias] : *static_cast<const std::vector<std::pair<Token, double>>*>(value))
      json[std::to_string(token)] = bias;
  }
  std::string words() const override { return "an object of token ids and biases, such as {\"5\": -2}"; }
  void schema(Json& out) const override {
    out["type"] = "object";
    out["additionalProperties"] = {{"type", "number"}};
  }
};

/// Reads a list of states, each {"token id": next state}; "*" stands for all other tokens.
class GrammarType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_array()) reject(path, json, words());
    auto& grammar = *static_cast<Grammar*>(value);
    grammar.assign(json.size(), {});
    for (std::size_t i = 0; i < json.size(); ++i) {
      const std::string here = fmt::format("{}/{}", path, i);
      if (!json[i].is_object()) reject(here, json[i], "a state, such as {\"5\": 1, \"*\": 0}");
      if (json[i].empty()) {
        throw ConfigError(
            here,
            "this state allows no token, so that nothing can follow; give it a token, and the number of the state after it, such as {\"5\": 0}");
      }
      for (const auto& [key, next] : json[i].items()) {
        const std::string at = here + "/" + key;
        const bool whole = next.is_number_integer() && next >= 0;
        if (!whole || next >= json.size())
          throw ConfigError(at, "there is no state {}; the states are 0 to {}", shown(next), json.size() - 1);
        if (key == "*") {
          grammar[i].other = next.get<std::int32_t>();
        } else {
          grammar[i].next[token_of(key, here)] = next.get<std::int32_t>();
        }
      }
    }
  }
  void write(const void* value, Json& json) const override {
    json = Json::array();
    for (const GrammarState& state : *static_cast<const Grammar*>(value)) {
      json.push_back(Json::object());
      for (const auto& [token, next] : state.next) json.back()[std::to_string(token)] = next;
      if (state.other) json.back()["*"] = *state.other;
    }
  }
  std::string words() const override {
    return "a list of states, each an object of allowed token ids and next states, such as [{\"5\": 1, \"*\": 0}, {\"7\": 0}] (speclab.grammar in Python makes one of a regular expression)";
  }
  void schema(Json& out) const override {
    const Json state{{"type", "integer"}, {"minimum", 0}};
    out["type"] = "array";
    out["items"] = {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", state}};
  }
};

Typed<std::vector<Token>> token_list() { return list(integer<Token>(0, max_model_vocab)); }

/// Throws ConfigError if a text can come to where no token may follow, or where a grammar forces every later
/// token.
void check_tokens_left(const RequestLaw& law, std::int32_t vocab, const std::string& path) {
  const std::set<Token> banned(law.banned.begin(), law.banned.end());
  const std::set<Token> ends(law.end_tokens.begin(), law.end_tokens.end());
  const Grammar any{{.other = 0}};
  const auto fault = grammar_fault(
      law.grammar.empty() ? any : law.grammar, vocab, static_cast<std::size_t>(law.min_tokens),
      [&](Token token, bool early) { return !banned.contains(token) && !(early && ends.contains(token)); });
  if (!fault || (law.grammar.empty() && fault->endless)) return;
  if (!law.grammar.empty()) {
    throw ConfigError(
        fmt::format("{}/grammar/{}", path, fault->state), "{}",
        fault->endless
            ? "from here every token is forced, for ever: let the last token lead to state 0, so that the next text begins"
            : "\"banned\" or \"min_tokens\" forbids every token that this state allows; allow another");
  }
  throw ConfigError(path + (banned.empty() ? "/end_tokens" : "/banned"),
                    "{}all {} tokens of the vocabulary are forbidden{}; leave one out",
                    !banned.empty() && law.min_tokens > 0 ? "with \"end_tokens\", " : "", vocab,
                    law.min_tokens > 0 ? fmt::format(" before {} tokens are emitted", law.min_tokens) : "");
}

}  // namespace

const Typed<RequestLaw>& sampling_type() {
  using R = RequestLaw;
  constexpr double max_count = 1e6;
  static const auto type = object<R>(
      "sampling",
      "Sampling options, applied to each row (Leviathan et al. 2023, section 2.2; docs/losslessness.md).",
      {field("temperature", &R::temperature, number(0, 100),
             "Probabilities are raised to the power 1/temperature and normalised; 0 is argmax."),
       with_unit(integer_field("top_k", &R::top_k, 0, max_model_vocab,
                               "Keep the k most probable tokens; 0 keeps all."),
                 "tokens"),
       field(
           "top_p", &R::top_p, number_above(0, 1),
           "Keep the smallest set of most probable tokens whose probabilities sum to at least this, to 1e-12."),
       field("min_p", &R::min_p, number(0, 1),
             "Keep tokens with at least this share of the largest probability, to 1e-12."),
       field("repetition_penalty", &R::repetition_penalty, number_above(0, 100),
             "Divides the logit of each token that occurred if it is positive, and multiplies it if not."),
       field(
           "logit_offset", &R::logit_offset, number(-1e4, 1e4),
           "The repetition penalty takes log(probability) plus this as logits: rows determine logits only up to a constant, and the penalty depends on it."),
       field("frequency_penalty", &R::frequency_penalty, number(-100, 100),
             "Subtracted from a token's logit for each time that it occurred."),
       field("presence_penalty", &R::presence_penalty, number(-100, 100),
             "Subtracted once from the logit of each token that occurred."),
       with_unit(integer_field("penalty_window", &R::penalty_window, 0, max_count,
                               "Penalties count the last tokens only (default: as the order's engine)."),
                 "tokens"),
       field("penalty_prompt", &R::penalty_prompt,
             choice<PenaltyPrompt>({{"none", PenaltyPrompt::none},
                                    {"repetition", PenaltyPrompt::repetition},
                                    {"all", PenaltyPrompt::all}}),
             "Which penalties also count the prompt's tokens (default: as the order's engine)."),
       field("logit_bias", &R::logit_bias,
             Typed<std::vector<std::pair<Token, double>>>{std::make_shared<const BiasType>()},
             "Added to logits, by token id."),
       with_unit(integer_field("min_tokens", &R::min_tokens, 0, max_count,
                               "No end token is emitted before so many others."),
                 "tokens"),
       field("end_tokens", &R::end_tokens, token_list(), "Ids of the end tokens, for \"min_tokens\"."),
       field("banned", &R::banned, token_list(), "Ids of tokens that are never emitted."),
       field(
           "grammar", &R::grammar, Typed<Grammar>{std::make_shared<const GrammarType>()},
           "A deterministic automaton: for each state the tokens that it allows (\"*\": all others), and the state after each. State 0 is the first."),
       field(
           "order", &R::order, Typed<RequestOrder>{std::make_shared<const OrderType>()},
           "Order of these filters: an engine's, or a list of their keys, joined by \"&\" if they decide on the same row.")});
  return type;
}

std::string request_words(const RequestLaw& law) {
  Json given;
  Json usual;
  write(sampling_type(), law, given);
  write(sampling_type(), RequestLaw{}, usual);
  for (const auto& [key, value] : usual.items()) {
    if (given[key] == value) given.erase(key);
  }
  if (given.contains("grammar")) given["grammar"] = fmt::format("{} states", law.grammar.size());
  std::string text;
  for (const char letter : given.dump()) {
    if (letter == ',' && !text.empty()) text += letter, text += ' ';
    if (std::string_view("\"{},").find(letter) == std::string_view::npos) text += letter;
  }
  return text;
}

void check_sampling(const RequestLaw& law, std::optional<std::int32_t> vocab, const std::string& path) {
  if (law.repetition_penalty != 1 && !law.logit_offset) {
    throw ConfigError(
        path + "/logit_offset",
        "missing; \"repetition_penalty\" divides positive logits and multiplies negative ones, so it depends on the constant that rows of probabilities lack. 0 takes log-probabilities as logits");
  }
  if ((law.min_tokens > 0) != !law.end_tokens.empty())
    throw ConfigError(path, "\"min_tokens\" and \"end_tokens\" need each other; give both or neither");
  for (const NamedFilter& one : request_filters()) {
    if (law.asks(one.filter) && !law.applies({one.filter})) {
      throw ConfigError(path + "/order", "lacks \"{0}\", which is set; add it, or leave \"{0}\" out",
                        one.name);
    }
  }
  const auto check_token = [&](Token token, const std::string& at) {
    if (vocab && token >= *vocab)
      throw ConfigError(path + at, "{} is outside the vocabulary of {} tokens", token, *vocab);
  };
  for (const auto& [token, bias] : law.logit_bias) check_token(token, fmt::format("/logit_bias/{}", token));
  for (std::size_t i = 0; i < law.end_tokens.size(); ++i)
    check_token(law.end_tokens[i], fmt::format("/end_tokens/{}", i));
  for (std::size_t i = 0; i < law.banned.size(); ++i)
    check_token(law.banned[i], fmt::format("/banned/{}", i));
  for (std::size_t i = 0; i < law.grammar.size(); ++i) {
    for (const auto& [token, next] : law.grammar[i].next)
      check_token(token, fmt::format("/grammar/{}/{}", i, token));
  }
  if (vocab) check_tokens_left(law, *vocab, path);
}

Model with_sampling(Model model, const RequestLaw& law, std::optional<std::size_t> prompt,
                    const std::string& path) {
  check_sampling(law, model.vocab(), path);
  if (law.remembers() && !prompt) {
    throw ConfigError(
        path,
        "penalties, \"min_tokens\" and \"grammar\" need the number of prompt tokens, which is not known here; leave them out, or give \"simulation.prompt\" as token ids");
  }
  try {
    return requested(std::move(model), law, prompt.value_or(0));
  } catch (const ModelError& error) {
    throw ConfigError(path, "{}; these options leave no token there: leave one out, or give the row others",
                      error.what());
  }
}

}  // namespace speclab
