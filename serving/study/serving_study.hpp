// The experiment "serving": its section of a config and its results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"
#include "serving/queues/run_numbers.hpp"
#include "serving/server/serving.hpp"
#include "serving/study/serving_kinds.hpp"

namespace speclab {

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
  Selected<AcceptanceKind> acceptance = kind_named(acceptance_family(), "rate");
  Selected<StepPolicyKind> policy = kind_named(step_policy_family(), "fixed");
  std::optional<Selected<StepCostKind>> cost;
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

/// The law of acceptance with `gamma` and with alpha where the section leaves it out.
AcceptanceLaw acceptance_of(const ServingSection& section, std::uint32_t gamma, std::optional<double> alpha);
/// The section's server. ConfigError where it cannot be served.
ServerOptions server_of(const ServingSection& section, std::uint32_t gamma, const AcceptanceLaw& law,
                        const StepTimes& times);
/// The server that a config describes, with its own acceptance and costs.
ServerOptions server_of(const Config& config);

/// The section's requests. ConfigError unless it says when they arrive.
RequestStream stream_of(const ServingSection& section);
/// The same requests at another rate a second.
RequestStream at_rate(RequestStream stream, const ServingSection& section, double requests_per_second);
LoadSize size_of(const ServingSection& section);

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
