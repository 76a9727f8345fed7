// The experiment "serving": its section of a config and its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"
#include "serving/queues/run_numbers.hpp"
#include "serving/queues/step_time.hpp"
#include "serving/server/serving.hpp"

namespace speclab {

/// Laws of the same mean number of accepted tokens, as engines make them up for benchmarks.
enum class MeanLaw { constant_rate, least_variance, all_or_none };

/// Requests of one kind.
struct ClassSection {
  double share = 0;
  std::vector<double> positions;  ///< given those before; beyond the last at its rate
};

/// One of `rate`, `positions`, `rounds`, `classes`, `mean`, `easy` and `recorded` says what is known; none:
/// "alpha" of the config.
struct AcceptanceSection {
  std::optional<double> rate;
  double spread = 0;                                 ///< standard deviation of the rate between requests
  std::optional<std::vector<double>> positions;      ///< given those before
  std::optional<std::vector<std::uint64_t>> rounds;  ///< counts by accepted tokens, 0 first
  std::optional<std::vector<ClassSection>> classes;
  std::optional<double> mean;            ///< accepted tokens a round
  MeanLaw law = MeanLaw::constant_rate;  ///< of `mean`
  std::optional<double> easy;            ///< rate in easy stretches of a text
  double hard = 0;
  double easy_tokens = 10;  ///< mean length of a stretch
  double hard_tokens = 10;
  std::optional<std::string> recorded;  ///< a file of rounds (serving/traces/confident_rounds.hpp)
};

/// Two models on a device (analysis/cost/roofline.hpp), with the defaults of `speclab plan`.
struct ModelsSection {
  std::string target;
  std::string draft;  ///< empty: none, with gamma 0
  std::string device;
  std::string dtype = "bf16";
  int devices = 1;
  std::optional<int> draft_devices;
  double routing_exponent = Transformer{}.routing_exponent;
  double bandwidth_efficiency = Machine{}.bandwidth_efficiency;
  double flops_efficiency = Machine{}.flops_efficiency;
  double run_overhead_us = 100;
  double layer_overhead_us = 5;
  double reduce_latency_us = 10;
  double step_ms = 0;
  bool idle_draft = true;  ///< the draft runs at gamma = 0, too
};
const Typed<ModelsSection>& serving_models_type();
/// ConfigError for names that are unknown, and where the draft is missing with gamma above 0.
CostPair costs_of(const ModelsSection& models, int gamma);

enum class StepPolicyName { fixed, table, sglang, gate, goodput, adaptive, optimal, clairvoyant };

/// Of the policy `adaptive`. One of `correlation` and `auc`, or acceptance is recorded with confidences.
struct VerificationSection {
  std::optional<double> correlation;
  std::optional<double> auc;
  bool waits = false;
  double step_ms = 0;
};

/// Options of an engine that are keys as they are, and what others are made of.
struct EngineSection : EngineOptions {
  std::uint32_t replicas = 1;
  double front_ms = 0;
  std::uint64_t cache_tokens = 0;
  double stale_loss = 0;
  std::uint32_t stale_window = 1;
};

/// Drafts on a device of their own; one of `hit` and `rank_shares` says how likely outcomes are drafted for.
struct DraftDeviceSection {
  std::optional<double> hit;
  std::optional<std::vector<double>> rank_shares;
  std::uint32_t outcomes = 1;
  bool plain_after_miss = false;
};

struct ServingSection {
  std::optional<double> requests_per_second;
  std::optional<std::uint32_t> clients;
  std::optional<std::string> trace;  ///< a file of requests
  double bursts = 1;
  double burst_seconds = 10;
  double prompt = 512;
  double output = 256;
  double length_variation = 0;
  bool geometric_output = false;
  AcceptanceSection acceptance;
  StepPolicyName policy = StepPolicyName::fixed;
  std::uint32_t gate_window = 100;  ///< steps
  double gate_threshold = 1;        ///< accepted tokens a round
  std::vector<GammaTable::Row> table;
  VerificationSection verification;
  LinearStep cost;
  std::optional<ModelsSection> models;
  EngineSection engine;
  std::optional<DraftDeviceSection> draft_device;
  std::uint64_t requests = 2000;
  std::uint64_t settle = 200;
  std::optional<std::uint64_t> settle_after;
  std::uint32_t runs = 8;
  double percentile = 95;
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  OrderedMap<double> measured;  ///< of such a server, by names of ServingNumber
};

/// What the config describes; ConfigError where it cannot be served.
ServerOptions server_of(const Config& config);
RequestStream stream_of(const ServingSection& section);
LoadSize size_of(const ServingSection& section);
/// ConfigError unless gamma can be served and steps take time.
void check_costs(const Config& config);

/// A number of the simulation, with what was measured where that is known. Times are in milliseconds.
struct ServingNumber {
  std::string name;
  std::optional<Interval> simulated{};  ///< none where the state of the cell leaves nothing to know
  std::optional<double> measured{};
};

/// Requests arrive faster than `overloaded_share` of what the full server can serve.
inline constexpr const char* overloaded_state = "overloaded";
/// The measured requests are too few, or those before them, to say anything.
inline constexpr const char* too_short_state = "too short";

struct ServingResult {
  std::optional<std::string> state{};  ///< one of these; none: the server keeps up
  /// Of an overloaded server those of the full one; but where no requests follow the measured ones, those of
  /// a benchmark of so many requests.
  std::vector<ServingNumber> numbers{};
};

template <>
const Typed<ServingResult>& described();

/// From results alone.
Presentation serving_presentation();

}  // namespace speclab
