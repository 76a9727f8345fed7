// Descriptions of structs, for reading and writing JSON. A struct's fields are listed once:
//     const Typed<Sampling>& sampling_type() {
//       static const auto type = object<Sampling>(
//           "sampling", "Sampling options of a model.",
//           {field("top_k", &Sampling::top_k, integer(0, 1e6), "Keep the k most probable tokens; 0 keeps
//           all.")});
//       return type;
//     }
// The struct gives a field's default. Fields of type std::optional may be left out and then have none.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/base/format/any_struct.hpp"
#include "experiments/base/format/type.hpp"

namespace speclab {

/// One key of an object. Its copy operations and destructor are compiled once, because descriptions hold long
/// lists of fields.
struct Field {
  Field();
  Field(const Field&);
  Field(Field&&) noexcept;
  Field& operator=(const Field&);
  Field& operator=(Field&&) noexcept;
  ~Field();

  std::string name;
  TypePtr type;
  std::string sentence = {};
  std::string unit = {};
  bool required = false;
  /// Returns the address of the value in the object; for an optional value, null if it is empty.
  std::function<void*(void* object)> at = {};
  std::function<void*(void* object)> create = {};  ///< makes an absent value; null unless optional
  bool optional() const { return create != nullptr; }
};

/// An object with a fixed set of keys. Any other key is an error.
class ObjectType final : public Type {
 public:
  ObjectType(std::string_view name, std::string_view sentence, std::vector<Field> fields,
             AnyStruct (*make)());

  void read(const Json& json, const std::string& path, void* value) const override;
  void write(const void* value, Json& json) const override;
  std::string words() const override;
  void schema(Json& out) const override;
  const Type* below(const std::string& step) const override;
  void add_input_files(const void* value, std::vector<std::string>& files) const override;
  const ObjectType* object() const override { return this; }

  const std::string& name() const { return name_; }
  const std::string& sentence() const { return sentence_; }
  const std::vector<Field>& fields() const { return fields_; }
  /// Returns a new object with every default.
  AnyStruct make() const { return make_(); }
  /// Returns the default of a field; null if it has none.
  Json fallback(const Field& field) const;

  /// Parts of `read`, `write` and `schema`, for objects with several descriptions: `others` are keys of
  /// another description.
  void refuse_unknown(const Json& json, const std::string& path,
                      const std::vector<std::string>& others) const;
  void read_fields(const Json& json, const std::string& path, void* value) const;
  void add_to_schema(Json& properties, Json& required) const;

 private:
  std::string name_;
  std::string sentence_;
  std::vector<Field> fields_;
  AnyStruct (*make_)();
};

}  // namespace speclab

extern template class std::vector<speclab::Field>;

