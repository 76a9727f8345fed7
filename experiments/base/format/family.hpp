// Families of objects that are distinguished by their key "kind", such as rules or models. Each kind is one
// entry: its name, sentence and parameters and, in types derived from KindInfo, its factory and properties.
#pragma once

#include <cassert>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

/// The members common to the entries of all families.
struct KindInfo {
  std::string name;
  std::string sentence;
  TypePtr parameters;  ///< an ObjectType; its fields are the kind's keys
  /// Computes the kind's output with default parameters on the family's example_input; null for kinds without
  /// an example.
  std::function<std::string()> example = nullptr;
};

/// The kinds of one family, in the order of `speclab list`.
class FamilyBase {
 public:
  FamilyBase(const FamilyBase&) = delete;
  FamilyBase& operator=(const FamilyBase&) = delete;

  const std::string& noun() const { return noun_; }
  const std::string& plural() const { return plural_; }
  /// The keys that all kinds share.
  const ObjectType& common() const { return *common_->object(); }
  /// Describes the input of every kind's example, in words.
  const std::string& example_input() const { return example_input_; }
  const std::vector<const KindInfo*>& kinds() const;
  std::vector<std::string> names() const;
  /// Returns the kind with this name or former name; null if there is none.
  const KindInfo* find(std::string_view name) const;
  /// Returns the kind with this name; throws ConfigError at `path` with a suggestion if there is none.
  const KindInfo& at(const Json& name, const std::string& path) const;
  /// Returns the name of the family in the JSON schema's definitions: "gamma_policy".
  std::string schema_name() const;
  Json schema() const;

 protected:
  FamilyBase(std::string noun, std::string plural, TypePtr common, std::function<void()> fill)
      : noun_(std::move(noun)),
        plural_(std::move(plural)),
        common_(common ? std::move(common) : detail::object_type("", "", {}, nullptr)),
        fill_(std::move(fill)) {}
  ~FamilyBase() = default;
  void add_kind(const KindInfo& kind);

  std::string example_input_;

 private:
  std::string noun_;
  std::string plural_;
  TypePtr common_;
  std::vector<const KindInfo*> kinds_;
  std::function<void()> fill_;
  mutable std::once_flag filled_;
};

template <class Entry>
class Family : public FamilyBase {
 public:
  /// `noun`: "model"; `plural`: "Models"; `common`: the keys that all kinds share, an ObjectType or null.
  /// `kinds` makes the first kinds at first use, because a kind's description may refer to its own family (a
  /// model with a "base").
  Family(std::string noun, std::string plural, TypePtr common = nullptr,
         std::function<std::vector<Entry>()> kinds = nullptr)
      : FamilyBase(std::move(noun), std::move(plural), std::move(common), [this, kinds] {
          if (!kinds) return;
          for (Entry& kind : kinds()) add(std::move(kind));
        }) {}

  void set_example_input(std::string input) { example_input_ = std::move(input); }
  /// Adds a kind. Throws std::logic_error if its name is taken.
  void add(Entry entry) { add_kind(entries_.emplace_back(std::move(entry))); }
  const Entry* find_entry(std::string_view name) const { return static_cast<const Entry*>(find(name)); }
  const Entry& entry(std::size_t index) const { return static_cast<const Entry&>(*kinds()[index]); }
  std::size_t size() const { return kinds().size(); }

 private:
  std::deque<Entry> entries_;  ///< in order of addition; a deque, so that entries never move
};

/// A chosen kind with its parameters.
struct SelectedKind {
  const KindInfo* kind = nullptr;
  std::shared_ptr<const void> parameters;  ///< of the type that the kind's description describes
  std::string path;                        ///< JSON pointer of the object in its config, for errors

  const std::string& name() const { return kind->name; }
  /// Returns the parameters as P, the type that the kind's description describes.
  template <class P>
  const P& as() const {
    return *static_cast<const P*>(parameters.get());
  }
};

/// A chosen kind of a family, with the keys that all kinds of the family share (Entry::Common).
template <class Entry>
struct Selected : SelectedKind, Entry::Common {
  const Entry& entry() const {
    assert(kind != nullptr);
    return static_cast<const Entry&>(*kind);
  }
};

namespace detail {

struct SelectedAccess {
  SelectedKind& (*selected)(void* value);
  void* (*common)(void* value);
};

TypePtr family_type(const FamilyBase& family, SelectedAccess access);

}  // namespace detail

/// Describes an object of any kind of the family. Kinds may be added to the family later.
template <class Entry>
Typed<Selected<Entry>> kind_of(const Family<Entry>& family) {
  using Value = Selected<Entry>;
  return {
      detail::family_type(family, {[](void* value) -> SelectedKind& { return *static_cast<Value*>(value); },
                                   [](void* value) -> void* {
                                     return static_cast<typename Entry::Common*>(static_cast<Value*>(value));
                                   }})};
}

/// Returns an entry whose factory calls `make(parameters, path, request)` with parameters of type P and the
/// object's JSON pointer for errors.
template <class Entry, class P, class Make>
Entry kind_entry(std::string_view name, std::string_view sentence, std::vector<Field> fields, Make make) {
  Entry kind;
  kind.parameters = object<P>(name, sentence, std::move(fields)).type;
  kind.name = name;
  kind.sentence = sentence;
  kind.make = [make](const SelectedKind& selected, const auto& request) {
    return make(selected.as<P>(), selected.path, request);
  };
  return kind;
}

/// Returns a kind with default parameters, for defaults in code such as the rule "token".
template <class Entry>
Selected<Entry> selected(const Entry& entry) {
  Selected<Entry> made;
  made.kind = &entry;
  made.parameters = entry.parameters->object()->make().address();
  return made;
}

}  // namespace speclab
