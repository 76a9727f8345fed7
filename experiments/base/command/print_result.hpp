// Prints a result on standard output, as JSON or as text.
#pragma once

#include <fmt/format.h>

#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

void print_json(const Json& json);
/// Returns the value of type `type` that `value` points to as JSON text.
std::string json_text_of(const void* value, const Type& type);
template <class T>
std::string json_text_of(const T& result) {
  return json_text_of(&result, *described<T>().type);
}
template <class T, class Text>
void print(const T& result, const Typed<T>& type, bool as_json, const Text& text_of) {
  fmt::print("{}", as_json ? json_text_of(&result, *type.type) + "\n" : text_of(result));
}

}  // namespace speclab
