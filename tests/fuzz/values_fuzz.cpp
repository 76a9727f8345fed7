// Makes configs whose values have the right type: random values at any key, unknown keys, doubled keys, files
// with other content. The bytes of an input seed the choice of a shipped config, or of one made from the
// format alone, its changes, and what is done with it. An error must name a path in one line that a person
// can read; a config that is not rejected runs, and its page and CSV must hold no invalid number.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/stop.hpp"
#include "experiments/base/format/family.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_files.hpp"
#include "experiments/results/result_section.hpp"
#include "experiments/verify/exact/exact_result.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace speclab;
namespace fs = std::filesystem;
using Random = std::mt19937_64;

/// Runs are so small that each takes milliseconds.
constexpr std::int64_t largest_count = 24;

std::size_t below(Random& random, std::size_t count) { return count == 0 ? 0 : random() % count; }

template <class List>
const auto& one_of(Random& random, const List& list) {
  return list[below(random, list.size())];
}

/// Returns files of every kind that the program reads, a folder, and a missing file.
const std::vector<std::string>& files() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{"no_such_file.csv", program_file("tests/fuzz/corpus/table").string()};
    for (const auto& entry : fs::recursive_directory_iterator(program_file("tests/fuzz/corpus"))) {
      if (entry.is_regular_file()) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  return all;
}

/// Returns a text long enough for n-grams, with documents to hold out.
const std::string& text_file() {
  static const std::string file = [] {
    std::string text;
    for (int i = 0; i < 2000; ++i)
      text += std::array{"the ", "cat ", "sees ", "a ", "dog. ", "\f"}.at((i * i / 7 + i / 3) % 6);
    return file_with(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "text.txt").string();
  }();
  return file;
}

/// Adds every place in a config, as a pointer.
void add_places(const Json& value, const std::string& here, std::vector<std::string>& places) {
  if (!here.empty()) places.push_back(here);
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      add_places(value[i], fmt::format("{}/{}", here, i), places);
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      if (key.find_first_of("/~") == std::string::npos) add_places(one, here + "/" + key, places);
    }
  }
}

Json schema_of(const Type& type) {
  Json schema = Json::object();
  type.schema(schema);
  return schema;
}

/// Returns where a file that a shipped config names is; texts and large models are replaced by those of the
/// tests.
std::string placed(const std::string& text) {
  if (text.ends_with(".txt")) return text_file();
  if (text.ends_with(".arpa")) return program_file("tests/fuzz/corpus/arpa/bigram.arpa").string();
  return text.starts_with("configs/") ? program_file(text).string() : text;
}

/// Makes counts, lists and sweeps of a shipped config small.
void make_small(Json& value) {
  if (value.is_object() && value.contains("from") && value.contains("to"))
    value = Json::array({value["from"], value["to"]});
  if (value.is_string()) value = placed(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const char* key : {"cases", "tasks"}) {
    if (value.is_object() && value.contains(key) && value[key].size() > 3)
      value[key].erase(value[key].begin() + 3, value[key].end());
  }
  for (Json& one : value) make_small(one);
}

/// Makes most counts small, each independently: some stay large beside small ones.
void make_counts_small(Random& random, Json& config) {
  std::vector<std::string> places;
  add_places(config, "", places);
  for (std::string& place : places) {
    Json& value = config[Json::json_pointer(place)];
    const Type* const type = value.is_number_integer() ? type_at(place) : nullptr;
    if (type == nullptr || below(random, 4) == 0) continue;
    const auto least = static_cast<std::int64_t>(schema_of(*type).value("minimum", 0.0));
    value = std::min(value.get<std::int64_t>(), std::max(least, largest_count));
  }
}