namespace speclab {

namespace detail {

template <class T>
struct Held {
  using Type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Held<std::optional<T>> {
  using Type = T;
  static constexpr bool optional = true;
};

/// The operations of a list with any element type.
struct ListAccess {
  std::size_t (*size)(const void* list);
  void (*resize)(void* list, std::size_t size);
  void* (*at)(void* list, std::size_t index);
};

template <class T>
constexpr ListAccess list_access() {
  return {
      [](const void* list) { return static_cast<const std::vector<T>*>(list)->size(); },
      [](void* list, std::size_t size) { static_cast<std::vector<T>*>(list)->resize(size); },
      [](void* list, std::size_t index) -> void* { return &(*static_cast<std::vector<T>*>(list))[index]; }};
}

/// The operations of an ordered map from text to any type.
struct MapAccess {
  std::size_t (*size)(const void* map);
  void (*clear)(void* map);
  void* (*add)(void* map, const std::string& key);
  const std::string& (*key)(const void* map, std::size_t index);
  const void* (*at)(const void* map, std::size_t index);
};

/// Convert a key of a map to text and back. Enumerations that serve as keys overload both.
inline const std::string& key_text(const std::string& key) { return key; }
inline void read_key(const std::string& text, std::string& key) { key = text; }

template <class Map>
MapAccess map_access() {
  return {[](const void* map) { return static_cast<const Map*>(map)->size(); },
          [](void* map) { static_cast<Map*>(map)->clear(); },
          [](void* map, const std::string& key) -> void* {
            auto& added = static_cast<Map*>(map)->emplace_back();
            read_key(key, added.first);
            return &added.second;
          },
          [](const void* map, std::size_t index) -> const std::string& {
            return key_text((*static_cast<const Map*>(map))[index].first);
          },
          [](const void* map, std::size_t index) -> const void* {
            return &(*static_cast<const Map*>(map))[index].second;
          }};
}

/// Gets and sets an integer of any width.
struct IntegerAccess {
  std::int64_t (*get)(const void* value);
  void (*set)(void* value, std::int64_t number);
};

template <class T>
constexpr IntegerAccess integer_access() {
  return {[](const void* value) { return static_cast<std::int64_t>(*static_cast<const T*>(value)); },
          [](void* value, std::int64_t number) { *static_cast<T*>(value) = static_cast<T>(number); }};
}

TypePtr integer_type(double least, double most, IntegerAccess access);
/// A name and its value.
using ChoiceName = std::pair<std::string_view, std::int64_t>;
TypePtr choice_type(std::span<const ChoiceName> choices, IntegerAccess access);
TypePtr list_type(TypePtr element, double least, double most, ListAccess access);
TypePtr map_type(TypePtr element, MapAccess access);
TypePtr object_type(std::string_view name, std::string_view sentence, std::vector<Field> fields,
                    AnyStruct (*make)());

}  // namespace detail

/// Pairs of a text key and a value, in the order in which they were written.
template <class T>
using OrderedMap = std::vector<std::pair<std::string, T>>;

/// Returns the value of a key of an OrderedMap; null if there is none.
template <class Key, class T>
const T* find(const std::vector<std::pair<Key, T>>& values, const Key& key) {
  for (const auto& [known, value] : values) {
    if (known == key) return &value;
  }
  return nullptr;
}

/// Describes a number in [least, most]. Results write numbers that are not finite as null.
Typed<double> number(double least, double most);
/// Describes a number in (least, most].
Typed<double> number_above(double least, double most);
/// Describes any number, for results.
Typed<double> any_number();

template <std::integral T>
Typed<T> integer(double least, double most) {
  return {detail::integer_type(least, most, detail::integer_access<T>())};
}
/// Describes a count, for results.
template <std::integral T>
Typed<T> count() {
  return integer<T>(0, 9.2e18);
}

Typed<bool> boolean();
Typed<std::string> text();
/// Describes the path of a file that is read, as text; empty means no file. Results carry the contents of
/// such files.
Typed<std::string> input_file();
/// Describes any JSON value, kept unchanged: the values that "cases" and "sweep" set by path.
Typed<std::shared_ptr<const Json>> any_json();

/// Describes one of several names; each stands for one value of an enumeration.
template <class E>
Typed<E> choice(std::span<const std::pair<std::string_view, E>> choices) {
  std::vector<detail::ChoiceName> numbers;
  for (const auto& [name, value] : choices) numbers.emplace_back(name, static_cast<std::int64_t>(value));
  return {detail::choice_type(numbers, detail::integer_access<E>())};
}
template <class E>
Typed<E> choice(std::initializer_list<std::pair<std::string_view, E>> choices) {
  return choice<E>(std::span(choices.begin(), choices.size()));
}

/// Describes a list of `least` to `most` entries.
template <class T>
Typed<std::vector<T>> list(const Typed<T>& element, double least, double most) {
  return {detail::list_type(element.type, least, most, detail::list_access<T>())};
}
template <class T>
Typed<std::vector<T>> list(const Typed<T>& element) {
  return list(element, 0, 1e15);
}

template <class T>
Typed<OrderedMap<T>> map(const Typed<T>& element) {
  return {detail::map_type(element.type, detail::map_access<OrderedMap<T>>())};
}

namespace detail {

/// Finds a member in an object. One type serves all members, to keep the compile time of a field low.
class MemberAccess {
 public:
  using Find = void* (*)(const MemberAccess&, void* object);

