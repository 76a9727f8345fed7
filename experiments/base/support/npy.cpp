#include "experiments/base/support/npy.hpp"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "core/stop.hpp"
#include "experiments/base/support/machine.hpp"

namespace speclab {

namespace {

constexpr std::size_t longest_npy_header = 4096;  // bytes; NumPy writes some 120
constexpr double largest_array = 4e9;          // bytes of a compressed array, whose header may claim any size
constexpr std::uint64_t max_of_a_byte = 1032;  // most bytes that deflate can pack into one byte
constexpr std::string_view extension = ".npy";

/// Returns the integer of `size` bytes at an offset. Throws if it is cut off.
std::uint64_t word(std::string_view bytes, std::uint64_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) throw std::runtime_error("it is cut off");
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

// Zip: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3.7 to 4.3.16 and 4.5.3.
constexpr std::uint64_t end_signature = 0x06054B50;
constexpr std::uint64_t end64_locator_signature = 0x07064B50;
constexpr std::uint64_t end64_signature = 0x06064B50;
constexpr std::uint64_t entry_signature = 0x02014B50;
constexpr std::uint64_t local_signature = 0x04034B50;
constexpr std::uint64_t in_extra_32 = 0xFFFFFFFF;  // marks a number that is in the extra field instead
constexpr std::uint64_t in_extra_16 = 0xFFFF;
constexpr std::uint64_t zip64_extra = 1;

struct Directory {
  std::uint64_t entries;
  std::uint64_t begin;
};

Directory directory_of(std::string_view bytes) {
  constexpr std::size_t end_size = 22;
  constexpr std::size_t longest_comment = 65535;
  const std::size_t least =
      bytes.size() > end_size + longest_comment ? bytes.size() - end_size - longest_comment : 0;
  for (std::size_t at = bytes.size() < end_size ? 0 : bytes.size() - end_size + 1; at-- > least;) {
    if (word(bytes, at, 4) != end_signature) continue;
    Directory found{word(bytes, at + 10, 2), word(bytes, at + 16, 4)};
    if (found.entries != in_extra_16 && found.begin != in_extra_32) return found;
    if (at < 20 || word(bytes, at - 20, 4) != end64_locator_signature) break;
    const std::uint64_t end64 = word(bytes, at - 20 + 8, 8);
    if (word(bytes, end64, 4) != end64_signature) break;
    return {word(bytes, end64 + 32, 8), word(bytes, end64 + 48, 8)};
  }
  throw std::runtime_error("it is not an .npz file");
}

void require_checksum(std::string_view data, std::uint32_t expected) {
  uLong found = crc32(0, nullptr, 0);
  constexpr std::size_t piece = 1 << 26;
  for (std::size_t at = 0; at < data.size(); at += piece) {
    end_if_stopped();
    found =
        crc32_z(found, reinterpret_cast<const Bytef*>(data.data()) + at, std::min(piece, data.size() - at));
  }
  if (found != expected)
    throw std::runtime_error("its bytes do not have the archive's CRC-32: the file is damaged");
}

}  // namespace

double NpyArray::number(std::size_t index) const {
  const char* const at = data.data() + index * bytes;
  if (kind == 'f' && bytes == sizeof(double)) {
    double value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (kind == 'f' && bytes == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  throw std::runtime_error("its numbers are neither float32 nor float64");
}

NpyArray parse_npy(std::string_view bytes) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12)
    throw std::runtime_error("it is not an .npy file");
  if (bytes[6] < 1 || bytes[6] > 3)
    throw std::runtime_error(
        fmt::format("its format version is {}; expected 1 to 3", int{static_cast<unsigned char>(bytes[6])}));
  const std::size_t size_bytes = bytes[6] == 1 ? 2 : 4;
  const std::uint64_t header_size = word(bytes, 8, size_bytes);
  const std::size_t begin = 8 + size_bytes;
  if (header_size > bytes.size() - begin) throw std::runtime_error("its header is cut off");
  if (header_size > longest_npy_header) throw std::runtime_error("its header is too long");
  const std::string header(bytes.substr(begin, header_size));
  static const std::regex form(
      R"('descr': '[<|]([iuf])([1248])'.*'fortran_order': False.*'shape': \(([\d, ]{0,100})\))");
  std::smatch found;
  if (!std::regex_search(header, found, form)) {
    constexpr std::size_t shown = 100;
    throw std::runtime_error(fmt::format(
        "it is an array of another form ({}); convert it by numpy.ascontiguousarray(x, dtype=\"<f8\"), or \"<i8\" of tokens",
        header.substr(0, std::min(header.find_last_not_of(" \n") + 1, shown))));
  }
  NpyArray array;
  array.kind = *found[1].first;
  array.bytes = std::stoull(found[2]);
  static const std::regex number(R"(\d{1,15})");
  const std::string shape = found[3];
  // The remaining data bound each further dimension, so that no product overflows.
  std::uint64_t room = (bytes.size() - begin - header_size) / array.bytes;
  bool is_empty = false;
  for (std::sregex_iterator one(shape.begin(), shape.end(), number), end; one != end; ++one) {
    array.shape.push_back(std::stoull(one->str()));
    is_empty = is_empty || array.shape.back() == 0;
    if (array.shape.back() > room && !is_empty) throw std::runtime_error("its data are cut off");
    room = is_empty ? 0 : room / array.shape.back();
  }
  array.data = bytes.substr(begin + header_size, is_empty ? 0 : array.size() * array.bytes);
  return array;
}

NpzArchive::NpzArchive(std::string_view bytes) : bytes_(bytes) {
  const Directory directory = directory_of(bytes);
  std::uint64_t at = directory.begin;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (word(bytes, at, 4) != entry_signature) throw std::runtime_error("its directory is broken");
    Entry entry;
    entry.method = static_cast<std::uint16_t>(word(bytes, at + 10, 2));
    entry.checksum = static_cast<std::uint32_t>(word(bytes, at + 16, 4));
    entry.packed = word(bytes, at + 20, 4);
    entry.size = word(bytes, at + 24, 4);
    entry.header = word(bytes, at + 42, 4);
    const std::uint64_t name = word(bytes, at + 28, 2);
    const std::uint64_t extra = word(bytes, at + 30, 2);
    const std::uint64_t comment = word(bytes, at + 32, 2);
    constexpr std::uint64_t fixed = 46;
    word(bytes, at + fixed + name + extra, 0);
    entry.name = bytes.substr(at + fixed, name);
    if (entry.name.ends_with(extension)) entry.name.resize(entry.name.size() - extension.size());
    for (std::uint64_t e = at + fixed + name; e + 4 <= at + fixed + name + extra;) {
      const std::uint64_t id = word(bytes, e, 2);
      const std::uint64_t length = word(bytes, e + 2, 2);
      std::uint64_t value = e + 4;
      if (id == zip64_extra) {
        for (std::uint64_t* number : {&entry.size, &entry.packed, &entry.header}) {
          if (*number != in_extra_32) continue;
          *number = word(bytes, value, 8);
          value += 8;
        }
      }
      e += 4 + length;
    }
    at += fixed + name + extra + comment;
    if (has(entry.name)) throw std::runtime_error(fmt::format("it has two arrays \"{}\"", entry.name));
    entries_.push_back(std::move(entry));
  }
}

