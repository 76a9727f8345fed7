// Builds models from JSON, for tests of model kinds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "tests/experiments/config_error_of.hpp"

namespace speclab {

inline ModelConfig model_config(const std::string& json) {
  return read(kind_of(model_family()), parse_json(json), "/model");
}

/// Returns the model that this JSON describes, with its sampling options.
inline BuiltModel built(const std::string& json, ModelFactory& factory, const CorpusConfig* corpus = nullptr,
                        const Model* target = nullptr) {
  const ModelRequest request{
      .factory = factory, .corpus = corpus, .corpus_path = "/corpus", .target = target, .default_vocab = {}};
  return factory.model(model_config(json), request, {});
}
inline Model built(const std::string& json, const Model* target = nullptr) {
  ModelFactory factory;
  return built(json, factory, nullptr, target).model;
}

inline std::string error_of(const std::string& json, const Model* target = nullptr) {
  return config_error_of([&] { built(json, target); });
}

inline double probability(const Model& model, std::span<const Token> context, Token token) {
  std::vector<double> scratch;
  return model.next(context, scratch)[token];
}
inline double probability(const Model& model, Token token) { return probability(model, {}, token); }

/// Returns the rows that a proof uses for this model, as text; empty if there are none.
inline std::vector<std::vector<std::string>> written(const std::string& json, std::size_t vocab,
                                                     const std::optional<ExactRows>& target = {}) {
  std::vector<std::vector<std::string>> rows;
  const auto exact = written_rows(model_config(json), {}, vocab, target);
  if (!exact) return rows;
  for (const auto& row : *exact) {
    rows.emplace_back();
    for (const Rational& value : row) rows.back().push_back(value.str());
  }
  return rows;
}

}  // namespace speclab
