// Options of the command line that are keys of a described object: one text, one range and one default for
// both.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// "--run-overhead-us" for "run_overhead_us", without the dashes.
std::string option_of_key(std::string key);
/// Declares an option of this name (without dashes) that is the key `field`: with its sentence, and with
/// `usual` as its default, null for none. A truth value is an option without a value.
void add_key_option(boost::program_options::options_description& options, const std::string& option,
                    const Field& field, const Json& usual);

/// The text of such an option as a value of this type; a text that is none is left for `read` to refuse.
/// Lists are numbers between commas.
Json json_of_option(const Type& type, const std::string& text);
/// The keys of an object whose options were given, defaults apart.
Json given_keys(const boost::program_options::variables_map& values, const ObjectType& object);

}  // namespace speclab
