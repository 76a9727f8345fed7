// The options of `speclab plan` for costs.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "experiments/base/format/json.hpp"
#include "serving/advisor/pair_costs.hpp"

namespace speclab {

/// Adds the options for the costs of the target and of one draft: --c, --draft and --draft-times.
void add_cost_options(boost::program_options::options_description& options);
/// Adds the options for the target's costs: a model and a device for the roofline, or measured times.
void add_target_cost_options(boost::program_options::options_description& options);

/// Adds --method, for verbs that print settings of servers.
void add_method_option(boost::program_options::options_description& options);

/// Returns the keys of costs whose options the user gave; defaults do not count. Text that is no number is
/// passed on, so that `read` refuses it.
Json given_costs(const boost::program_options::variables_map& values);
/// Returns the costs that these options give, in one of the forms of costs. `draft`, if not empty, replaces
/// the options for a draft: a preset's name, or c as a number. Throws UsageError for options that the form
/// lacks or does not have.
PairCosts pair_costs(const boost::program_options::variables_map& values, const std::string& draft = "");
/// Returns the target and one draft, as `pair_costs` reads them. Throws UsageError for unknown names, numbers
/// out of range, and options that contradict one another or leave costs open.
PlannedPair costs_of(const boost::program_options::variables_map& values, const std::string& draft,
                     const Operation& at);

/// Throws UsageError, which says why, for the first of these options that the user gave; defaults do not
/// count.
void refuse_given(const boost::program_options::variables_map& values,
                  std::initializer_list<const char*> options, const std::string& why);
/// Throws UsageError for a given batch, context or share of memory that these costs do not depend on.
void refuse_unread(const boost::program_options::variables_map& values, const CostPair& costs);

/// Returns a number option within [least, most]. Throws UsageError otherwise.
double checked_number(const boost::program_options::variables_map& values, const char* name, double least,
                      double most);
/// Does the same for an integer.
std::uint64_t checked_count(const boost::program_options::variables_map& values, const char* name,
                            double least, double most);
/// Declares a number option with a default.
boost::program_options::typed_value<double>* number_or(double otherwise);

}  // namespace speclab
