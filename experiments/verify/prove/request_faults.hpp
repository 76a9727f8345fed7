// Mistakes of engines about the filters of a request, by name, and the section "prove" of a config, which
// plants them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/exact/request_rounds.hpp"

namespace speclab {

struct Config;

/// A HistoryFault of a real engine or proposal.
struct NamedFault {
  std::string name;
  std::string sentence;
  std::string source;  ///< empty: a control, or a mistake that was described without a name
  HistoryFault fault;
};

/// Returns all; the first is no fault.
const std::vector<NamedFault>& history_faults();

/// How `speclab prove` treats a config with sampling options.
struct ProveSection {
  std::optional<std::int32_t> tokens;  ///< emitted tokens to compare; default: 2 gamma + 2
  std::string fault = "none";          ///< one of history_faults()
};

/// Returns the request that a proof of this config follows over several rounds; empty if one round decides:
/// no option remembers tokens, and the section "prove" asks for nothing. Throws ConfigError for options that
/// do not fit.
std::optional<RequestTask> request_of(const Config& config);

}  // namespace speclab
