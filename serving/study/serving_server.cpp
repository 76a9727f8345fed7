// Makes a server from the section "serving": its requests, engine, acceptance, policy and costs.
#include <cmath>
#include <memory>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

namespace {

Length length_of(double mean, double variation, const char* path) {
  if (variation == 0 && mean != std::floor(mean))
    throw ConfigError(path, "{}: a fixed length is an integer", mean);
  return varied_length(mean, variation);
}

/// Returns the recorded requests of a section with a trace.
RequestStream recorded_stream(const ServingSection& section) {
  const char* path = "/serving/trace";
  if (section.clients || section.bursts > 1)
    throw ConfigError(path, "a trace has its own arrivals: leave out clients and bursts");
  if (section.geometric_output || section.length_variation > 0)
    throw ConfigError(path, "a trace has its own lengths: leave out geometric_output and length_variation");
  RequestStream stream;
  try {
    stream.trace = std::make_shared<const Trace>(read_trace(*section.trace, section.trace_unit));
  } catch (const UsageError& error) {
    throw ConfigError(path, error.what());
  } catch (const ConfigError& error) {
    throw ConfigError(path, "{}: {}", *section.trace, error.what());
  }
  return at_rate(stream, section, section.requests_per_second.value_or(trace_rate(*stream.trace)));
}

/// Returns the longest draft of the section's policy.
std::uint32_t longest_drafted(const ServingSection& section, std::uint32_t gamma) {
  const StepPolicyKind& policy = section.policy.entry();
  return policy.max_drafted ? policy.max_drafted(section.policy) : gamma;
}

}  // namespace

RequestStream at_rate(RequestStream stream, const ServingSection& section, double requests_per_second) {
  if (stream.trace) {
    stream.arrivals = TraceArrivals{requests_per_second / trace_rate(*stream.trace)};
  } else {
    stream.arrivals = bursty_arrivals(requests_per_second, section.bursts, section.burst_seconds);
  }
  return stream;
}

RequestStream stream_of(const ServingSection& section) {
  if (section.trace) return recorded_stream(section);
  if (section.trace_unit) throw ConfigError("/serving/trace_unit", "there is no trace; leave it out");
  if (section.requests_per_second.has_value() == section.clients.has_value()) {
    throw ConfigError("/serving", "give one of requests_per_second, clients and trace");
  }
  RequestStream stream;
  stream.prompt = length_of(section.prompt, section.length_variation, "/serving/prompt");
  stream.output = length_of(section.output, section.length_variation, "/serving/output");
  if (section.geometric_output) stream.output = GeometricLength{section.output};
  if (!section.clients) return at_rate(stream, section, *section.requests_per_second);
  stream.arrivals = ClosedLoop{*section.clients};
  return stream;
}

AcceptanceLaw acceptance_of(const ServingSection& section, const AcceptanceRequest& request) {
  const AcceptanceKind& acceptance = section.acceptance.entry();
  if (request.alpha && !acceptance.of_alpha)
    throw ConfigError("/alpha", "acceptances of kind \"{}\" do not read it; leave it out", acceptance.name);
  if (acceptance.positions && acceptance.positions(section.acceptance) < request.max_drafted) {
    throw ConfigError(
        "/serving/acceptance/rates",
        "{} positions, and up to {} tokens are drafted, whose acceptance is unknown; give more, or \"classes\", whose last rate holds beyond",
        acceptance.positions(section.acceptance), request.max_drafted);
  }
  return acceptance.make(section.acceptance, request);
}

ServerOptions server_of(const ServingSection& section, std::uint32_t gamma, const AcceptanceLaw& law,
                        const StepTime& time) {
  const EngineSection& engine = section.engine;
  ServerOptions options{
      .engine = engine, .replicas = engine.replicas, .front_ms = engine.front_ms, .acceptance = law};
  options.engine.cache_blocks = engine.cache_tokens / engine.block_tokens;
  if (engine.cache_tokens > 0 && options.engine.cache_blocks == 0) {
    throw ConfigError("/serving/engine/cache_tokens",
                      "{} tokens are less than a block, which has {}; 0 means no limit", engine.cache_tokens,
                      engine.block_tokens);
  }
  options.engine.time = time;
  options.policy = section.policy.entry().make(section.policy, {gamma, law, time});
  return options;
}

ServerOptions server_of(const Config& config) {
  const auto& section = config.section<ServingSection>();
  const auto gamma = static_cast<std::uint32_t>(config.gamma);
  if (!section.cost) throw ConfigError("/serving/cost", "missing; it says how long a step takes");
  const StepTime time = section.cost->entry().make(*section.cost, longest_drafted(section, gamma));
  return server_of(section, gamma,
                   acceptance_of(section, {config.alpha, gamma, longest_drafted(section, gamma)}), time);
}

LoadSize size_of(const ServingSection& section) {
  return {section.requests, section.settle, section.settle_after.value_or(section.settle)};
}

}  // namespace speclab
