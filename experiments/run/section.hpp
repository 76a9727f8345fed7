// Parts of a config that one experiment or verb reads, each a struct with a description.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/any_struct.hpp"
#include "experiments/format/type.hpp"

namespace speclab {

/// The key of a section, and the description of its struct. One line in all_sections.cpp each.
struct SectionKind {
  std::string key;
  TypePtr type;
  std::vector<std::string> aliases = {};
};
/// Every section; tests and other programs may add some.
std::vector<SectionKind>& section_kinds();

namespace detail {
const std::string& section_key(bool (*wanted)(const AnyStruct& section));
}
/// The key of the section whose struct is T.
template <class T>
const std::string& section_key() {
  return detail::section_key([](const AnyStruct& section) { return section.is<T>(); });
}

}  // namespace speclab
