// Descriptions of the structs of results. Unlike a config's, their fields have no sentence: what a field is
// stands at the member. The description of numbers, text and lists of them follows from the member's type;
// others name theirs:
//     result_object<Row>("row", {{"name", &Row::name}, {"interval", &Row::interval, interval_type()}})
// Members of type std::optional are left out when they are empty; every other key must be there on reading.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/config/fields.hpp"

namespace speclab {

namespace detail {

template <class T>
Typed<T> plain_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return boolean();
  } else if constexpr (std::integral<T>) {
    return integer<T>(std::is_signed_v<T> ? -9.2e18 : 0, 9.2e18);
  } else if constexpr (std::floating_point<T>) {
    return any_number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text();
  } else if constexpr (requires { typename T::value_type::first_type; }) {
    return map(plain_type<typename T::value_type::second_type>());
  } else {
    return list(plain_type<typename T::value_type>());
  }
}

}  // namespace detail

/// One key of the struct S.
template <class S>
class ResultField {
 public:
  template <class Value, class Base>
  ResultField(std::string name, Value Base::*member)
      : ResultField(std::move(name), member, detail::plain_type<typename detail::Held<Value>::Type>()) {}

  /// `type` describes the member, or the entries of a list or map.
  template <class Value, class Base, class T>
  ResultField(std::string name, Value Base::*member, const Typed<T>& type) {
    using Whole = typename detail::Held<Value>::Type;
    if constexpr (std::is_same_v<Whole, T>) {
      field_ = field<S>(std::move(name), member, type, "");
    } else if constexpr (std::is_same_v<Whole, OrderedMap<T>>) {
      field_ = field<S>(std::move(name), member, map(type), "");
    } else {
      field_ = field<S>(std::move(name), member, list(type), "");
    }
    field_.required = !field_.optional();
  }

  // NOLINTNEXTLINE(google-explicit-constructor): any field of S
  ResultField(Field field) : field_(std::move(field)) {}

  operator Field() && { return std::move(field_); }  // NOLINT(google-explicit-constructor)

 private:
  Field field_;
};

/// A field that is left out when it is empty, zero or false.
template <class S, class Value, class... Type>
ResultField<S> sparse(std::string name, Value S::*member, const Type&... type) {
  Field field = ResultField<S>(std::move(name), member, type...);
  field.required = false;
  field.create = field.at;
  field.at = [at = field.create](void* object) -> void* {
    auto* value = static_cast<Value*>(at(object));
    if constexpr (requires { value->empty(); }) {
      return value->empty() ? nullptr : value;
    } else {
      return *value == Value{} ? nullptr : value;
    }
  };
  return field;
}

/// `first` are fields before the others, such as those of a base (`inherited`).
template <class S>
Typed<S> result_object(std::string name, std::vector<ResultField<S>> fields, std::vector<Field> first = {}) {
  for (ResultField<S>& field : fields) first.push_back(std::move(field));
  return object<S>(std::move(name), "", std::move(first));
}

}  // namespace speclab
