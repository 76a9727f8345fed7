// The sampling options of a config: a RequestLaw (core/distribution/request_options.hpp), read and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/distribution/request_options.hpp"
#include "experiments/base/format/fields.hpp"

namespace speclab {

class Model;

/// Describes sampling options.
const Typed<RequestLaw>& sampling_type();

/// Returns the options that differ from their defaults, as JSON without braces and quotes.
std::string request_words(const RequestLaw& law);

/// Throws ConfigError at or below `path` for options that do not fit each other, or tokens outside the
/// vocabulary, if it is known.
void check_sampling(const RequestLaw& law, std::optional<std::int32_t> vocab, const std::string& path);

/// Returns the model with these options; `prompt` is the number of tokens before the first emitted one, if
/// known. Throws ConfigError at or below `path`, also if the options need an unknown prompt.
Model with_sampling(Model model, const RequestLaw& law, std::optional<std::size_t> prompt,
                    const std::string& path);

}  // namespace speclab
