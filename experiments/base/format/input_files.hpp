// The files that a JSON document names, found by the types of its values.
#pragma once

#include <functional>
#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

/// Replaces the path in every input file (see input_file) of a value of this type by what `place` gives for
/// it. Other texts stay, equal ones too, and so do values of a wrong form, which are left for `read` to
/// refuse.
void place_input_files(const Type& type, Json& json,
                       const std::function<std::string(const std::string& path)>& place);

}  // namespace speclab
