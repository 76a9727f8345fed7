// How values of C++ types stand in JSON: one description serves reading with errors, writing, defaults,
// the JSON schema, `speclab list` and the reference page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/format/json.hpp"

namespace speclab {

class ObjectType;
class FamilyBase;

/// One kind of value. `value` points to the C++ type that the description was made for (see fields.hpp).
class Type {
 public:
  Type() = default;
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  virtual ~Type() = default;

  /// Reads `json` into `*value`. Throws ConfigError, naming `path`, for anything that is not such a value.
  virtual void read(const Json& json, const std::string& path, void* value) const = 0;
  virtual void write(const void* value, Json& json) const = 0;

  /// The value's form and range in words: "a number > 0 and <= 1".
  virtual std::string words() const = 0;
  /// The value as JSON Schema; families are references.
  virtual void schema(Json& out) const = 0;

  /// The type below one step of a JSON pointer, null when there is none.
  virtual const Type* below(const std::string& /*step*/) const { return element(); }

  /// Adds the paths of the input files (see input_file) that the value names.
  virtual void add_input_files(const void* /*value*/, std::vector<std::string>& /*files*/) const {}

  virtual const ObjectType* object() const { return nullptr; }
  virtual const FamilyBase* family() const { return nullptr; }
  /// The type of the entries of a list or map; null for others.
  virtual const Type* element() const { return nullptr; }
};

using TypePtr = std::shared_ptr<const Type>;

/// A description of values of the C++ type T.
template <class T>
struct Typed {
  TypePtr type;
};

/// How T, a struct or an enumeration, stands in results. Specialised for each that does (result_fields.hpp).
template <class T>
const Typed<T>& described();

/// Throws ConfigError: "5 is not a number > 0 and <= 1".
[[noreturn]] void reject(const std::string& path, const Json& value, const std::string& wanted);

/// A value as it stands in an error message, shortened.
std::string shown(const Json& value);

}  // namespace speclab
