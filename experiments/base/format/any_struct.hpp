// Holds a struct of any type, which can be read only as that type.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace speclab {

/// Holds nothing or a struct. Copies share the struct.
class AnyStruct {
 public:
  AnyStruct() = default;
  AnyStruct(std::nullptr_t) {}
  template <class T>
  AnyStruct(std::shared_ptr<T> value) : held_(std::move(value)), type_(&typeid(T)) {}
  template <class T>
  requires(std::is_class_v<T>&& std::is_aggregate_v<T>) AnyStruct(T value)
      : AnyStruct(std::make_shared<T>(std::move(value))) {}

  explicit operator bool() const { return held_ != nullptr; }
  bool operator==(std::nullptr_t) const { return held_ == nullptr; }

  template <class T>
  bool is() const {
    return held_ != nullptr && *type_ == typeid(T);
  }
  /// Returns the struct as T. Throws std::logic_error if it has another type or if there is none.
  template <class T>
  const T& as() const {
    if (!is<T>()) throw std::logic_error(std::string("not a struct of type ") + typeid(T).name());
    return *static_cast<const T*>(held_.get());
  }

  /// Returns the address through which descriptions read and write the struct.
  const std::shared_ptr<void>& address() const { return held_; }

 private:
  std::shared_ptr<void> held_;
  const std::type_info* type_ = nullptr;
};

}  // namespace speclab
