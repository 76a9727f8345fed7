// Describes numbers, Booleans, text, choices, lists and maps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/support/data_files.hpp"

namespace speclab {

namespace {

struct Range {
  double least;
  double most;
  bool above_least = false;  ///< excludes `least` itself

  bool holds(double value) const { return (above_least ? value > least : value >= least) && value <= most; }
  std::string words(const char* noun) const {
    return fmt::format("{} {} {} and <= {}", noun, above_least ? ">" : ">=", least, most);
  }
  void schema(Json& out) const {
    out[above_least ? "exclusiveMinimum" : "minimum"] = least;
    out["maximum"] = most;
  }
};

class NumberType final : public Type {
 public:
  explicit NumberType(Range range) : range_(range) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_number() || !range_.holds(json.get<double>())) reject(path, json, words());
    *static_cast<double*>(value) = json.get<double>();
  }
  void write(const void* value, Json& json) const override { json = *static_cast<const double*>(value); }
  std::string words() const override { return range_.words("a number"); }
  void schema(Json& out) const override {
    out["type"] = "number";
    range_.schema(out);
  }

 private:
  Range range_;
};

/// Numbers of results; null stands for a number that is not finite.
class AnyNumberType final : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_number() && !json.is_null()) reject(path, json, words());
    *static_cast<double*>(value) = json.is_null() ? std::nan("") : json.get<double>();
  }
  void write(const void* value, Json& json) const override {
    const double number = *static_cast<const double*>(value);
    json = std::isfinite(number) ? Json(number) : Json();
  }
  std::string words() const override { return "a number or null"; }
  void schema(Json& out) const override { out["type"] = Json::array({"number", "null"}); }
};

class IntegerType final : public Type {
 public:
  IntegerType(Range range, detail::IntegerAccess access) : range_(range), access_(access) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    // 1e5 and 5.0 count as integers; fractions do not.
    if (!json.is_number() || std::floor(json.get<double>()) != json.get<double>() ||
        !range_.holds(json.get<double>())) {
      reject(path, json, words());
    }
    access_.set(value, json.is_number_float() ? static_cast<std::int64_t>(json.get<double>())
                                              : json.get<std::int64_t>());
  }
  void write(const void* value, Json& json) const override { json = access_.get(value); }
  std::string words() const override { return range_.words("an integer"); }
  void schema(Json& out) const override {
    out["type"] = "integer";
    range_.schema(out);
  }

 private:
  Range range_;
  detail::IntegerAccess access_;
};

/// Booleans and text.
template <class T>
class PlainType : public Type {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    if (is_text ? !json.is_string() : !json.is_boolean()) reject(path, json, words());
    *static_cast<T*>(value) = json.get<T>();
  }
  void write(const void* value, Json& json) const override { json = *static_cast<const T*>(value); }
  std::string words() const override { return is_text ? "text" : "true or false"; }
  void schema(Json& out) const override { out["type"] = is_text ? "string" : "boolean"; }

 private:
  static constexpr bool is_text = std::is_same_v<T, std::string>;
};

class InputFileType final : public PlainType<std::string> {
 public:
  void read(const Json& json, const std::string& path, void* value) const override {
    PlainType::read(json, path, value);
    auto& file = *static_cast<std::string*>(value);
    if (!file.empty()) file = data_file(file).string();
  }
  void write(const void* value, Json& json) const override {
    json = shipped_name(*static_cast<const std::string*>(value));
  }
  void add_input_files(const void* value, std::vector<std::string>& files) const override {
    const auto& file = *static_cast<const std::string*>(value);
    if (!file.empty()) files.push_back(file);
  }
};

class AnyJsonType final : public Type {
 public:
  void read(const Json& json, const std::string&, void* value) const override {
    *static_cast<std::shared_ptr<const Json>*>(value) = std::make_shared<const Json>(json);
  }
  void write(const void* value, Json& json) const override {
    const auto& held = *static_cast<const std::shared_ptr<const Json>*>(value);
    if (held) json = *held;
  }
  std::string words() const override { return "any value"; }
  void schema(Json&) const override {}
};

class ChoiceType final : public Type {
 public:
  ChoiceType(std::span<const detail::ChoiceName> choices, detail::IntegerAccess access)
      : choices_(choices.begin(), choices.end()), access_(access) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_string()) reject(path, json, words());
    const auto name = json.get<std::string>();
    for (const auto& [known, number] : choices_) {
      if (known == name) return access_.set(value, number);
    }
    const std::string last = path.substr(path.rfind('/') + 1);
    const bool entry = last.find_first_not_of("0123456789") == std::string::npos;
    throw ConfigError(path, "unknown {} {}{}", entry ? "entry" : last, shown(json),
                      suggestion(name, names()));
  }
  void write(const void* value, Json& json) const override {
    for (const auto& [name, number] : choices_) {
      if (number == access_.get(value)) json = name;
    }
  }
  std::string words() const override { return fmt::format("one of: {}", fmt::join(names(), ", ")); }
  void schema(Json& out) const override { out["enum"] = names(); }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, number] : choices_) all.push_back(name);
    return all;
  }
  std::vector<std::pair<std::string, std::int64_t>> choices_;
  detail::IntegerAccess access_;
};