std::vector<std::string> NpzArchive::names() const {
  std::vector<std::string> all;
  for (const Entry& entry : entries_) all.push_back(entry.name);
  return all;
}

const NpzArchive::Entry* NpzArchive::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

bool NpzArchive::has(const std::string& name) const { return find(name) != nullptr; }

NpyArray NpzArchive::array(const std::string& name) const {
  const Entry* entry = find(name);
  if (entry == nullptr) throw std::runtime_error(fmt::format("it has no array \"{}\"", name));
  try {
    if (entry->method != 0) return unpacked(*entry);
    const std::string_view data = stored(*entry);
    require_checksum(data, entry->checksum);
    return parse_npy(data);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("array \"{}\": {}", name, error.what()));
  }
}

std::string_view NpzArchive::stored(const Entry& entry) const {
  if (word(bytes_, entry.header, 4) != local_signature) throw std::runtime_error("its header is broken");
  constexpr std::uint64_t fixed = 30;
  const std::uint64_t begin =
      entry.header + fixed + word(bytes_, entry.header + 26, 2) + word(bytes_, entry.header + 28, 2);
  if (begin > bytes_.size() || bytes_.size() - begin < entry.size) throw std::runtime_error("it is cut off");
  return bytes_.substr(begin, entry.size);
}

NpyArray NpzArchive::unpacked(const Entry& entry) const {
  if (entry.packed > bytes_.size() || entry.size / max_of_a_byte > entry.packed)
    throw std::runtime_error("its stated size is more than can be packed into its bytes");
  const double least = std::min(available_memory().value_or(largest_array), largest_array);
  const auto size = static_cast<double>(entry.size);
  if (size > least) {
    constexpr double giga = 1e9;
    throw std::runtime_error(fmt::format(
        "it unpacks to {:.3g} GB, more than the limit of {:.3g} GB; save it without compression (numpy.savez)",
        size / giga, least / giga));
  }
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes_.data(), bytes_.size(), 0, &error);
  const std::unique_ptr<zip_t, decltype(&zip_discard)> opened(
      source != nullptr ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr, zip_discard);
  if (!opened) {
    if (source != nullptr) zip_source_free(source);
    throw std::runtime_error("its archive cannot be opened");
  }
  const auto index = static_cast<zip_uint64_t>(&entry - entries_.data());
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(opened.get(), index, 0),
                                                                zip_fclose);
  auto bytes = std::make_shared<std::string>(file ? entry.size : 0, '\0');
  if (!file ||
      zip_fread(file.get(), bytes->data(), bytes->size()) != static_cast<zip_int64_t>(bytes->size())) {
    throw std::runtime_error("it cannot be unpacked");
  }
  require_checksum(*bytes, entry.checksum);
  NpyArray array = parse_npy(*bytes);
  array.memory = std::move(bytes);
  return array;
}

}  // namespace speclab
