#include "experiments/advisor/json_records.hpp"

#include <fmt/format.h>

#include <numeric>

namespace speclab {

namespace {

constexpr int deepest_object = 8;

void gather(const JsonPlace& place, const char* key, int depth, std::vector<JsonPlace>& found) {
  if (place.has(key)) found.push_back(place);
  if (depth == deepest_object) return;
  if (place.value->is_object()) {
    for (const auto& [name, value] : place.value->items()) {
      if (value.is_structured()) gather({&value, place.where + "/" + name}, key, depth + 1, found);
    }
  } else if (place.value->is_array()) {
    for (std::size_t i = 0; i < place.value->size(); ++i) {
      if (place.at(i).value->is_structured()) gather(place.at(i), key, depth + 1, found);
    }
  }
}

}  // namespace

std::vector<JsonPlace> objects_with(const JsonDocument& document, const char* key) {
  std::vector<JsonPlace> found;
  gather(place(document), key, 0, found);
  return found;
}

std::string no_object_with(const LogSource& source, const char* key) {
  if (source.documents().empty()) return source.json_problem();
  for (const JsonDocument& document : source.documents()) {
    if (!objects_with(document, key).empty()) return "";
  }
  return fmt::format("no object has \"{}\"", key);
}

std::string model_of(const JsonDocument& document) {
  const JsonPlace whole = place(document);
  return whole.has("model") && whole.at("model").value->is_string() ? whole.at("model").text() : "";
}

std::uint64_t count_in(const JsonPlace& place) {
  constexpr double most = 9e15;
  if (!place.value->is_number()) place.refuse("a count");
  const double number = place.value->get<double>();
  if (!(number >= 0 && number <= most) || number != static_cast<double>(static_cast<std::uint64_t>(number))) {
    place.refuse("a count");
  }
  return static_cast<std::uint64_t>(number);
}

std::vector<std::uint64_t> counts_in(const JsonPlace& place) {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < place.size(); ++i) counts.push_back(count_in(place.at(i)));
  return counts;
}

std::uint64_t counted_sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace speclab
