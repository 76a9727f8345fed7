#include "experiments/catalog/models/corpus_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/text_files.hpp"
#include "experiments/recording/json_document.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace {

/// Returns the element of an object or list that one part of a field's name denotes; null if there is none.
const Json* step_into(const Json& value, const std::string& part) {
  if (value.is_object()) return value.contains(part) ? &value[part] : nullptr;
  const auto index = value.is_array() ? integer_in(part) : std::nullopt;
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= value.size()) return nullptr;
  return &value[static_cast<std::size_t>(*index)];
}

/// Returns a text field as one line. Words end at any white space.
std::string line_of(const JsonDocument& document, const std::string& field) {
  const Json* value = &document.value;
  for (const std::string& part : split(field, '.')) {
    value = step_into(*value, part);
    if (value == nullptr) throw ModelError(fmt::format("{}: no field \"{}\"", document.where, field));
  }
  if (!value->is_string())
    throw ModelError(fmt::format("{}: the field \"{}\" is not text", document.where, field));
  std::string text = value->get<std::string>();
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == '\n' || letter == '\r' || letter == '\f'; }, ' ');
  return text;
}

}  // namespace

std::string text_of_folder(const std::filesystem::path& folder, Encoding encoding) {
  const std::vector<std::filesystem::path> files = text_files(folder);
  if (files.empty()) throw ModelError(folder.string() + ": has no files");
  std::string all;
  for (const std::filesystem::path& file : files) {
    std::string text = load_text(file, encoding);
    std::replace(text.begin(), text.end(), '\f', '\n');
    if (!all.empty()) all += '\f';
    all += text;
  }
  return all;
}

ParallelDocuments prompt_output_documents(const std::filesystem::path& file, const std::string& prompt_field,
                                          const std::string& output_field, std::int32_t vocabulary_cap) {
  const std::string text = load_text(file, Encoding::utf8);
  std::string problem;
  const std::vector<JsonDocument> records = json_documents(text, file.string(), problem);
  if (records.empty()) {
    throw ModelError(fmt::format("{}: expected JSON lines of prompts and outputs{}{}", file.string(),
                                 problem.empty() ? "" : ": ", problem));
  }
  std::string prompts;
  std::string outputs;
  for (const JsonDocument& record : records) {
    prompts += line_of(record, prompt_field) + '\n';
    outputs += line_of(record, output_field) + '\n';
  }
  return naming(file.string(), [&] { return make_parallel_documents(prompts, outputs, vocabulary_cap); });
}

}  // namespace speclab
