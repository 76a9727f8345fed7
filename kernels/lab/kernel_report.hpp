// The output of `speclab bench kernels`: text and files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

struct KernelText {
  std::vector<std::pair<std::string, std::string>> facts;  ///< "Version", "Device", "Command", ...
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

/// Returns the text: verification by size, ceilings of the device, and what was left out.
/// Tables have at most `max_rows` rows, and their notes count the rest; 0: all.
KernelText kernel_text(const KernelReport& report, std::size_t max_rows = 0);
/// Returns the text of a dry run: launches and bytes.
KernelText kernel_text(const DryRunReport& report, std::size_t max_rows = 0);

/// Returns one CSV row for each row of "verification".
std::string kernel_csv(const KernelReport& report);

}  // namespace speclab
