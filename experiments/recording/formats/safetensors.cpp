// Reads rows in safetensors: 8 bytes with the length of a JSON header, the header, the data
// (https://huggingface.co/docs/safetensors, "Format").
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "experiments/base/format/json_io.hpp"
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
  if (bytes.size() < length_bytes + 2 || bytes[length_bytes] != '{')
    return "has no JSON header after the first 8 bytes";
  const std::uint64_t length = header_length(source);
  if (length > longest_header || length > bytes.size() - length_bytes)
    return fmt::format("its header would be of {} bytes", length);
  return "";
}

struct StoredType {
  const char* name;
  char kind;  ///< as in NpyArray
  std::size_t bytes;
};

constexpr StoredType stored_types[] = {{"F16", 'f', 2}, {"BF16", 'b', 2}, {"F32", 'f', 4}, {"F64", 'f', 8},
                                       {"I64", 'i', 8}, {"I32", 'i', 4},  {"U32", 'u', 4}, {"U16", 'u', 2}};

std::uint64_t size_at(const JsonPlace& place, const char* expected) {
  if (!place.value->is_number_unsigned()) place.refuse(expected);
  return place.value->get<std::uint64_t>();
}

NpyArray array_of(const JsonPlace& entry, std::string_view data) {
  NpyArray array;
  const std::string name = entry.at("dtype").text();
  for (const StoredType& type : stored_types) {
    if (name != type.name) continue;
    array.kind = type.kind;
    array.bytes = type.bytes;
  }
  if (array.bytes == 0) entry.at("dtype").refuse("F16, BF16, F32 or F64, or I64, I32, U32 or U16 for tokens");
  const JsonPlace shape = entry.at("shape");
  std::uint64_t room = data.size() / array.bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::uint64_t length = size_at(shape.at(i), "a length");
    if (length > room) shape.refuse("no more than the file has");
    if (length > 0) room /= length;
    array.shape.push_back(static_cast<std::size_t>(length));
  }
  const JsonPlace offsets = entry.at("data_offsets");
  if (offsets.size() != 2) offsets.refuse("[begin, end]");
  const std::uint64_t begin = size_at(offsets.at(std::size_t{0}), "a number of bytes");
  const std::uint64_t end = size_at(offsets.at(std::size_t{1}), "a number of bytes");
  const std::uint64_t size = array.size() * array.bytes;
  if (begin > end || end > data.size() || end - begin != size) {
    offsets.refuse(
        fmt::format("{} bytes within the {} of the data; is the file cut off?", size, data.size()));
  }
  array.data = data.substr(begin, size);
  return array;
}

RecordingPart read_safetensors(const RecordingSource& source) {
  const std::string_view bytes = source.bytes();
  const std::uint64_t length = header_length(source);
  const Json header = json_line(std::string(bytes.substr(length_bytes, length)), source.name() + ": header");
  if (!header.is_object()) throw UsageError("{}: its header is not JSON", source.name());
  const std::string_view data = bytes.substr(length_bytes + length);
  const JsonPlace entries{&header, fmt::format("{}: header ", source.name())};
  std::vector<std::string> names;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") names.push_back(name);
  }
  std::vector<NpyArray> parts;
  const auto find = [&](const std::string& name) -> std::optional<NpyArray> {
    if (!entries.has(name.c_str())) return std::nullopt;
    parts.push_back(array_of(entries.at(name.c_str()), data));
    return parts.back();
  };
  RowFile rows = rows_of(source.name(), source.file(), names, find);
  std::sort(parts.begin(), parts.end(),
            [](const NpyArray& a, const NpyArray& b) { return a.data.data() < b.data.data(); });
  std::size_t end = 0;
  for (const NpyArray& part : parts) {
    if (part.data.data() != data.data() + end) break;
    end += part.data.size();
  }
  if (end != data.size())
    throw UsageError(
        "{}: at byte {} of the data no tensor begins, or two overlap; the format has them one after another, to the end of the file",
        source.name(), end);
  return rows;
}

}  // namespace

RecordingFormat safetensors_format() {
  return {"safetensors", "Rows: tensors target [T, V], draft [T, V], tokens [T] and optionally sequence [T].",
          not_safetensors, read_safetensors};
}

}  // namespace speclab
