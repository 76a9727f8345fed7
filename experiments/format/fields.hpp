// Short ways to write down the fields of a shape.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/format/shape.hpp"

namespace speclab {

inline Field number(std::string name, std::string doc, double least, double most, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::number,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .least = least,
          .most = most};
}
inline Field integer(std::string name, std::string doc, double least, double most, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::integer,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .least = least,
          .most = most};
}
inline Field text(std::string name, std::string doc, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::text,
          .doc = std::move(doc),
          .fallback = std::move(fallback)};
}
inline Field boolean(std::string name, std::string doc, bool fallback) {
  return {.name = std::move(name), .type = FieldType::boolean, .doc = std::move(doc), .fallback = fallback};
}
inline Field choice(std::string name, std::string doc, std::vector<std::string> choices,
                    Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::choice,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .choices = std::move(choices)};
}
inline Field object(std::string name, std::string doc, const Shape& shape, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::object,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .shape = &shape};
}
inline Field kind_of(std::string name, std::string doc, const Family& family, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::family,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .family = &family};
}
inline Field list(std::string name, std::string doc, const Field& element, double least, double most,
                  Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::list,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .least = least,
          .most = most,
          .element = &element};
}
inline Field map(std::string name, std::string doc, const Field& element, Json fallback = nullptr) {
  return {.name = std::move(name),
          .type = FieldType::map,
          .doc = std::move(doc),
          .fallback = std::move(fallback),
          .element = &element};
}
inline Field required(Field field) {
  field.required = true;
  return field;
}
inline Field positive(Field field) {
  field.above_least = true;
  return field;
}

}  // namespace speclab
