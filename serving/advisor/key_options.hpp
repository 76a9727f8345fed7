// Makes command-line options from keys of a described object, so that both share description, range and
// default.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Returns a key's option without dashes: "run-overhead-us" for "run_overhead_us".
std::string option_of_key(std::string key);
/// Declares an option (name without dashes) for the key `field`, with the key's description and the default
/// `usual` (null: none). A boolean becomes an option without a value.
void add_key_option(boost::program_options::options_description& options, const std::string& option,
                    const Field& field, const Json& usual);

/// Converts an option's text to a value of this type. Passes text that does not fit on, so that `read`
/// refuses it. Lists are numbers separated by commas.
Json json_of_option(const Type& type, const std::string& text);
/// Returns the keys of an object whose options the user gave; defaults do not count.
Json given_keys(const boost::program_options::variables_map& values, const ObjectType& object);

}  // namespace speclab