const std::vector<Json>& shipped_configs() {
  static const std::vector<Json> all = [] {
    std::vector<fs::path> found;
    for (const char* folder : {"configs", "configs/paper", "configs/serving"}) {
      for (const auto& entry : fs::directory_iterator(program_file(folder))) {
        if (entry.path().extension() == ".json") found.push_back(entry.path());
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<Json> configs;
    for (const fs::path& file : found) {
      Json config = parse_json(read_text(file));
      const std::string text = config.dump();
      // Neural models are not available, and clock measurements have no bytes to compare.
      if (text.find("gguf") != std::string::npos || text.find("walltime") != std::string::npos) continue;
      make_small(config);
      config["simulation"]["trials"] = 8;
      config["simulation"]["length"] = largest_count;
      configs.push_back(std::move(config));
    }
    return configs;
  }();
  return all;
}

/// The type of an object whose keys its config chooses, such as /serving/measured; null for others.
const Type* type_of_named(const std::string& place) {
  const Type* const type = type_at(place);
  return type != nullptr && type->element() != nullptr && schema_of(*type)["type"] == "object" ? type
                                                                                               : nullptr;
}

/// The keys that shipped configs give to objects of a type whose keys a config chooses.
const std::vector<std::string>& known_names(const Type& type) {
  static const std::map<const Type*, std::vector<std::string>> all = [] {
    std::map<const Type*, std::vector<std::string>> found;
    const auto add = [&](const std::string& place, const Json& value) {
      const Type* const named = value.is_object() ? type_of_named(place) : nullptr;
      if (named == nullptr) return;
      for (const auto& [key, one] : value.items()) {
        std::vector<std::string>& names = found[named];
        if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
      }
    };
    for (const Json& config : shipped_configs()) {
      std::vector<std::string> places;
      add_places(config, "", places);
      for (const std::string& place : places) {
        const Json& value = config.at(Json::json_pointer(place));
        add(place, value);
        if (!place.ends_with("/set") || !value.is_object()) continue;
        for (const auto& [path, set] : value.items()) add(path, set);
      }
    }
    return found;
  }();
  static const std::vector<std::string> none;
  const auto found = all.find(&type);
  return found == all.end() ? none : found->second;
}

/// The paths that the config in hand sweeps, which its figures may draw over.
std::vector<std::string>& swept() {
  static std::vector<std::string> paths;
  return paths;
}

double random_number(Random& random, double low, double high) {
  const std::array near{low, high,  std::nextafter(low, high), std::nextafter(high, low), 0.0, 0.5,
                        1.0, 1e-300};
  const double share = static_cast<double>(random() >> 11U) * 0x1p-53;
  switch (below(random, 4)) {
    case 0:
      return one_of(random, near);
    case 1:
      return low + share * std::min(high - low, 4.0);
    case 2:
      return std::pow(10.0, 40 * share - 30);
    default:
      return share;
  }
}

/// Returns a value that the schema of a leaf allows; sometimes beyond its bounds.
Json random_leaf(Random& random, const Json& schema) {
  if (schema.contains("enum")) return one_of(random, schema["enum"]);
  const std::string type = schema.contains("type") && schema["type"].is_string() ? schema["type"] : "string";
  if (type == "boolean") return below(random, 2) == 0;
  static const std::vector<std::string> texts{"",       "b",      "two words", std::string(5000, 'k'),
                                              "/gamma", "/alpha", "/cost/c"};
  if (type == "string")
    return !swept().empty() && below(random, 2) == 0 ? one_of(random, swept()) : one_of(random, texts);
  const double low = schema.value("minimum", schema.value("exclusiveMinimum", 0.0));
  const double high = schema.value("maximum", 1.0);
  if (type == "number") return random_number(random, low, high);
  // The count is usually a few above the minimum, sometimes many above, sometimes one below.
  constexpr std::array<std::int64_t, 4> counts{largest_count, largest_count, largest_count, 400};
  const auto above = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(one_of(random, counts)));
  return static_cast<std::int64_t>(std::max(low, -1e9)) + above - (below(random, 8) == 0 ? 1 : 0);
}

Json random_value(Random& random, const Type& type, int depth);

void add_fields(Random& random, const ObjectType& object, int depth, Json& out) {
  for (const Field& field : object.fields()) {
    if (field.required || below(random, depth > 2 ? 16 : 4) == 0)
      out[field.name] = random_value(random, *field.type, depth + 1);
  }
}

Json random_value(Random& random, const Type& type, int depth) {
  if (&type == input_file().type.get()) return one_of(random, files());
  Json out = Json::object();
  if (const FamilyBase* const family = type.family()) {
    const KindInfo* const kind = one_of(random, family->kinds());
    out["kind"] = kind->name;
    add_fields(random, *kind->parameters->object(), depth, out);
  } else if (const ObjectType* const object = type.object()) {
    add_fields(random, *object, depth, out);
  } else if (const Type* const element = type.element()) {
    if (schema_of(type)["type"] != "array") {
      const std::vector<std::string>& names = known_names(type);
      for (std::size_t count = names.empty() ? 0 : 1 + below(random, 3); count > 0; --count)
        out[one_of(random, names)] = random_value(random, *element, depth + 1);
      return out;
    }
    out = Json::array();
    for (std::size_t size = below(random, 4) + (depth < 3 ? 1 : 0); size > 0; --size)
      out.push_back(random_value(random, *element, depth + 1));
  } else {
    out = random_leaf(random, schema_of(type));
  }
  return out;
}

/// Changes values of sweeps and cases, as those of the keys that they set.
void change_set_value(Random& random, Json& config) {
  std::vector<std::pair<std::string, Json*>> values;
  if (config.contains("sweep")) {
    for (const auto& [path, list] : config["sweep"].items()) {
      for (Json& one : list) values.emplace_back(path, &one);
    }
  }
  if (config.contains("cases")) {
    for (Json& one : config["cases"]) {
      if (!one.is_object() || !one.contains("set")) continue;
      for (const auto& [path, value] : one["set"].items()) values.emplace_back(path, &value);
    }
  }
  if (values.empty()) return;
  auto [path, value] = one_of(random, values);
  if (const Type* const type = type_at(path)) *value = random_value(random, *type, 1);
}

void scale_number(Random& random, Json& config, std::vector<std::string> places) {
  std::erase_if(places,
                [&](const std::string& place) { return !config.at(Json::json_pointer(place)).is_number(); });
  if (places.empty()) return;
  Json& value = config[Json::json_pointer(one_of(random, places))];
  const double scaled = value.get<double>() * one_of(random, std::array{0.0, 0.1, 0.5, 2.0, 10.0, -1.0});
  value = value.is_number_integer() ? Json(static_cast<std::int64_t>(scaled)) : Json(scaled);
}

/// Two counts of one object in another order: each alone is what it may be.
void relate_counts(Random& random, Json& config, const std::vector<std::string>& places) {
  std::map<std::string, std::vector<Json*>> by_object;
  for (const std::string& place : places) {
    const Json::json_pointer pointer(place);
    Json& value = config[pointer];
    if (value.is_number_integer()) by_object[pointer.parent_pointer().to_string()].push_back(&value);
  }
  std::erase_if(by_object, [](const auto& one) { return one.second.size() < 2; });
  if (by_object.empty()) return;
  const auto object =
      std::next(by_object.begin(), static_cast<std::ptrdiff_t>(below(random, by_object.size())));
  Json& first = *one_of(random, object->second);
  Json& second = *one_of(random, object->second);
  switch (below(random, 3)) {
    case 0:
      return std::swap(first, second);
    case 1:
      first = second.get<std::int64_t>() + 1;
      return;
    default:
      first = 10 * second.get<std::int64_t>();
  }
}

void change(Random& random, Json& config) {
  std::vector<std::string> places;
  add_places(config, "", places);
  std::string place = one_of(random, places);
  const Json::json_pointer pointer(place);
  const Type* const type = type_at(place);
  switch (below(random, 8)) {
    case 0: {  // two keys alike
      const Json other = config.at(Json::json_pointer(one_of(random, places)));
      if (other.type() == config.at(pointer).type()) config[pointer] = other;
      return;
    }
    case 1:
      return change_set_value(random, config);
    case 4:
      return relate_counts(random, config, places);
    case 3:  // a number far from what it was
      return scale_number(random, config, places);
    case 2: {  // an unknown key
      const Json::json_pointer above = pointer.parent_pointer();
      std::string name = above.to_string();
      const Type* const owner = above.empty() ? config_type().type.get() : type_at(name);
      const ObjectType* const object = owner != nullptr ? owner->object() : nullptr;
      if (object == nullptr || object->fields().empty()) return;
      const Field& field = one_of(random, object->fields());
      config[above][field.name] = random_value(random, *field.type, 1);
      return;
    }
    default:
      if (type != nullptr) config[pointer] = random_value(random, *type, 1);
  }
}

[[noreturn]] void found(const std::string& what, const Json& config) {
  std::cerr << what << "\n" << config.dump() << std::endl;
  std::abort();
}

/// Finds "nan" and "inf" in places of numbers, and the interval of an estimate that is none.
void check_numbers(const std::string& text, const Json& json) {
  constexpr std::size_t around = 200;
  if (const std::size_t at = text.find("– ± ?"); at != std::string::npos)
    found("an interval of no number: " + text.substr(at - std::min(at, around), 2 * around), json);
  for (const char* word : {"nan", "inf"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const bool begins = at > 0 && std::string_view(" >\"(,[-").find(text[at - 1]) != std::string_view::npos;
      const bool ends =
          at + 3 < text.size() && std::string_view(" <\"),]%\n").find(text[at + 3]) != std::string_view::npos;
      if (begins && ends) found("no number: " + text.substr(at - std::min(at, around), 2 * around), json);
    }
  }
}

/// Runs the commands of a config on it: mostly `run`, with its page and its CSV.
void use(Random& random, Json json) {
  const Control control{.stop = stop_asked};
  const std::size_t verb = below(random, 10);
  if (verb < 2) {  // commands for one cell
    json.erase("sweep");
    json.erase("cases");
    json.erase("figures");
  }
  const Config config = read_config(json);
  switch (verb) {
    case 0:
      return check_numbers(terminal(exact_text(analyse_exactly(config, false))), json);
    case 1:
      proof_task(config);
      return;
    default:
      RunResult run = run_config(config, [&](std::uint64_t) { return control; });
      if (run.result.partial) return;
      run.timings.command = "speclab run config.json";
      check_numbers(html(result_page(run, result_section(run, "result")), ""), json);
      if (!run.all) check_numbers(csv_of(run.result, run.timings), json);
  }
}

void check_refusal(const ConfigError& error, const Json& json) {
  constexpr std::size_t longest = 1500;
  const std::string sentence = error.sentence();
  if (sentence.size() > longest)
    found(fmt::format("a message of {} bytes: {}", sentence.size(), sentence), json);
  if (!sentence.starts_with('/')) found("a message without a path: " + sentence, json);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t seed = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < size; ++i) seed = (seed ^ data[i]) * 0x100000001b3U;
  Random random(seed);
  const bool made = below(random, 6) == 0;
  Json json = made ? random_value(random, *config_type().type, 0) : one_of(random, shipped_configs());
  make_counts_small(random, json);
  swept().clear();
  if (json.contains("sweep") && json["sweep"].is_object()) {
    for (const auto& [path, values] : json["sweep"].items()) swept().push_back(path);
  }
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) change(random, json);
  // Work that takes long is stopped: another test covers slow configs.
  constexpr std::clock_t enough = CLOCKS_PER_SEC / 2;
  const std::function<bool()> stop = [end = std::clock() + enough] { return std::clock() > end; };
  const StopScope scope(&stop);
  try {
    use(random, json);
  } catch (const ConfigError& error) {
    check_refusal(error, json);
  } catch (const Stopped&) {
  } catch (const std::exception& error) {
    found(std::string("not refused at a path: ") + error.what(), json);
  }
  return 0;
}
