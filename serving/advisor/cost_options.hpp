// Options of `speclab plan` that state costs.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "experiments/base/format/json.hpp"
#include "serving/advisor/pair_costs.hpp"

namespace speclab {

/// Adds options for the keys of costs, except --method.
void add_cost_options(boost::program_options::options_description& options);
/// Adds --method, for verbs that print server settings.
void add_method_option(boost::program_options::options_description& options);

/// Returns the keys of costs whose options the user gave; defaults do not count. Text that is no number is
/// passed on, so that `read` refuses it.
Json given_costs(const boost::program_options::variables_map& values);
/// Throws UsageError unless these keys name a target and a device.
void require_models(const Json& keys);
/// Returns the costs that these options state. Throws UsageError if options are missing or of another form.
PairCosts pair_costs(const boost::program_options::variables_map& values);
/// Returns the pair with the costs of `pair_costs`. Throws UsageError for unknown names, numbers out of
/// range, and options that contradict one another or leave costs open.
PlannedPair costs_of(const boost::program_options::variables_map& values, const Operation& at);

/// Sets the target's name for servers, if --model-name gives it.
void name_target(const boost::program_options::variables_map& values, PlannedPair& pair);

/// Throws UsageError, which says why, for the first of these options that the user gave.
void refuse_given(const boost::program_options::variables_map& values,
                  std::initializer_list<const char*> options, const std::string& why);
/// Throws UsageError for a given batch, context or share of memory that these costs do not depend on.
void refuse_unread(const boost::program_options::variables_map& values, const CostPair& costs);

/// Returns the value of a number option. Throws UsageError outside [least, most].
double checked_number(const boost::program_options::variables_map& values, const char* name, double least,
                      double most);
/// Returns the value of an integer option. Throws UsageError outside [least, most].
std::uint64_t checked_count(const boost::program_options::variables_map& values, const char* name,
                            double least, double most);
/// Declares a number option with a default.
boost::program_options::typed_value<double>* number_or(double otherwise);

}  // namespace speclab
