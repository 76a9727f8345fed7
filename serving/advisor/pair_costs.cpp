#include "serving/advisor/pair_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "serving/advisor/head_config.hpp"
#include "serving/advisor/model_config.hpp"
#include "serving/advisor/presets.hpp"

namespace speclab {

namespace {

constexpr double micro = 1e-6;
constexpr int max_devices = 1024;

/// Returns a model with the data types that its config.json states, or else the one that `given` names
/// (empty: bf16). In the second case embeddings and outputs stay in 16 bits, as in checkpoints. Throws
/// ConfigError at `key` if both are given and differ.
RooflineCost stored_in(std::string given, Machine machine, Transformer model, const PairCosts& costs,
                       const std::string& path, const char* key) {
  if (model.stored && !given.empty() && given != model.stored_as) {
    throw ConfigError(path + key, "{}: /quantization_config of {} says {}; leave it out", given, model.source,
                      model.stored_as);
  }
  if (given.empty()) given = "bf16";
  Precision named = precision_named(given, path + key);
  const double bytes = named.weight_bytes;
  machine.precision = precision_of(model, named);
  if (!model.stored) {
    model.stored_as = given;
    model.arithmetic = named.arithmetic;
    if (model.layers > 0 && bytes < Precision{}.weight_bytes)
      model.stored = StoredBytes{bytes, bytes, bytes, Precision{}.weight_bytes, bytes};
  }
  if (!costs.cache_dtype.empty())
    machine.precision.cache_bytes = precision_named(costs.cache_dtype, path + "/cache_dtype").weight_bytes;
  return {machine, model};
}

/// Returns the data type given for a draft: draft_dtype or, unless the draft's config.json states one, dtype.
/// Throws ConfigError if that file says 16 bits and dtype has fewer, because either may be meant.
std::string given_for_draft(const PairCosts& costs, const Transformer& draft, const std::string& path) {
  if (!costs.draft_dtype.empty()) return costs.draft_dtype;
  if (draft.stored || costs.dtype.empty()) return "";
  if (!draft.stored_as.empty() && draft.head != HeadKind::mtp &&
      precision_named(costs.dtype, path + "/dtype").weight_bytes < Precision{}.weight_bytes)
    throw ConfigError(path + "/draft_dtype",
                      "missing: dtype is {}, and {} says {}: which of them is the draft's data type?",
                      costs.dtype, draft.source, draft.stored_as);
  return costs.dtype;
}

/// Adds the data types of a pair in words, unless both are bf16. `name_of` returns that of a model.
void add_numbers(PlannedPair& pair, const char* what, const auto& name_of) {
  const auto* const draft = std::get_if<RooflineCost>(&pair.costs.draft);
  const std::string own = name_of(std::get<RooflineCost>(pair.costs.target).model);
  const std::string other = draft == nullptr ? own : name_of(draft->model);
  if (own == "bf16" && other == "bf16") return;
  const std::string of_draft = other == own ? "" : fmt::format(" (draft: {})", other);
  pair.numbers.push_back(fmt::format("{} in {}{}", what, own, of_draft));
}

/// Reads a number of parameters: 30.5e9, 30.5B, 800M or 1.6T.
double parameters_in(std::string text, const std::string& whole, const std::string& path) {
  double unit = 1;
  if (!text.empty()) {
    const std::size_t at = std::string_view("KMBT").find(static_cast<char>(std::toupper(text.back())));
    if (at != std::string_view::npos) {
      unit = std::pow(1e3, static_cast<double>(at) + 1);
      text.pop_back();
    }
  }
  const auto number = number_in(text);
  constexpr double fewest = 1000;  // a smaller number lacks its unit
  if (!number || !(*number * unit >= fewest))
    throw ConfigError(
        path, "\"{}\"; expected total or total,active numbers of parameters, such as 30.5B,3.3B", whole);
  return *number * unit;
}

/// Returns a target whose sizes alone are stated. Its layers are not known, so that they add no overhead.
Transformer stated_model(const PairCosts& costs, const std::string& path) {
  const std::string at = path + "/parameters";
  const std::string& text = costs.parameters;
  const std::size_t comma = text.find(',');
  Transformer model{.name = costs.target};
  model.published = parameters_in(text.substr(0, comma), text, at);
  if (comma != std::string::npos) model.published_active = parameters_in(text.substr(comma + 1), text, at);
  if (model.published_active > model.published)
    throw ConfigError(at, "\"{}\": the active parameters exceed the total", text);
  // A number of bytes below 500 lacks its unit.
  if (const auto kept = costs.kv_bytes_per_token; !kept || (*kept > 0 && *kept < 500))
    throw ConfigError(path + "/kv_bytes_per_token",
                      "{} beside parameters; expected bytes, 500 or more, or 0: without a cache",
                      kept ? fmt::format("{:g}", *kept) : "missing");
  if (costs.draft.empty() && !costs.cache_dtype.empty())
    throw ConfigError(path + "/cache_dtype", "kv_bytes_per_token is in bytes already; leave it out");
  Mixer cache;
  cache.layers = 1;
  cache.parts = max_devices;  // assumed to be divided evenly among all devices
  cache.kept = *costs.kv_bytes_per_token;
  model.mixers = {cache};
  model.source = "--parameters";
  model.notes.push_back(
      "The target is known by --parameters alone: its runs have no overhead for layers and no arithmetic of attention, and each further token reads active parameters that are assumed to be chosen at random.");
  return model;
}

Machine machine_of(const PairCosts& costs, const std::string& path) {
  return {.device = device_named(costs.device, path + "/device"),
          .devices = costs.devices,
          .precision = {},
          .bandwidth_efficiency = costs.bandwidth_efficiency,
          .flops_efficiency = costs.flops_efficiency,
          .run_overhead = micro * costs.run_overhead_us,
          .layer_overhead = micro * costs.layer_overhead_us,
          .reduce_latency = micro * costs.reduce_latency_us,
          .states = costs.recurrent_states.value_or(0)};
}

/// Reads lines tokens,batch,ms, with or without that header.
MeasuredCost times_of(const std::string& file) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  std::vector<MeasuredPoint> points;
  try {
    for (const auto& row : read_numbers(text, file, {"tokens", "batch", "ms"}))
      points.push_back({row[0], row[1], row[2]});
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  try {
    return MeasuredCost(points);
  } catch (const std::invalid_argument& error) {
    throw UsageError("{}: {}", file, error.what());
  }
}

/// Returns the words for a kind of head, in the order of the enumeration.
const char* words(HeadKind kind) {
  constexpr const char* all[]{"a model",      "an EAGLE head", "an EAGLE-3 head", "MTP modules",
                              "Medusa heads", "a DFlash head", "a DSpark head",   "a Domino head"};
  return all[static_cast<std::size_t>(kind)];
}

/// Returns the draft of a preset or a config.json, and sets its drafting method.
Transformer named_draft(const PairCosts& costs, const std::string& path, const Transformer& target,
                        PlannedPair& pair) {
  Transformer model = model_named(costs.draft, path + "/draft");
  if (!model.repository.empty() || is_model_config(costs.draft)) pair.draft = model.repository;
  if (!model.is_head() && model.layers == 1 && model.hidden == target.hidden) {
    if (!costs.method) {
      throw ConfigError(
          path + "/method",
          "missing: {} has one layer of the target's width: give eagle if it is an EAGLE head, or draft if it is a model",
          model.source);
    }
    if (*costs.method == DraftMethod::eagle) model = eagle_head(model);
  }
  if (model.is_head()) {
    const DraftMethod method = method_of(model.head);
    if (costs.method && *costs.method != method) {
      throw ConfigError(path + "/method", "{}: {} is {}; leave the method out", word_of(*costs.method),
                        model.source, words(model.head));
    }
    pair.method = method;
    model = fitted_to(model, target);
    if (model.max_drafted > 0) pair.max_drafted = model.max_drafted;
    return model;
  }
  // Heads and MTP modules have other costs than a model.
  if (pair.method != DraftMethod::draft) {
    throw ConfigError(path + "/method", "{}: {} is a model of its own; {}", word_of(pair.method), model.name,
                      pair.method == DraftMethod::mtp ? "the target's own modules draft: leave the draft out"
                      : pair.method == DraftMethod::ngram ? "the text drafts: leave the draft out"
                                                          : "give the config.json of the head");
  }
  if (model.vocab > 0 && target.vocab > 0 && model.vocab != target.vocab)
    model.notes.push_back(fmt::format(
        "The draft {} has {} tokens and the target {} {}: the plan assumes that their tokens are the same, apart from padding.",
        model.name, model.vocab, target.name, target.vocab));
  return model;
}

Transformer own_modules(const Transformer& target, const std::string& path) {
  if (target.mtp_modules > 0) return mtp_drafter(target);
  throw ConfigError(
      path + "/method",
      "mtp: the target {} has no modules for multi-token prediction: /num_nextn_predict_layers and /mtp_num_hidden_layers are missing or 0 in {}; give another method, or c",
      target.name, target.source);
}

/// Sets the costs of two models on a device. A draft with a given c has no roofline.
void add_roofline(const PairCosts& costs, const std::string& path, PlannedPair& pair) {
  const bool stated = !costs.parameters.empty();
  if (!stated && costs.kv_bytes_per_token)
    throw ConfigError(path + "/kv_bytes_per_token", "only parameters need it; leave it out");
  Transformer target = stated ? stated_model(costs, path) : model_named(costs.target, path + "/target");
  if (costs.routing_exponent) target.routing_exponent = *costs.routing_exponent;
  if (target.is_head()) throw ConfigError(path + "/target", "{} is a draft head, not a model", target.name);
  pair.target = target.repository;
  if (pair.target.empty() && !is_model_config(costs.target)) pair.target = target.name;
  RooflineCost cost = stored_in(costs.dtype, machine_of(costs, path), target, costs, path, "/dtype");
  if (stated) cost.machine.precision.cache_bytes = 1;  // the cache is stated in bytes
  const Machine machine = cost.machine;
  pair.costs.target = std::move(cost);
  pair.cost_from = fmt::format(
      "roofline (assumed: {:g}% of the bandwidth, {:g}% of the FLOP/s, {:g} µs a run, {:g} µs a layer{})",
      100 * costs.bandwidth_efficiency, 100 * costs.flops_efficiency, costs.run_overhead_us,
      costs.layer_overhead_us,
      costs.devices > 1 ? fmt::format(", {:g} µs an all-reduce", costs.reduce_latency_us) : "");
  bool experts = target.experts > 1 || target.published_active > 0;
  bool states = state_bytes(machine, target, 0) > 0;
  const bool own = costs.draft.empty() && !costs.c && pair.method == DraftMethod::mtp;
  if (!costs.draft.empty() || own) {
    Machine of_draft = machine;
    if (costs.draft_devices) of_draft.devices = *costs.draft_devices;
    if (of_draft.devices > machine.devices)
      throw ConfigError(path + "/draft_devices",
                        "{}, but the target runs on {}: the draft runs on some of these", of_draft.devices,
                        machine.devices);
    Transformer draft = own ? own_modules(target, path) : named_draft(costs, path, target, pair);
    draft.routing_exponent = target.routing_exponent;
    experts = experts || draft.experts > 1;
    states = states || state_bytes(of_draft, draft, 0) > 0;
    pair.costs.draft =
        stored_in(given_for_draft(costs, draft, path), of_draft, draft, costs, path, "/draft_dtype");
  } else if (costs.draft_devices || !costs.draft_dtype.empty()) {
    throw ConfigError(path + (costs.draft_devices ? "/draft_devices" : "/draft_dtype"),
                      "no draft model is given; leave it out");
  }
  // Engines take the data type of a checkpoint from its config.json.
  if (!costs.dtype.empty() || !costs.draft_dtype.empty())
    add_numbers(pair, "weights", [](const Transformer& model) { return model.stored_as; });
  add_numbers(pair, "caches", [&](const Transformer& model) {
    return !costs.cache_dtype.empty() ? costs.cache_dtype : model.eight_bit_cache ? "fp8" : "bf16";
  });
  if (costs.routing_exponent && !experts)
    throw ConfigError(path + "/routing_exponent", "{} has no experts", target.name);
  if (costs.recurrent_states && !states)
    throw ConfigError(path + "/recurrent_states", "{} has no linear attention; leave it out", target.name);
}

std::vector<Field> all_fields() {
  using C = PairCosts;
  return {
      field("c", &C::c, number(0, 1000), "Time of a draft run / time of a target run over one token."),
      field("draft", &C::draft, text(), "Draft model: a preset or the path of a config.json."),
      field("draft_times", &C::draft_times, input_file(),
            "File of measured times of the draft: CSV tokens,batch,ms."),
      field("target", &C::target, text(), "Target model: a preset or the path of a config.json."),
      field("parameters", &C::parameters, text(),
            "Sizes of a target without a config.json: total or total,active, as 30.5B,3.3B."),
      field("kv_bytes_per_token", &C::kv_bytes_per_token, number(0, 1e8),
            "Bytes that its cache stores for each token, in all layers."),
      field("device", &C::device, text(), "Device: a preset (speclab plan list devices), or a .json file."),
      integer_field("devices", &C::devices, 1, max_devices,
                    "Devices that run the target, in tensor parallel."),
      integer_field("draft_devices", &C::draft_devices, 1, max_devices,
                    "Devices that run the draft (default: as many as the target)."),
      field(
          "dtype", &C::dtype, text(),
          "Data type of the weights, except embeddings and outputs: bf16, fp16, fp8, int8, nvfp4, mxfp4, or int4 (default: as a config.json says, else bf16)."),
      field("draft_dtype", &C::draft_dtype, text(),
            "The same for the draft (default: as its config.json says, else as dtype)."),
      field("cache_dtype", &C::cache_dtype, text(),
            "Data type of the caches (default: as a config.json says, else bf16)."),
      integer_field("recurrent_states", &C::recurrent_states, 1, 1024,
                    "States that linear attention keeps per sequence (default: 1 + γ; replay: 1)."),
      field("bandwidth_efficiency", &C::bandwidth_efficiency, number(0.01, 1),
            "Reachable share of the memory bandwidth (assumed)."),
      field("flops_efficiency", &C::flops_efficiency, number(0.01, 1),
            "Reachable share of the peak FLOP/s (assumed)."),
      field("run_overhead_us", &C::run_overhead_us, number(0, 1e6),
            "Microseconds of overhead per run: launch, sampling, host (assumed)."),
      field("layer_overhead_us", &C::layer_overhead_us, number(0, 1e6),
            "Microseconds of overhead per layer (assumed)."),
      field("reduce_latency_us", &C::reduce_latency_us, number(0, 1e6),
            "Microseconds per all-reduce, in addition to moving its bytes (assumed)."),
      field("routing_exponent", &C::routing_exponent, number(0, 1),
            "n tokens of a sequence use as many experts as n^exponent independent ones (default 0.79)."),
      field("target_times", &C::target_times, input_file(),
            "File of measured times of the target: CSV tokens,batch,ms."),
      field("method", &C::method, choice<DraftMethod>(draft_methods),
            "Drafting method: draft, ngram, eagle, eagle3, mtp, medusa, dflash, dspark or domino.")};
}

/// Returns the fields for which `kept` is true; those in `needed` are required.
std::vector<Field> some_fields(const std::vector<std::string_view>& needed, bool (*kept)(std::string_view)) {
  std::vector<Field> fields = all_fields();
  std::erase_if(fields, [&](const Field& one) { return !kept(one.name); });
  for (Field& one : fields) one.required = std::ranges::find(needed, one.name) != needed.end();
  return fields;
}

}  // namespace

const Typed<PairCosts>& pair_costs_type() {
  static const auto type = object<PairCosts>("costs", "Costs of a target and its draft.", all_fields());
  return type;
}

const Typed<PairCosts>& pair_costs_type(CostForm form) {
  static const auto models = object<PairCosts>(
      "models on a device", "Two models on a device, by the roofline.",
      some_fields({"target", "device"}, [](auto name) { return !name.ends_with("_times"); }));
  static const auto times = object<PairCosts>(
      "measured times", "Measured times of both models.", some_fields({"target_times"}, [](auto name) {
        return name == "c" || name == "method" || name.ends_with("_times");
      }));
  return form == CostForm::models ? models : times;
}

bool has_draft(const PairCosts& costs) {
  return costs.c || !costs.draft.empty() || !costs.draft_times.empty() ||
         costs.method == DraftMethod::ngram || (costs.method == DraftMethod::mtp && !costs.device.empty());
}

PlannedPair planned_pair(const PairCosts& costs, const std::string& path, const Operation& at) {
  if (int(costs.c.has_value()) + int(!costs.draft.empty()) + int(!costs.draft_times.empty()) > 1)
    throw ConfigError(path, "give one of c, draft and draft_times");
  PlannedPair pair{.draft = costs.draft, .method = costs.method.value_or(DraftMethod::draft)};
  pair.cost_from = "given";
  if (!costs.device.empty()) {
    add_roofline(costs, path, pair);
    if (std::holds_alternative<RooflineCost>(pair.costs.draft)) return pair;
  } else if (!costs.target_times.empty()) {
    pair.costs.target = times_of(costs.target_times);
    pair.cost_from = "measured times";
  }
  pair.costs.stated = draft_runs(pair.method);
  if (!costs.draft_times.empty()) {
    pair.costs.draft = times_of(costs.draft_times);
    const double c = draft_cost(pair.costs, {known_costs(pair.costs).min_batch, 0});
    // Only looking up n-grams takes hardly any time.
    if (c > 10 || (c < 0.001 && pair.method != DraftMethod::ngram))
      throw ConfigError(
          path + "/draft_times",
          "a draft run takes {:.3g} times as long as a target run over one token: are both files in milliseconds? If so, give c instead",
          c);
    return pair;
  }
  const std::string target_from = pair.cost_from == "given" ? "" : "; the target by its " + pair.cost_from;
  // Each draft run takes c times a target run over one token at the batch of the question.
  pair.costs.draft =
      ConstantCost{costs.c ? *costs.c * run_ms(pair.costs.target, {1, at.batch, at.context}) : 0};
  if (costs.c) {
    pair.cost_from = "given" + target_from;
  } else if (pair.method == DraftMethod::ngram) {
    pair.cost_from = "assumed: looking up n-grams takes next to no time (--c sets another)" + target_from;
  }
  return pair;
}

}  // namespace speclab
