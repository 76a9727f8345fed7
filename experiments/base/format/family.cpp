#include "experiments/base/format/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"

namespace speclab {

namespace {

class FamilyType final : public Type {
 public:
  FamilyType(const FamilyBase& family, detail::SelectedAccess access) : family_(family), access_(access) {}

  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_object()) reject(path, json, words());
    const std::string here = path + "/kind";
    if (!json.contains("kind")) {
      throw ConfigError(here, "missing; a {} is one of: {}", family_.noun(),
                        fmt::join(family_.names(), ", "));
    }
    const KindInfo& kind = family_.at(json.at("kind"), here);
    const ObjectType& own = *kind.parameters->object();
    std::vector<std::string> others{"kind"};
    for (const Field& field : family_.common().fields()) others.push_back(field.name);
    own.refuse_unknown(json, path, others);
    family_.common().read_fields(json, path, access_.common(value));
    std::shared_ptr<void> parameters = own.make().address();
    own.read_fields(json, path, parameters.get());
    SelectedKind& selected = access_.selected(value);
    selected.kind = &kind;
    selected.parameters = std::move(parameters);
    selected.path = path;
  }

  void write(const void* value, Json& json) const override {
    const SelectedKind& selected = access_.selected(const_cast<void*>(value));
    json = Json::object();
    if (selected.kind == nullptr) return;
    json["kind"] = selected.kind->name;
    family_.common().write(access_.common(const_cast<void*>(value)), json);
    selected.kind->parameters->write(selected.parameters.get(), json);
  }

  std::string words() const override { return fmt::format("an object with a \"kind\" ({})", family_.noun()); }
  void schema(Json& out) const override { out["$ref"] = "#/$defs/" + family_.schema_name(); }

  const Type* below(const std::string& step) const override {
    // The kind depends on the value; any kind with this key serves.
    if (const Type* type = family_.common().below(step)) return type;
    for (const KindInfo* kind : family_.kinds()) {
      if (const Type* type = kind->parameters->below(step)) return type;
    }
    return nullptr;
  }
  void add_input_files(const void* value, std::vector<std::string>& files) const override {
    const SelectedKind& selected = access_.selected(const_cast<void*>(value));
    if (selected.kind == nullptr) return;
    family_.common().add_input_files(access_.common(const_cast<void*>(value)), files);
    selected.kind->parameters->add_input_files(selected.parameters.get(), files);
  }
  const FamilyBase* family() const override { return &family_; }

 private:
  const FamilyBase& family_;
  detail::SelectedAccess access_;
};

}  // namespace

const std::vector<const KindInfo*>& FamilyBase::kinds() const {
  std::call_once(filled_, fill_);
  return kinds_;
}

std::vector<std::string> FamilyBase::names() const { return entry_names(kinds()); }

const KindInfo* FamilyBase::find(std::string_view name) const { return find_named(kinds(), name); }

const KindInfo& FamilyBase::at(const Json& name, const std::string& path) const {
  if (!name.is_string()) reject(path, name, fmt::format("the name of a {}", noun_));
  if (const KindInfo* kind = find(name.get<std::string>())) return *kind;
  throw ConfigError(path, "unknown {} {}{}", noun_, shown(name),
                    suggestion(name.get<std::string>(), names()));
}

std::string FamilyBase::schema_name() const {
  std::string name = noun_;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

Json FamilyBase::schema() const {
  Json all = Json::array();
  for (const KindInfo* kind : kinds()) {
    Json& one = all.emplace_back(
        Json{{"type", "object"}, {"description", kind->sentence}, {"additionalProperties", false}});
    Json required = Json::array({"kind"});
    Json properties{{"kind", {{"const", kind->name}}}};
    common().add_to_schema(properties, required);
    kind->parameters->object()->add_to_schema(properties, required);
    one["properties"] = std::move(properties);
    one["required"] = std::move(required);
  }
  return {{"oneOf", std::move(all)}};
}

void FamilyBase::add_kind(const KindInfo& kind) {
  for (const KindInfo* known : kinds_) {
    if (known->name == kind.name) throw std::logic_error("two kinds of one name: " + kind.name);
  }
  if (kind.parameters == nullptr || kind.parameters->object() == nullptr)
    throw std::logic_error("the parameters of " + kind.name + " are not an object");
  kinds_.push_back(&kind);
}

namespace detail {

TypePtr family_type(const FamilyBase& family, SelectedAccess access) {
  return std::make_shared<const FamilyType>(family, access);
}

}  // namespace detail

}  // namespace speclab
