// Rows as safetensors: 8 bytes with the length of a JSON header, the header, the data
// (https://huggingface.co/docs/safetensors, "Format").
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "experiments/format/json_io.hpp"
#include "experiments/recording/array_rows.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_format.hpp"

namespace speclab {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit

std::uint64_t header_length(const RecordingSource& source) {
  std::uint64_t length = 0;
  std::memcpy(&length, source.bytes().data(), length_bytes);
  return length;
}

std::string not_safetensors(const RecordingSource& source) {
  const std::string_view bytes = source.bytes();
  if (bytes.size() < length_bytes + 2 || bytes[length_bytes] != '{') {
    return "has no JSON header after the first 8 bytes";
  }
  const std::uint64_t length = header_length(source);
  if (length > longest_header || length > bytes.size() - length_bytes) {
    return fmt::format("its header would be of {} bytes", length);
  }
  return "";
}

struct Kinds {
  const char* name;
  NamedArray::Kind kind;
  std::size_t bytes;
};

constexpr Kinds kinds[] = {{"F16", NamedArray::Kind::f16, 2},     {"BF16", NamedArray::Kind::bf16, 2},
                           {"F32", NamedArray::Kind::f32, 4},     {"F64", NamedArray::Kind::f64, 8},
                           {"I64", NamedArray::Kind::integer, 8}, {"I32", NamedArray::Kind::integer, 4},
                           {"U32", NamedArray::Kind::integer, 4}, {"U16", NamedArray::Kind::integer, 2}};

NamedArray array_of(const JsonPlace& entry, std::string_view data) {
  NamedArray array;
  const std::string name = entry.at("dtype").text();
  std::size_t bytes = 0;
  for (const Kinds& one : kinds) {
    if (name == one.name) {
      array.kind = one.kind;
      bytes = one.bytes;
    }
  }
  if (bytes == 0) entry.at("dtype").refuse("F16, BF16, F32 or F64, or I64, I32, U32 or U16 for tokens");
  const JsonPlace shape = entry.at("shape");
  std::uint64_t room = data.size() / bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!shape.at(i).value->is_number_unsigned()) shape.at(i).refuse("a length");
    array.shape.push_back(shape.at(i).value->get<std::size_t>());
    if (array.shape.back() > room) shape.refuse("no more than the file has");
    if (array.shape.back() > 0) room /= array.shape.back();
  }
  const JsonPlace offsets = entry.at("data_offsets");
  if (offsets.size() != 2) offsets.refuse("[begin, end]");
  const auto offset = [&](std::size_t i) {
    const JsonPlace one = offsets.at(i);
    if (!one.value->is_number_unsigned()) one.refuse("a number of bytes");
    return one.value->get<std::uint64_t>();
  };
  const std::uint64_t begin = offset(0);
  const std::uint64_t end = offset(1);
  std::uint64_t size = bytes;
  for (const std::size_t one : array.shape) size *= one;
  if (begin > end || end > data.size() || end - begin != size) {
    offsets.refuse(
        fmt::format("{} bytes within the {} of the data; is the file cut off?", size, data.size()));
  }
  array.data = data.substr(begin, size);
  array.integer = [at = array.data.data(), bytes, is_signed = name[0] == 'I'](std::size_t index) {
    std::uint64_t value = 0;
    std::memcpy(&value, at + index * bytes, bytes);
    const auto unused = static_cast<int>(64 - 8 * bytes);
    return is_signed ? static_cast<std::int64_t>(value << unused) >> unused
                     : static_cast<std::int64_t>(value);
  };
  return array;
}

RecordingPart read_safetensors(const RecordingSource& source) {
  const std::string_view bytes = source.bytes();
  const std::uint64_t length = header_length(source);
  const Json header = json_line(std::string(bytes.substr(length_bytes, length)));
  if (!header.is_object()) throw UsageError(fmt::format("{}: its header is not JSON", source.name()));
  const std::string_view data = bytes.substr(length_bytes + length);
  const JsonPlace entries{&header, fmt::format("{}: header ", source.name())};
  return rows_of(source.name(), source.file(), [&](const std::string& name) -> std::optional<NamedArray> {
    if (!entries.has(name.c_str())) return std::nullopt;
    return array_of(entries.at(name.c_str()), data);
  });
}

}  // namespace

RecordingFormat safetensors_format() {
  return {"safetensors", "Rows: tensors target [T, V], draft [T, V], tokens [T] and optionally sequence [T].",
          not_safetensors, read_safetensors};
}

}  // namespace speclab
