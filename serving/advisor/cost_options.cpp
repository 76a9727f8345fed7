#include "serving/advisor/cost_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "serving/advisor/key_options.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

/// Declares the options of the keys of costs. --method is declared apart, where settings are printed.
void add_options(po::options_description& options, bool of_draft) {
  const ObjectType& costs = *pair_costs_type().type->object();
  for (const Field& field : costs.fields()) {
    const bool drafts = field.name == "c" || field.name == "draft" || field.name == "draft_times";
    if (field.name == "method" || (drafts && !of_draft)) continue;
    add_key_option(options, option_of_key(field.name), field, costs.fallback(field));
  }
}

/// An error about a key is one about its option, which is --drafter where the draft is given by that.
template <class Work>
auto by_option(const std::string& draft, const Work& work) {
  try {
    return work();
  } catch (const ConfigError& error) {
    const std::string key = error.path == "/draft" && !draft.empty() ? "drafter" : error.path.substr(1);
    throw UsageError("--{}: {}", option_of_key(key), error.what());
  }
}

/// What is left open, or given twice, among the options.
void check_given(const PairCosts& costs) {
  if (int(costs.c.has_value()) + int(!costs.draft.empty()) + int(!costs.draft_times.empty()) > 1)
    throw UsageError("give one of --c, --draft and --draft-times");
  const bool device = !costs.device.empty();
  if (device != !costs.target.empty())
    throw UsageError("--device and --target go together: a roofline needs both");
  if (device && (!costs.target_times.empty() || !costs.draft_times.empty()))
    throw UsageError("give either --device and models, or measured times, not both");
  if (!costs.draft_times.empty() && costs.target_times.empty())
    throw UsageError("--draft-times needs --target-times: costs are relative to the target's");
  if (!costs.draft.empty() && !device)
    throw ConfigError("/draft", "{}: what it costs needs --device and --target", costs.draft);
  if (has_draft(costs) &&
      (device || costs.method != DraftMethod::mtp || costs.c || !costs.draft_times.empty()))
    return;
  throw UsageError(
      "what drafting costs is missing: give --c, or --device with --target and --draft (without it, --method "
      "mtp is of the target's own modules), or --target-times and --draft-times");
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
    PairCosts costs = read(pair_costs_type(), given_keys(values, *pair_costs_type().type->object()), "");
    if (const auto c = number_in(draft)) {
      pair_costs_type().type->below("c")->read(Json(*c), "/draft", &costs.c.emplace());
    } else if (!draft.empty()) {
      costs.draft = draft;
    }
    return costs;
  });
}

PlannedPair costs_of(const po::variables_map& values, const std::string& draft, const Operation& at) {
  const PairCosts costs = pair_costs(values, draft);
  return by_option(draft, [&] {
    check_given(costs);
    return planned_pair(costs, "", at);
  });
}

}  // namespace speclab
