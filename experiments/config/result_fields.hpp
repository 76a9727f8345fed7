// Descriptions of the structs of results. Unlike a config's, their fields have no sentence: what a field is
// stands at the member. A struct whose keys are the names of its members is described by these alone:
//     SPECLAB_RESULT(Row, "row", name, interval)
// and from there on stands in other results by its type. Others name keys and descriptions:
//     result_object<Row>("row", {{"name", &Row::name}, {"sides", &Row::sides, integer<int>(2, 100)}})
// Members of type std::optional are left out when they are empty; every other key must be there on reading.
#pragma once

#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/seq/for_each_i.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
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
  } else if constexpr (requires { typename T::value_type; }) {
    return list(plain_type<typename T::value_type>());
  } else {
    return described<T>();
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

/// A field that is left out when it is empty, zero or false. For a member of a base give the struct itself.
template <class S = void, class Value, class Base, class... Type>
auto sparse(std::string name, Value Base::*member, const Type&... type) {
  using Made = ResultField<std::conditional_t<std::is_void_v<S>, Base, S>>;
  Field field = Made(std::move(name), member, type...);
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
  return Made(std::move(field));
}

/// `first` are fields before the others, such as those of a base (`inherited`).
template <class S>
Typed<S> result_object(std::string name, std::vector<ResultField<S>> fields, std::vector<Field> first = {}) {
  for (ResultField<S>& field : fields) first.push_back(std::move(field));
  return object<S>(std::move(name), "", std::move(first));
}

/// {"a", &S::a}, {"b", &S::b}: keys that are the names of their members.
#define SPECLAB_FIELDS(S, ...) \
  BOOST_PP_SEQ_FOR_EACH_I(SPECLAB_FIELD, S, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
#define SPECLAB_FIELD(r, S, i, member) \
  BOOST_PP_COMMA_IF(i) { BOOST_PP_STRINGIZE(member), &S::member }

/// Defines described<S>() of a struct with such keys. Ends in a declaration, which takes the semicolon.
#define SPECLAB_RESULT(S, name, ...) SPECLAB_DESCRIBED(S, name, {}, __VA_ARGS__)
/// The same, after the fields of a base that is described so.
#define SPECLAB_DERIVED_RESULT(S, Base, name, ...) \
  SPECLAB_DESCRIBED(S, name, inherited<S>(described<Base>()), __VA_ARGS__)
#define SPECLAB_DESCRIBED(S, name, first, ...)                                                \
  template <>                                                                                 \
  const Typed<S>& described() {                                                               \
    static const auto type = result_object<S>(name, {SPECLAB_FIELDS(S, __VA_ARGS__)}, first); \
    return type;                                                                              \
  }                                                                                           \
  template <>                                                                                 \
  const Typed<S>& described()

}  // namespace speclab
