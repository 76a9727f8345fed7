#include "experiments/config/config_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/config/config.hpp"

namespace speclab {

namespace {

const std::vector<Field>& described_fields() { return config_type().type->object()->fields(); }

/// Returns the offset of each field's value in a config, in bytes; offsets of sections have no meaning.
const std::vector<std::ptrdiff_t>& offsets() {
  static const std::vector<std::ptrdiff_t> all = [] {
    Config config;
    std::vector<std::ptrdiff_t> found;
    for (const Field& field : described_fields()) {
      const void* value = field.optional() ? field.create(&config) : field.at(&config);
      found.push_back(static_cast<const char*>(value) - reinterpret_cast<const char*>(&config));
    }
    return found;
  }();
  return all;
}

}  // namespace

std::string text_of(const Config& config, const ConfigParts& parts) {
  Json said = Json::array();
  for (const std::size_t part : parts) {
    const Field& field = described_fields()[part];
    // A description writes through this pointer only when it reads JSON, which does not happen here.
    const void* value = field.at(const_cast<Config*>(&config));
    Json json;
    if (value != nullptr) field.type->write(value, json);
    said.push_back(std::move(json));
  }
  return said.dump();
}

std::string text_of(const Type& type, const void* value) {
  Json json;
  type.write(value, json);
  return json.dump();
}

void ConfigReader::note_section(const std::string& key) const {
  const auto found = std::find_if(described_fields().begin(), described_fields().end(),
                                  [&](const Field& field) { return field.name == key; });
  parts_.insert(static_cast<std::size_t>(found - described_fields().begin()));
}

void ConfigReader::note(std::ptrdiff_t offset, std::size_t size) const {
  const auto found = std::find_if(offsets().begin(), offsets().end(), [&](std::ptrdiff_t at) {
    return at >= offset && at < offset + static_cast<std::ptrdiff_t>(size);
  });
  if (found == offsets().end()) throw std::logic_error("a part of Config that its description does not have");
  parts_.insert(static_cast<std::size_t>(found - offsets().begin()));
}

}  // namespace speclab
