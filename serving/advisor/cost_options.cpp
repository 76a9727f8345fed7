#include "serving/advisor/cost_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "serving/advisor/key_options.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

/// Declares the options for the keys of costs, except --method, which verbs that print settings declare.
void add_options(po::options_description& options, bool of_draft) {
  const ObjectType& costs = *pair_costs_type().type->object();
  for (const Field& field : costs.fields()) {
    const bool drafts = field.name == "c" || field.name == "draft" || field.name == "draft_times";
    if (field.name == "method" || (drafts && !of_draft)) continue;
    add_key_option(options, option_of_key(field.name), field, costs.fallback(field));
  }
}

/// Runs `work`; reports an error about a key as one about its option (--drafter, if that gives the draft).
template <class Work>
auto by_option(const std::string& draft, const Work& work) {
  try {
    return work();
  } catch (const ConfigError& error) {
    if (!error.file.empty()) throw;
    const bool drafter = !draft.empty() && (error.path == "/draft" || error.path == "/c");
    const std::string key = error.path.substr(1);
    throw UsageError("{}{}",
                     key.empty() ? "" : fmt::format("--{}: ", drafter ? "drafter" : option_of_key(key)),
                     error.what());
  }
}

}  // namespace

void add_cost_options(po::options_description& options) { add_options(options, true); }
void add_target_cost_options(po::options_description& options) { add_options(options, false); }

void add_method_option(po::options_description& options) {
  const ObjectType& costs = *pair_costs_type().type->object();
  add_key_option(options, "method", costs.fields().back(), nullptr);
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

PairCosts pair_costs(const po::variables_map& values, const std::string& draft) {
  return by_option(draft, [&] {
    Json keys = given_keys(values, *pair_costs_type().type->object());
    if (const auto c = number_in(draft)) {
      keys["c"] = *c;
    } else if (!draft.empty()) {
      keys["draft"] = draft;
    }
    const auto any = [&](std::initializer_list<const char*> names) {
      return std::ranges::any_of(names, [&](const char* name) { return keys.contains(name); });
    };
    if (any({"target_times", "draft_times"})) return read(pair_costs_type(CostForm::times), keys, "");
    if (any({"target", "device", "draft"})) return read(pair_costs_type(CostForm::models), keys, "");
    return read(pair_costs_type(), keys, "");
  });
}

PlannedPair costs_of(const po::variables_map& values, const std::string& draft, const Operation& at) {
  const PairCosts costs = pair_costs(values, draft);
  if (has_draft(costs)) return by_option(draft, [&] { return planned_pair(costs, "", at); });
  throw UsageError(
      "the cost of drafting is missing: give --c, or --device with --target and --draft (without --draft, --method "
      "mtp uses the target's own modules), or --target-times and --draft-times");
}

}  // namespace speclab
