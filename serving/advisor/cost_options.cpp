#include "serving/advisor/cost_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv.hpp"
#include "serving/advisor/planning.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

std::string form_of(const Type& type) {
  Json schema = Json::object();
  type.schema(schema);
  return schema.contains("type") ? schema["type"].get<std::string>() : "";
}

Json number_of(const std::string& text) {
  // Integers stay integers, so that errors show them as such.
  if (const auto whole = integer_in(text)) return *whole;
  const auto number = number_in(text);
  return number ? Json(*number) : Json(text);
}

/// Returns the word that help shows for the value of a key, such as "NUMBER".
const char* value_word(const Type& type, const std::string& words) {
  const std::string form = form_of(type);
  if (form == "number") return "NUMBER";
  if (form == "integer") return "INTEGER";
  return words.starts_with("file") || words.find("CSV") != std::string::npos ? "FILE" : "NAME";
}

/// Descriptions of options begin with a small letter, unless with a name, and end without a full stop.
std::string words_of(std::string sentence) {
  const auto is_capital = [&](std::size_t i) { return sentence[i] >= 'A' && sentence[i] <= 'Z'; };
  if (sentence.size() > 1 && is_capital(0) && !is_capital(1))
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

/// Returns the option of a key without the dashes, such as "run-overhead-us" for "run_overhead_us".
std::string option_of_key(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// Declares the option of a key, whose value is a number or a text. `usual` is its default, or null.
void add_key_option(po::options_description& options, const Field& field, const Json& usual) {
  const std::string words = words_of(field.sentence);
  auto* const value = po::value<std::string>();
  value->value_name(value_word(*field.type, words));
  const std::string text = usual.is_string()         ? usual.get<std::string>()
                           : usual.is_number_float() ? fmt::format("{:g}", usual.get<double>())
                           : usual.is_number()       ? usual.dump()
                                                     : "";
  if (!text.empty()) value->default_value(text);
  options.add_options()(option_of_key(field.name).c_str(), value, words.c_str());
}

/// Runs `work`; reports an error about a key as one about its option.
template <class Work>
auto by_option(const Work& work) {
  try {
    return work();
  } catch (const ConfigError& error) {
    if (!error.file.empty()) throw;
    const std::string key = error.path.substr(1);
    throw UsageError("{}{}", key.empty() ? "" : fmt::format("--{}: ", option_of_key(key)), error.what());
  }
}

/// Limits the pair to drafts of the measured lengths, and adds the measured batches to `cost_from`. Throws
/// UsageError if the question is about other batches.
void limit_to_measured(const po::variables_map& values, const Operation& at, PlannedPair& pair) {
  const KnownCosts known = known_costs(pair.costs);
  if (!known.measured()) return;
  if (known.max_batch < known.min_batch)
    throw UsageError(
        "--draft-times: target and draft are measured at no common batch; give times of both at one");
  const std::string batches = known.min_batch == known.max_batch
                                  ? fmt::format("at batch {:g} only", known.max_batch)
                                  : fmt::format("at batches {:g} to {:g}", known.min_batch, known.max_batch);
  const auto refuse = [&](const char* option, double batch) {
    throw UsageError("--{} {:g}: times are measured {}; measure them at {:g}, too, or give another {}",
                     option, batch, batches, batch, option);
  };
  if (at.batch < known.min_batch || at.batch > known.max_batch) refuse("batch", at.batch);
  if (values.count("max-batch") > 0 && !values["max-batch"].defaulted() &&
      values["max-batch"].as<double>() > known.max_batch)
    refuse("max-batch", values["max-batch"].as<double>());
  if (known.max_gamma < 1)
    throw UsageError(
        "--target-times: runs over one token alone are measured, but a round verifies gamma + 1; measure runs over 2 "
        "tokens and more");
  pair.max_drafted = static_cast<int>(std::min<double>(pair.max_drafted.value_or(1000), known.max_gamma));
  pair.cost_from += ", " + batches;
}

}  // namespace

void add_cost_options(po::options_description& options) {
  const ObjectType& costs = *pair_costs_type().type->object();
  for (const Field& field : costs.fields()) {
    if (field.name != "method") add_key_option(options, field, costs.fallback(field));
  }
}

void add_method_option(po::options_description& options) {
  const ObjectType& costs = *pair_costs_type().type->object();
  add_key_option(options, costs.fields().back(), nullptr);
}

Json given_costs(const po::variables_map& values) {
  Json given = Json::object();
  for (const Field& field : pair_costs_type().type->object()->fields()) {
    const std::string option = option_of_key(field.name);
    if (values.count(option) == 0 || values[option].defaulted()) continue;
    const std::string& text = values[option].as<std::string>();
    const std::string form = form_of(*field.type);
    given[field.name] = form == "number" || form == "integer" ? number_of(text) : Json(text);
  }
  return given;
}

void refuse_given(const po::variables_map& values, std::initializer_list<const char*> options,
                  const std::string& why) {
  for (const char* option : options) {
    if (values.count(option) > 0 && !values[option].defaulted())
      throw UsageError("--{}: {}; leave it out", option, why);
  }
}

void refuse_unread(const po::variables_map& values, const CostPair& costs) {
  if (constant(costs)) {
    refuse_given(values, {"batch", "context", "memory-share", "max-batch"},
                 "c says nothing of batches, contexts and memory, as --device or measured times do");
  }
  if (!std::holds_alternative<RooflineCost>(costs.target))
    refuse_given(values, {"memory-share"}, "only a --device has a memory to share");
  if (known_costs(costs).measured())
    refuse_given(values, {"context"}, "measured times are those of the contexts at which they were measured");
}

double checked_number(const po::variables_map& values, const char* name, double least, double most) {
  const auto value = values[name].as<double>();
  if (!(value >= least && value <= most)) {
    throw UsageError("--{} {}: expected a number from {} to {}", name, value, least, most);
  }
  return value;
}

std::uint64_t checked_count(const po::variables_map& values, const char* name, double least, double most) {
  const double value = checked_number(values, name, least, most);
  if (value != std::floor(value)) throw UsageError("--{} {}: expected an integer", name, value);
  return static_cast<std::uint64_t>(value);
}

po::typed_value<double>* number_or(double otherwise) {
  return po::value<double>()->default_value(otherwise, fmt::format("{:g}", otherwise));
}

void require_models(const Json& keys) {
  if (keys.contains("c") && !keys.contains("target") && !keys.contains("device") && keys.size() == 1)
    throw UsageError("--c alone is not enough here: give --target and --device for the time of a target run");
  for (const auto& [key, list] : {std::pair{"target", "models"}, {"device", "devices"}}) {
    if (!keys.contains(key))
      throw UsageError("--{0}: missing; give --{0} (speclab plan list {1})", key, list);
  }
}

PairCosts pair_costs(const po::variables_map& values) {
  return by_option([&] {
    const Json keys = given_costs(values);
    if (keys.contains("target_times") || keys.contains("draft_times"))
      return read(pair_costs_type(CostForm::times), keys, "");
    // Every other key is one of models on a device, which then must be given.
    if (keys.size() > keys.count("c") + keys.count("method")) {
      require_models(keys);
      return read(pair_costs_type(CostForm::models), keys, "");
    }
    return read(pair_costs_type(), keys, "");
  });
}

void name_target(const po::variables_map& values, PlannedPair& pair) {
  if (values.count("model-name") > 0) pair.target = values["model-name"].as<std::string>();
}

PlannedPair costs_of(const po::variables_map& values, const Operation& at) {
  const PairCosts costs = pair_costs(values);
  if (has_draft(costs)) {
    PlannedPair pair = by_option([&] {
      PlannedPair found = planned_pair(costs, "", at);
      refuse_unservable(found.costs, "", at.context);
      return found;
    });
    refuse_unread(values, pair.costs);
    name_target(values, pair);
    limit_to_measured(values, at, pair);
    return pair;
  }
  throw UsageError(
      "the cost of drafting is missing: give --c, or --device with --target and --draft (without --draft, --method "
      "mtp uses the target's own modules, and --method ngram takes no time), or --target-times and --draft-times");
}

}  // namespace speclab
