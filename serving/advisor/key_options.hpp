// Makes options of the command line from the keys of a described object, so that both share one description,
// one range and one default.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Returns the option of a key without the dashes, such as "run-overhead-us" for "run_overhead_us".
std::string option_of_key(std::string key);
/// Declares an option of this name (without dashes) for the key `field`, with the key's description and the
/// default `usual`; null: no default. A truth value becomes an option without a value.
void add_key_option(boost::program_options::options_description& options, const std::string& option,
                    const Field& field, const Json& usual);

/// Returns the text of such an option as a value of this type. Text that does not fit is passed on, so that
/// `read` refuses it. Lists are numbers separated by commas.
Json json_of_option(const Type& type, const std::string& text);
/// Returns the keys of an object whose options the user gave; defaults do not count.
Json given_keys(const boost::program_options::variables_map& values, const ObjectType& object);

}  // namespace speclab
