// The options of `speclab plan` about costs.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>

#include "serving/advisor/pair_costs.hpp"

namespace speclab {

/// What one draft costs, --c, --draft and --draft-times, and the target.
void add_cost_options(boost::program_options::options_description& options);
/// What the target costs: it and the device by the roofline, or measured times.
void add_target_cost_options(boost::program_options::options_description& options);

/// --method, where servers' settings are printed.
void add_method_option(boost::program_options::options_description& options);

/// What these options say, in one of the forms of costs. `draft` is a preset's name, or c as a number, in
/// place of the options for a draft; empty: as they have it. Throws UsageError for what is missing in the
/// form, or no part of it.
PairCosts pair_costs(const boost::program_options::variables_map& values, const std::string& draft = "");
/// The target and one draft, as `pair_costs` has them. Throws UsageError for unknown names, numbers out of
/// range, and options that contradict one another or leave costs open.
PlannedPair costs_of(const boost::program_options::variables_map& values, const std::string& draft,
                     const Operation& at);

/// A number option within [least, most]; UsageError otherwise.
double checked_number(const boost::program_options::variables_map& values, const char* name, double least,
                      double most);
/// The same for an integer.
std::uint64_t checked_count(const boost::program_options::variables_map& values, const char* name,
                            double least, double most);
/// The declaration of a number option with a default.
boost::program_options::typed_value<double>* number_or(double otherwise);

}  // namespace speclab
