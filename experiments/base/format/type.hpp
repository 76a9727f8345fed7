// Maps values of C++ types to JSON. One description per type serves reading with error messages, writing,
// defaults, the JSON schema, `speclab list` and the reference page.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/base/format/json.hpp"

namespace speclab {

class ObjectType;
class FamilyBase;

/// One type of value. `value` points to the described C++ type (see fields.hpp).
class Type {
 public:
  Type() = default;
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  virtual ~Type() = default;

  /// Reads `json` into `*value`. Throws ConfigError, which names `path`, for any other value.
  virtual void read(const Json& json, const std::string& path, void* value) const = 0;
  virtual void write(const void* value, Json& json) const = 0;

  /// Returns the value's form and range in words: "a number > 0 and <= 1".
  virtual std::string words() const = 0;
  /// Writes the value's JSON Schema to `out`; families become references.
  virtual void schema(Json& out) const = 0;

  /// Returns the type that one step of a JSON pointer leads to; null if there is none.
  virtual const Type* below(const std::string& /*step*/) const { return element(); }

  /// Adds the paths of the input files (see input_file) that the value names.
  virtual void add_input_files(const void* /*value*/, std::vector<std::string>& /*files*/) const {}

  virtual const ObjectType* object() const { return nullptr; }
  virtual const FamilyBase* family() const { return nullptr; }
  /// Returns the type of the entries of a list or map; null for other types.
  virtual const Type* element() const { return nullptr; }
};

using TypePtr = std::shared_ptr<const Type>;

/// The description of values of the C++ type T.
template <class T>
struct Typed {
  TypePtr type;
};

/// Returns the description of T, a struct or an enumeration, in results. Every type that results contain
/// specialises it (result_fields.hpp).
template <class T>
const Typed<T>& described();
/// Declares it for a T whose description another file defines.
#define SPECLAB_IS_DESCRIBED(T) \
  template <>                   \
  const Typed<T>& described()

/// Throws ConfigError, such as "5 is not a number > 0 and <= 1".
[[noreturn]] void reject(const std::string& path, const Json& value, const std::string& wanted);

/// Returns a value as an error message shows it, shortened.
std::string shown(const Json& value);

/// Replaces the path in every input file (see input_file) of a value of this type by the result of `place`.
/// Leaves other texts unchanged, even equal ones, and values of the wrong form, which `read` rejects.
void place_input_files(const Type& type, Json& json,
                       const std::function<std::string(const std::string& path)>& place);

}  // namespace speclab