  MemberAccess() = default;
  template <class Value, class Base>
  MemberAccess(Value Base::*member, Find find) : find_(find) {
    static_assert(sizeof(member) == sizeof(member_));
    std::memcpy(member_, &member, sizeof(member));
  }
  explicit operator bool() const { return find_ != nullptr; }
  void* operator()(void* object) const { return find_(*this, object); }

  /// Returns `*object.*member` for the member that this was made with.
  template <class Object, class Value, class Base>
  Value& of(void* object) const {
    Value Base::*member;
    std::memcpy(&member, member_, sizeof(member));
    return static_cast<Object*>(object)->*member;
  }

 private:
  Find find_ = nullptr;
  alignas(void*) std::byte member_[sizeof(int MemberAccess::*)] = {};
};

/// Returns Field::at for a member.
template <class Object, class Value, class Base>
MemberAccess member_at(Value Base::*member) {
  return {member, [](const MemberAccess& access, void* object) -> void* {
            Value& held = access.of<Object, Value, Base>(object);
            if constexpr (Held<Value>::optional) {
              return held ? &*held : nullptr;
            } else {
              return &held;
            }
          }};
}

/// Returns Field::create for a member; empty unless the member is optional.
template <class Object, class Value, class Base>
MemberAccess member_create([[maybe_unused]] Value Base::*member) {
  if constexpr (Held<Value>::optional) {
    return {member, [](const MemberAccess& access, void* object) -> void* {
              return &access.of<Object, Value, Base>(object).emplace();
            }};
  } else {
    return {};
  }
}

Field member_field(std::string_view name, TypePtr type, std::string_view sentence, MemberAccess at,
                   MemberAccess create);

}  // namespace detail

/// Describes one key of a struct: field("top_k", &Sampling::top_k, integer(0, 1e6), "..."). For a member of a
/// base class name the struct explicitly: field<Derived>("name", &Derived::name, ...).
template <class S = void, class Value, class Base, class T>
Field field(std::string_view name, Value Base::*member, const Typed<T>& type, std::string_view sentence) {
  using Object = std::conditional_t<std::is_void_v<S>, Base, S>;
  static_assert(std::is_same_v<typename detail::Held<Value>::Type, T>, "the description of another type");
  return detail::member_field(name, type.type, sentence, detail::member_at<Object>(member),
                              detail::member_create<Object>(member));
}

/// Describes an integer key; its width is the member's.
template <class S = void, class Value, class Base>
Field integer_field(std::string_view name, Value Base::*member, double least, double most,
                    std::string_view sentence) {
  return field<S>(name, member, integer<typename detail::Held<Value>::Type>(least, most), sentence);
}

Field required(Field field);
Field with_unit(Field field, std::string_view unit);

template <class T>
Typed<T> object(std::string_view name, std::string_view sentence, std::vector<Field> fields) {
  return {detail::object_type(name, sentence, std::move(fields),
                              []() -> AnyStruct { return std::make_shared<T>(); })};
}

/// Returns the fields of a base struct as fields of S.
template <class S, class Base>
std::vector<Field> inherited(const Typed<Base>& base) {
  static_assert(std::is_base_of_v<Base, S>);
  std::vector<Field> fields = base.type->object()->fields();
  const auto base_of = [](void* derived) -> void* { return static_cast<Base*>(static_cast<S*>(derived)); };
  for (Field& one : fields) {
    one.at = [base_of, at = one.at](void* derived) { return at(base_of(derived)); };
    if (one.optional()) {
      one.create = [base_of, create = one.create](void* derived) { return create(base_of(derived)); };
    }
  }
  return fields;
}

/// Returns both lists of fields, `first` before `second`.
std::vector<Field> joined(std::vector<Field> first, std::vector<Field> second);

/// Reads a value. Throws ConfigError, which names `path`, if it does not fit the type.
template <class T>
T read(const Typed<T>& type, const Json& json, const std::string& path) {
  T value{};
  type.type->read(json, path, &value);
  return value;
}
template <class T>
void write(const Typed<T>& type, const T& value, Json& json) {
  type.type->write(&value, json);
}

}  // namespace speclab
