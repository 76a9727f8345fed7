// The experiment "serving": its section of a config and its results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"
#include "serving/queues/run_numbers.hpp"
#include "serving/server/serving.hpp"
#include "serving/study/serving_kinds.hpp"
#include "serving/traces/arrival_trace.hpp"

namespace speclab {

/// Engine options. The added members are config keys from which other options are computed.
struct EngineSection : EngineOptions {
  std::uint32_t replicas = 1;
  double front_ms = 0;
  std::uint64_t cache_tokens = 0;
};

struct ServingSection {
  std::optional<double> requests_per_second;
  std::optional<std::uint32_t> clients;
  std::optional<std::string> trace;  ///< file of recorded requests
  std::optional<TimeUnit> trace_unit;
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
  std::uint64_t requests = 2000;
  std::uint64_t settle = 200;
  std::optional<std::uint64_t> settle_after;
  std::uint32_t runs = 8;
  double percentile = 95;
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  OrderedMap<double> measured;  ///< measured on a server with these settings; names of ServingNumber
};

/// Returns the acceptance law. Throws ConfigError for an alpha that it does not read, and for drafts beyond
/// the known positions.
AcceptanceLaw acceptance_of(const ServingSection& section, const AcceptanceRequest& request);
/// Returns the section's server. Throws ConfigError if it would not work.
ServerOptions server_of(const ServingSection& section, std::uint32_t gamma, const AcceptanceLaw& law,
                        const StepTime& time);
/// Returns a config's server, with its acceptance and costs.
ServerOptions server_of(const Config& config);

/// Returns the section's requests. Throws ConfigError unless it says when they arrive.
RequestStream stream_of(const ServingSection& section);
/// Returns `stream` with another rate, in requests per second.
RequestStream at_rate(RequestStream stream, const ServingSection& section, double requests_per_second);
LoadSize size_of(const ServingSection& section);

/// A simulated number, and its measured value if there is one. Times are in ms.
struct ServingNumber {
  std::string name;
  std::optional<Interval> simulated{};  ///< empty if unknown in this state of the cell
  std::optional<double> measured{};
};

/// State: requests arrive at `overloaded_share` of the full server's capacity, or faster.
inline constexpr const char* overloaded_state = "overloaded";
/// State: so few requests were measured, or came before the measured ones, that there is no result.
inline constexpr const char* too_short_state = "too short";

struct ServingResult {
  std::optional<std::string> state{};  ///< one of the states above; empty: the server keeps up
  std::optional<bool> few_requests{};  ///< set if few_requests_at(load) held
  /// The server's numbers. If overloaded, those of the full server or, if no requests follow the measured
  /// ones, those of a benchmark with these requests.
  std::vector<ServingNumber> numbers{};
};

SPECLAB_IS_DESCRIBED(ServingNumber);
SPECLAB_IS_DESCRIBED(ServingResult);

/// Returns whether a run measures so few requests that intervals over runs are too narrow at this load, the
/// rate of arrivals in units of the full server's. Such a queue needs about 1/(1 - load)^2 requests to forget
/// its state. In simulations of M/D/1 queues with fewer than 20 times as many, 95% intervals of p95 held in
/// 55% (load 0.95, 2,000 requests) to 88% (0.9, 1,000) of cases.
inline bool few_requests_at(double load, std::uint64_t requests) {
  constexpr double enough = 20;
  return static_cast<double>(requests) * (1 - load) * (1 - load) < enough;
}
inline constexpr const char* few_requests_words =
    "so few requests at this load that the intervals of times, and of p95 most of all, are too narrow, and the times themselves too short";

/// Returns whether the measured requests are too few. They are if no time passes while they arrive. With open
/// arrivals they are, too, if fewer tokens are emitted in that time than they ask for, because the requests
/// before them have then not filled the server.
bool too_short(std::span<const RunNumbers> runs, bool open);
/// Returns the numbers of a server over its runs. A number that means nothing in this state is empty.
ServingResult result_of(const ServingSection& section, const LoadSize& size, std::span<const RunNumbers> runs,
                        std::optional<std::string> state, double confidence);
/// Returns a number's name in tables, in which the targets are SLOs; with units, at an axis.
inline std::string shown_name(const std::string& name, bool unit = false) {
  if (name == "targets kept") return "meet SLOs";
  return unit && name != "tokens/s" ? name + ", ms" : name;
}
/// Returns a simulated number by its name; null if it is not known.
const Interval* simulated(const ServingResult& result, const std::string& name);

/// Returns the presentation, which reads results alone.
Presentation serving_presentation();

}  // namespace speclab
