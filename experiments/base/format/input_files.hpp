// Finds the paths of input files in a JSON document, by the types of its values.
#pragma once

#include <functional>
#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

/// Replaces the path in every input file (see input_file) of a value of this type by the result of `place`.
/// Leaves other texts unchanged, even equal ones, and values of the wrong form, which `read` rejects.
void place_input_files(const Type& type, Json& json,
                       const std::function<std::string(const std::string& path)>& place);

}  // namespace speclab
