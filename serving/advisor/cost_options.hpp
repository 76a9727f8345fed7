// What `speclab plan` was told about costs, as a cost model.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <string>

#include "serving/advisor/planning.hpp"

namespace speclab {

/// What one draft costs, --c, --draft and --draft-times, and the target.
void add_cost_options(boost::program_options::options_description& options);
/// What the target costs: it and the device by the roofline, or measured times.
void add_target_cost_options(boost::program_options::options_description& options);

/// The target and one draft. `draft` is a preset's name, or c as a number, as --drafter and --draft give it;
/// empty: as --c and --draft-times say. The method is as --method says, or as the draft's config.json does.
/// Throws UsageError for unknown names, numbers out of range, and options that contradict one another or
/// leave costs open. With --method mtp and no draft, the target's own modules draft.
PlannedPair costs_of(const boost::program_options::variables_map& values, const std::string& draft,
                     const Operation& at);

/// --method; a draft model without it.
DraftMethod method_option(const boost::program_options::variables_map& values);

/// A number option within [least, most]; UsageError otherwise.
double checked_number(const boost::program_options::variables_map& values, const char* name, double least,
                      double most);
/// The same for an integer.
std::uint64_t checked_count(const boost::program_options::variables_map& values, const char* name,
                            double least, double most);
/// The declaration of a number option with a default.
boost::program_options::typed_value<double>* number_or(double otherwise);

}  // namespace speclab
