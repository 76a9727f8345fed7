#include "serving/advisor/json_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr int deepest_object = 8;

void gather(const JsonPlace& place, const RecordKeys& keys, int depth, const std::string& model,
            std::vector<JsonRecord>& found) {
  if (std::any_of(keys.begin(), keys.end(), [&](const char* key) { return place.has(key); }))
    found.push_back({place, model});
  if (depth == deepest_object) return;
  if (place.value->is_object()) {
    for (const auto& [name, value] : place.value->items()) {
      if (value.is_structured()) gather({&value, place.below(name)}, keys, depth + 1, model, found);
    }
  } else if (place.value->is_array()) {
    for (std::size_t i = 0; i < place.value->size(); ++i) {
      if (place.at(i).value->is_structured()) gather(place.at(i), keys, depth + 1, model, found);
    }
  }
}

/// Returns the id of a response's text, which all parts of a streamed one share; empty if it has none.
std::string text_id(const JsonRecord& record, const JsonPlace& whole) {
  std::string id;
  for (const JsonPlace& holder : {record.place, whole}) {
    if (id.empty() && holder.has("id")) id = holder.at("id").value->dump();
  }
  if (id.empty() || !whole.has("choices") || whole.at("choices").size() != 1) return id;
  const JsonPlace choice = whole.at("choices").at(std::size_t{0});
  return choice.has("index") ? id + choice.at("index").value->dump() : id;
}

}  // namespace

std::vector<JsonRecord> records_with(const LogSource& source, const RecordKeys& keys, const char* model_key) {
  std::vector<JsonRecord> found;
  std::string id_before;
  for (const JsonDocument& document : source.documents()) {
    const JsonPlace whole = place(document);
    // Parts of a streamed response count from its start, so that only the last part is read.
    if (whole.has("stop") && *whole.at("stop").value == false) continue;
    const bool named = whole.has(model_key) && whole.at(model_key).value->is_string();
    std::vector<JsonRecord> here;
    gather(whole, keys, 0, named ? whole.at(model_key).text() : "", here);
    if (here.empty()) continue;
    const std::string id = here.size() == 1 ? text_id(here.front(), whole) : "";
    if (here.size() == 1 && whole.has("usage") && whole.at("usage").has("completion_tokens"))
      here.front().completion_tokens = count_in(whole.at("usage").at("completion_tokens"));
    if (!id.empty() && id == id_before) found.pop_back();
    id_before = id;
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

bool has_record_with(const LogSource& source, const RecordKeys& keys) {
  std::vector<JsonRecord> found;
  for (const JsonDocument& document : source.documents()) {
    gather(place(document), keys, 0, "", found);
    if (!found.empty()) return true;
  }
  return false;
}

std::optional<JsonPlace> first_of(const JsonPlace& place, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (place.has(key)) return place.at(key);
  }
  return std::nullopt;
}

void check_stated(const JsonPlace& record, const std::vector<std::pair<const char*, double>>& counted) {
  for (const auto& [key, value] : counted) {
    if (record.has(key)) check_stated(record.where, key, record.at(key).number(), value);
  }
}

std::uint64_t count_in(const JsonPlace& place) {
  const auto count =
      as_count(place.value->is_number() ? std::optional(place.value->get<double>()) : std::nullopt);
  if (!count) place.refuse(fmt::format("a count from 0 to {}", max_count));
  return *count;
}

std::vector<std::uint64_t> counts_in(const JsonPlace& place) {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < place.size(); ++i) counts.push_back(count_in(place.at(i)));
  return counts;
}

}  // namespace speclab
