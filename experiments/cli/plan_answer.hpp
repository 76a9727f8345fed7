// What `speclab plan` is asked, and what it answers.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/cli/verb.hpp"
#include "experiments/page/page.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The plan of whatever was asked for: of a drafter, several, a recording, or a config of several cases.
struct PlanAnswer {
  std::string json;
  Listing text;  ///< for people
  std::vector<std::string> warnings;
  std::string headline;         ///< what was found, in a sentence
  std::vector<Figure> figures;  ///< of its page
};

/// The options, and the words around them.
Usage plan_usage();

/// Plans what parsed options ask for. None when `control` ended it early. Throws UsageError and ConfigError.
std::optional<PlanAnswer> plan_answer(const boost::program_options::variables_map& values,
                                      const Control& control);

}  // namespace speclab
