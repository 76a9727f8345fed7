// What `speclab plan` was told about costs, as a cost model.
#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "experiments/advisor/planning.hpp"

namespace speclab {

/// --c, --draft and --draft-times: what one draft costs.
void add_draft_cost_options(boost::program_options::options_description& options);
/// What the target costs: it and the device by the roofline, or measured times.
void add_target_cost_options(boost::program_options::options_description& options);

/// Costs of the target and of one draft, and where they come from.
struct KnownCosts {
  CostPair pair;
  std::string from;
  std::string draft;                        ///< as servers know it; may be empty
  DraftMethod method = DraftMethod::draft;  ///< as --method says, or as the draft's config.json does
  std::optional<int> most_drafted = {};     ///< tokens a round, where the draft has a limit
};

/// `draft` is a preset's name, or c as a number, as --drafter and --draft give it; empty: as --c and
/// --draft-times say. Throws UsageError for unknown names, numbers out of range, and options that contradict
/// one another or leave costs open. With --method mtp and no draft, the target's own modules draft.
KnownCosts costs_of(const boost::program_options::variables_map& values, const std::string& draft,
                    const Operation& at);

/// The target as servers know it; empty when no preset was named.
std::string target_repository(const boost::program_options::variables_map& values);

/// --method; a draft model without it.
DraftMethod method_option(const boost::program_options::variables_map& values);

/// A number option within [least, most]; UsageError otherwise.
double checked_number(const boost::program_options::variables_map& values, const char* name, double least,
                      double most);

}  // namespace speclab
