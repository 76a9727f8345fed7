#include "serving/advisor/cost_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv_reader.hpp"
#include "serving/advisor/head_config.hpp"
#include "serving/advisor/presets.hpp"

namespace speclab {

namespace po = boost::program_options;

namespace {

constexpr double largest_cost = 1000;
constexpr double micro = 1e-6;

int device_count(const po::variables_map& values, const char* name) {
  constexpr int most = 1024;
  const int count = values[name].as<int>();
  if (count < 1 || count > most) throw UsageError("--{} {}: expected 1 to {}", name, count, most);
  return count;
}

Machine machine_of(const po::variables_map& values) {
  Machine machine;
  machine.device = device_named(values["device"].as<std::string>(), "--device");
  machine.devices = device_count(values, "devices");
  machine.precision = precision_named(values["dtype"].as<std::string>(), "--dtype");
  machine.bandwidth_efficiency = checked_number(values, "bandwidth-efficiency", 0.01, 1);
  machine.flops_efficiency = checked_number(values, "flops-efficiency", 0.01, 1);
  machine.run_overhead = micro * checked_number(values, "run-overhead-us", 0, 1e6);
  machine.layer_overhead = micro * checked_number(values, "layer-overhead-us", 0, 1e6);
  machine.reduce_latency = micro * checked_number(values, "reduce-latency-us", 0, 1e6);
  return machine;
}

MeasuredCost times_of(const std::string& file) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  std::vector<MeasuredPoint> points;
  try {
    each_row(text, file, {{"tokens"}, {"batch"}, {"ms"}},
             [&](const std::string& where, const std::vector<std::string>& fields) {
               const auto tokens = number_in(fields[0]);
               const auto batch = number_in(fields[1]);
               const auto ms = number_in(fields[2]);
               if (!tokens || !batch || !ms) {
                 throw UsageError(
                     "{}: \"{}\"; expected three numbers: tokens, batch and ms, such as 1,8,12.5", where,
                     fmt::format("{}", fmt::join(fields, ",")).substr(0, 80));
               }
               points.push_back({*tokens, *batch, *ms});
             });
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  try {
    return MeasuredCost(points);
  } catch (const std::invalid_argument& error) {
    throw UsageError("{}: {}", file, error.what());
  }
}

double checked_c(double c, const std::string& where) {
  if (!(c >= 0 && c <= largest_cost)) {
    throw UsageError("{}: c = {}; expected a number >= 0 and <= {}", where, c, largest_cost);
  }
  return c;
}

const char* words(HeadKind kind) {
  return kind == HeadKind::eagle3   ? "an EAGLE-3 head"
         : kind == HeadKind::medusa ? "Medusa heads"
                                    : "a DFlash head";
}

/// The draft that a preset or a config.json names, and the method it is of. `stated`: whether --method is
/// given.
Transformer named_draft(const std::string& name, const std::string& option, const Transformer& target,
                        bool stated, PlannedPair& pair) {
  Transformer model = model_named(name, option);
  if (!model.repository.empty()) pair.draft = model.repository;
  if (model.is_head()) {
    const DraftMethod method = method_of(model.head);
    if (stated && pair.method != method) {
      throw UsageError("--method {}: {} is {}; leave --method out", word_of(pair.method), model.source,
                       words(model.head));
    }
    pair.method = method;
    model = fitted_to(model, target);
    if (model.most_drafted > 0) pair.most_drafted = model.most_drafted;
    return model;
  }
  // Their cost is of another kind than a model's.
  if (draft_runs(pair.method) == DraftRuns::a_round || pair.method == DraftMethod::mtp) {
    throw UsageError("--method {}: {} is a model of its own; {}", word_of(pair.method), pair.draft,
                     pair.method == DraftMethod::mtp ? "the target's own modules draft: leave the draft out"
                                                     : "give the config.json of the head");
  }
  return model;
}

Transformer own_modules(const Transformer& target) {
  if (target.mtp_modules > 0) return mtp_drafter(target);
  throw UsageError(
      "--method mtp: the target {} has no modules for multi-token prediction: /num_nextn_predict_layers and /mtp_num_hidden_layers are missing or 0 in {}; give another --method, or --c",
      target.name, target.source);
}

}  // namespace

void add_cost_options(po::options_description& options) {
  auto add = options.add_options();
  add("c", po::value<double>(), "time of a draft run / time of a plain target run");
  add("draft", po::value<std::string>(), "draft model, a preset or a config.json");
  add("draft-times", po::value<std::string>(), "measured times of the draft: CSV tokens,batch,ms");
  add_target_cost_options(options);
}

void add_target_cost_options(po::options_description& options) {
  auto add = options.add_options();
  add("target", po::value<std::string>(), "target model, a preset or a config.json");
  add("device", po::value<std::string>(), "device, a preset (speclab plan list devices)");
  add("devices", po::value<int>()->default_value(1), "devices in tensor parallel");
  add("draft-devices", po::value<int>(), "the same for the draft (default: as the target)");
  add("dtype", po::value<std::string>()->default_value("bf16"),
      "bf16, fp16, fp8, int8, or int4 (weights only); caches are 16-bit");
  add("bandwidth-efficiency", number_or(0.8), "share of the bandwidth to be had (assumed)");
  add("flops-efficiency", number_or(0.7), "share of the peak FLOP/s to be had (assumed)");
  add("run-overhead-us", number_or(100), "microseconds a run: launch, sampling, host (assumed)");
  add("layer-overhead-us", number_or(5), "microseconds a layer (assumed)");
  add("reduce-latency-us", number_or(10), "microseconds an all-reduce, besides its bytes (assumed)");
  add("routing-exponent", number_or(Transformer{}.routing_exponent),
      "n tokens of a sequence touch experts as n^exponent do; 1: independent");
  add("target-times", po::value<std::string>(), "measured times of the target: CSV tokens,batch,ms");
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

DraftMethod method_option(const po::variables_map& values) {
  if (values.count("method") == 0) return DraftMethod::draft;
  const auto& word = values["method"].as<std::string>();
  const auto named = draft_method_named(word);
  if (!named) {
    throw UsageError("--method {}: expected draft, ngram, eagle, eagle3, mtp, medusa or dflash", word);
  }
  return *named;
}

PlannedPair costs_of(const po::variables_map& values, const std::string& draft, const Operation& at) {
  const auto given = [&](const char* name) { return values.count(name) > 0; };
  if (given("device") != given("target")) {
    throw UsageError("--device and --target go together: a roofline needs both");
  }
  if (given("device") && (given("target-times") || given("draft-times"))) {
    throw UsageError("give either --device and models, or measured times, not both");
  }
  if (given("draft-times") && !given("target-times")) {
    throw UsageError("--draft-times needs --target-times: costs are relative to the target's");
  }
  PlannedPair pair{.method = method_option(values)};
  std::optional<double> c;
  if (draft.empty()) {
    if (int(given("c")) + int(given("draft")) + int(given("draft-times")) > 1) {
      throw UsageError("give one of --c, --draft and --draft-times");
    }
    if (given("c")) c = checked_c(values["c"].as<double>(), "--c");
    if (given("draft")) pair.draft = values["draft"].as<std::string>();
  } else if (const auto number = number_in(draft)) {
    c = checked_c(*number, "--drafter");
  } else {
    pair.draft = draft;
  }
  const std::string option = draft.empty() ? "--draft" : "--drafter";
  if (!pair.draft.empty() && !given("device")) {
    model_named(pair.draft, option);
    throw UsageError("{} {}: what it costs needs --device and --target", option, pair.draft);
  }

  if (given("device")) {
    const Machine machine = machine_of(values);
    Transformer target = model_named(values["target"].as<std::string>(), "--target");
    target.routing_exponent = checked_number(values, "routing-exponent", 0, 1);
    if (target.is_head()) throw UsageError("--target {}: is a draft head, no model", target.name);
    pair.target = target.repository.empty() ? target.name : target.repository;
    pair.costs.target = RooflineCost{machine, target};
    pair.cost_from = "roofline";
    const bool own = pair.draft.empty() && !c && pair.method == DraftMethod::mtp;
    if (!pair.draft.empty() || own) {
      Machine of_draft = machine;
      if (given("draft-devices")) of_draft.devices = device_count(values, "draft-devices");
      Transformer model =
          own ? own_modules(target) : named_draft(pair.draft, option, target, given("method"), pair);
      model.routing_exponent = target.routing_exponent;
      pair.costs.draft = RooflineCost{of_draft, model};
    }
    const auto* const drafter = std::get_if<RooflineCost>(&pair.costs.draft);
    const bool has_experts = target.experts > 1 || (drafter != nullptr && drafter->model.experts > 1);
    if (!has_experts && !values["routing-exponent"].defaulted())
      throw UsageError("--routing-exponent: {} has no experts", target.name);
    if (drafter != nullptr) return pair;
  } else if (given("target-times")) {
    pair.costs.target = times_of(values["target-times"].as<std::string>());
    pair.cost_from = "measured times";
    if (given("draft-times") && !c) {
      pair.costs.draft = times_of(values["draft-times"].as<std::string>());
      pair.costs.stated = draft_runs(pair.method);
      return pair;
    }
  } else {
    pair.cost_from = "given";
  }
  if (!c) {
    throw UsageError(
        "what drafting costs is missing: give --c, or --device with --target and --draft (without it, --method "
        "mtp is of the target's own modules), or --target-times and --draft-times");
  }
  pair.costs.stated = draft_runs(pair.method);
  // A draft run of a fixed time: c of a plain target run at the batch asked about.
  pair.costs.draft = ConstantCost{*c * run_ms(pair.costs.target, {1, at.batch, at.context})};
  if (pair.cost_from != "given") pair.cost_from = "given; the target by its " + pair.cost_from;
  return pair;
}

}  // namespace speclab
