// `speclab bench kernels` and `speclab check kernels`: parts of verbs with options of their own.
#pragma once

#include <string>
#include <vector>

namespace speclab {

/// `arguments` are those after "kernels".
int bench_kernels_verb(const std::vector<std::string>& arguments);
int check_kernels_verb(const std::vector<std::string>& arguments);

}  // namespace speclab