class ListType final : public Type {
 public:
  ListType(TypePtr element, double least, double most, detail::ListAccess access)
      : element_(std::move(element)), min_(least), max_(most), access_(access) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_array()) reject(path, json, "a list");
    const auto size = static_cast<double>(json.size());
    if (size < min_ || size > max_) {
      throw ConfigError(path, "{} entries; allowed are {} to {}", json.size(), min_, max_);
    }
    access_.resize(value, 0);
    access_.resize(value, json.size());
    for (std::size_t i = 0; i < json.size(); ++i)
      element_->read(json[i], fmt::format("{}/{}", path, i), access_.at(value, i));
  }
  void write(const void* value, Json& json) const override {
    json = Json::array();
    for (std::size_t i = 0; i < access_.size(value); ++i)
      element_->write(access_.at(const_cast<void*>(value), i), json.emplace_back());
  }
  std::string words() const override { return fmt::format("a list, each {}", element_->words()); }
  void schema(Json& out) const override {
    out["type"] = "array";
    element_->schema(out["items"] = Json::object());
    out["minItems"] = min_;
    out["maxItems"] = max_;
  }
  void add_input_files(const void* value, std::vector<std::string>& files) const override {
    for (std::size_t i = 0; i < access_.size(value); ++i)
      element_->add_input_files(access_.at(const_cast<void*>(value), i), files);
  }
  const Type* element() const override { return element_.get(); }

 private:
  TypePtr element_;
  double min_;
  double max_;
  detail::ListAccess access_;
};

class MapType final : public Type {
 public:
  MapType(TypePtr element, detail::MapAccess access) : element_(std::move(element)), access_(access) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    if (!json.is_object()) reject(path, json, "an object");
    access_.clear(value);
    for (const auto& [key, entry] : json.items())
      element_->read(entry, fmt::format("{}/{}", path, key), access_.add(value, key));
  }
  void write(const void* value, Json& json) const override {
    json = Json::object();
    for (std::size_t i = 0; i < access_.size(value); ++i)
      element_->write(access_.at(value, i), json[access_.key(value, i)]);
  }
  std::string words() const override { return fmt::format("an object, each value {}", element_->words()); }
  void schema(Json& out) const override {
    out["type"] = "object";
    element_->schema(out["additionalProperties"] = Json::object());
  }
  void add_input_files(const void* value, std::vector<std::string>& files) const override {
    for (std::size_t i = 0; i < access_.size(value); ++i)
      element_->add_input_files(access_.at(value, i), files);
  }
  const Type* element() const override { return element_.get(); }

 private:
  TypePtr element_;
  detail::MapAccess access_;
};

}  // namespace

namespace detail {

TypePtr integer_type(double least, double most, IntegerAccess access) {
  return std::make_shared<const IntegerType>(Range{least, most}, access);
}

TypePtr choice_type(std::span<const ChoiceName> choices, IntegerAccess access) {
  return std::make_shared<const ChoiceType>(choices, access);
}

TypePtr list_type(TypePtr element, double least, double most, ListAccess access) {
  return std::make_shared<const ListType>(std::move(element), least, most, access);
}

TypePtr map_type(TypePtr element, MapAccess access) {
  return std::make_shared<const MapType>(std::move(element), access);
}

}  // namespace detail

Typed<double> number(double least, double most) {
  return {std::make_shared<const NumberType>(Range{least, most})};
}
Typed<double> number_above(double least, double most) {
  return {std::make_shared<const NumberType>(Range{least, most, true})};
}
Typed<double> any_number() { return {std::make_shared<const AnyNumberType>()}; }
Typed<bool> boolean() { return {std::make_shared<const PlainType<bool>>()}; }
Typed<std::string> text() { return {std::make_shared<const PlainType<std::string>>()}; }
Typed<std::string> input_file() {
  static const Typed<std::string> one{std::make_shared<const InputFileType>()};
  return one;
}
Typed<std::shared_ptr<const Json>> any_json() { return {std::make_shared<const AnyJsonType>()}; }

void reject(const std::string& path, const Json& value, const std::string& wanted) {
  throw ConfigError(path, "{} is not {}", shown(value), wanted);
}

std::string shown(const Json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace speclab
