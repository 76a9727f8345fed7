// Descriptions of the structs of results. Unlike a config's fields, theirs have no sentence: the comment at
// the member documents the field. A struct whose keys are the names of its members is described by
//     SPECLAB_RESULT(Row, "row", name, interval)
// and other results can then contain it by its type alone. Other structs name keys and descriptions:
//     SPECLAB_OBJECT(Row, "row", {"name", &Row::name}, {"sides", &Row::sides, integer<int>(2, 100)})
// Members of type std::optional are left out if they are empty; every other key is required on reading.
#pragma once

#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/seq/for_each_i.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

struct Interval;
/// {"value", "low", "high"}; a bound that is not finite is null.
SPECLAB_IS_DESCRIBED(Interval);

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
  } else if constexpr (std::is_same_v<T, std::shared_ptr<const Json>>) {
    return any_json();
  } else if constexpr (requires { typename T::value_type::first_type; }) {
    return map(plain_type<typename T::value_type::second_type>());
  } else if constexpr (requires { typename T::value_type; }) {
    return list(plain_type<typename T::value_type>());
  } else {
    return described<T>();
  }
}

/// The data of a ResultField. A list of these holds only constants, so that it compiles quickly, unlike a
/// list of Fields.
struct ResultKey {
  const char* name = nullptr;
  MemberAccess at = {};
  MemberAccess create = {};
  /// Returns the description of the member: `given`, or that of its C++ type if `given` is null.
  TypePtr (*type)(const TypePtr* given) = nullptr;
  const TypePtr* given = nullptr;  ///< points to a temporary of the list
  Field* whole = nullptr;          ///< replaces all of the above; points to a temporary of the list

  Field field() const;
};

/// Returns the description of a member of type T. `given` describes the member itself or its elements
/// (Given); it is unused if Given is void.
template <class T, class Given = void>
TypePtr described_member(const TypePtr* given) {
  if constexpr (std::is_void_v<Given>) {
    return plain_type<T>().type;
  } else if constexpr (std::is_same_v<T, Given>) {
    return *given;
  } else if constexpr (std::is_same_v<T, OrderedMap<Given>>) {
    return map(Typed<Given>{*given}).type;
  } else {
    static_assert(std::is_same_v<T, std::vector<Given>>, "the description of another type");
    return list(Typed<Given>{*given}).type;
  }
}

}  // namespace detail

/// One key of the struct S. Use it only within a list that is an argument: it refers to the other arguments.
template <class S>
class ResultField : public detail::ResultKey {
 public:
  template <class Value, class Base>
  ResultField(const char* key, Value Base::*member)
      : ResultKey{key, detail::member_at<S>(member), detail::member_create<S>(member),
                  &detail::described_member<typename detail::Held<Value>::Type>} {}

  /// `described` describes the member, or the entries of a list or map.
  template <class Value, class Base, class T>
  ResultField(const char* key, Value Base::*member, const Typed<T>& described)
      : ResultKey{key, detail::member_at<S>(member), detail::member_create<S>(member),
                  &detail::described_member<typename detail::Held<Value>::Type, T>, &described.type} {}

  // NOLINTNEXTLINE(google-explicit-constructor): any field of S
  ResultField(Field&& field) : ResultKey{.whole = &field} {}
};

/// Describes a field that is left out if it is empty, zero or false. For a member of a base name the struct
/// explicitly.
template <class S = void, class Value, class Base, class... Type>
auto sparse(const char* name, Value Base::*member, const Type&... type) {
  using Object = std::conditional_t<std::is_void_v<S>, Base, S>;
  static_assert(!detail::Held<Value>::optional);
  ResultField<Object> made(name, member, type...);
  made.create = made.at;
  made.at = {member, [](const detail::MemberAccess& access, void* object) -> void* {
               Value& value = access.of<Object, Value, Base>(object);
               if constexpr (requires { value.empty(); }) {
                 return value.empty() ? nullptr : &value;
               } else {
                 return value == Value{} ? nullptr : &value;
               }
             }};
  return made;
}

/// Returns the fields of S after those of `first`, such as those of a base (`inherited`).
template <class S>
std::vector<Field> result_fields(std::initializer_list<ResultField<S>> keys, std::vector<Field> first = {}) {
  for (const detail::ResultKey& key : keys) first.push_back(key.field());
  return first;
}

template <class S>
Typed<S> result_object(std::string_view name, std::initializer_list<ResultField<S>> keys,
                       std::vector<Field> first = {}) {
  return object<S>(name, "", result_fields<S>(keys, std::move(first)));
}

/// Expands to {"a", &S::a}, {"b", &S::b}: each key is the name of its member.
#define SPECLAB_FIELDS(S, ...) \
  BOOST_PP_SEQ_FOR_EACH_I(SPECLAB_FIELD, S, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
#define SPECLAB_FIELD(r, S, i, member) \
  BOOST_PP_COMMA_IF(i) { BOOST_PP_STRINGIZE(member), &S::member }

/// Defines described<S>() by an expression. Ends in a declaration, which takes the semicolon.
#define SPECLAB_DESCRIBED(S, ...)            \
  template <>                                \
  const Typed<S>& described() {              \
    static const Typed<S> type(__VA_ARGS__); \
    return type;                             \
  }                                          \
  SPECLAB_IS_DESCRIBED(S)

/// Defines described<E>() for an enumeration by its names.
#define SPECLAB_CHOICE(E, ...) SPECLAB_DESCRIBED(E, choice<E>({__VA_ARGS__}))
/// Defines described<S>() for a struct by its keys.
#define SPECLAB_OBJECT(S, name, ...) SPECLAB_DESCRIBED(S, result_object<S>(name, {__VA_ARGS__}))
/// Defines the same for a struct whose keys are the names of its members.
#define SPECLAB_RESULT(S, name, ...) SPECLAB_OBJECT(S, name, SPECLAB_FIELDS(S, __VA_ARGS__))
/// Defines the same for a struct whose base is described in this way; the base's fields come first.
#define SPECLAB_DERIVED_RESULT(S, Base, name, ...) \
  SPECLAB_DESCRIBED(                               \
      S, result_object<S>(name, {SPECLAB_FIELDS(S, __VA_ARGS__)}, inherited<S>(described<Base>())))

}  // namespace speclab
