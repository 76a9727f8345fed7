#include "experiments/base/format/json_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/type.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/text_files.hpp"
#include "sim/text/input_stream.hpp"
#include "sim/text/text_file.hpp"
#include "sim/text/utf8.hpp"

namespace speclab {

namespace {

std::string line_and_column(const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = newline == std::string::npos ? end + 1 : end - newline;
  return fmt::format("line {}, column {}", lines + 1, column);
}

/// Returns the last part of nlohmann's message, which says what was expected; the first part repeats the
/// position.
std::string reason(const std::string& what) {
  for (const char* before : {": ", "] "}) {
    const auto at = what.find(before);
    if (at != std::string::npos) return what.substr(at + 2);
  }
  return what;
}

/// Maximum nesting: more than a config needs, and small enough to copy, print or destroy a document
/// recursively.
constexpr int deepest = 100;
/// Maximum number of keys of an object. Json searches all of them for each key, so that 100,000 would take
/// minutes.
constexpr std::size_t max_keys = 10000;

/// Reads a document without building it and stops if it is nested too deeply. (nlohmann's parser with a
/// callback would do both at once, but it searches the whole list at the end of each of its objects.)
class Watcher final : public nlohmann::json_sax<Json> {
 public:
  bool too_deep() const { return too_deep_; }
  bool too_wide() const { return too_wide_; }
  const std::optional<std::string>& repeated() const { return repeated_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool key(string_t& name) override {
    if (!open_.back().insert(name).second && !repeated_) repeated_ = name;
    too_wide_ = open_.back().size() > max_keys;
    return !too_wide_;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool enter() {
    open_.emplace_back();
    too_deep_ = std::ssize(open_) > deepest;
    return !too_deep_;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> open_;  ///< keys of the objects and lists that are still open
  std::optional<std::string> repeated_;
  bool too_deep_ = false, too_wide_ = false;
};

/// Returns "; did you mean "first.json"?" for a missing file, from the names in its folder or in the same
/// folder of the files that come with the program.
std::string near_file(const std::filesystem::path& file) {
  constexpr std::size_t max_looked_at = 10000;
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path folder = file.has_parent_path() ? data_file(file.parent_path()) : ".";
  for (auto at = std::filesystem::directory_iterator(folder, error);
       !error && at != std::filesystem::directory_iterator() && names.size() < max_looked_at;
       at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return near_suggestion(file.filename().string(), names);
}

/// Returns the text with 0.3 for .3: JSON needs a digit before the point, and people at a command line leave
/// it out. Text with quotes stays as it is.
std::string with_leading_zeros(std::string text) {
  if (text.find('"') != std::string::npos) return text;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool begins = i == 0 || std::strchr("[,:- ", text[i - 1]) != nullptr;
    if (text[i] == '.' && begins && text[i + 1] >= '0' && text[i + 1] <= '9') text.insert(i, "0");
  }
  return text;
}

/// Throws if `pointer` would leave a gap: nlohmann would fill a list with nulls up to any index, and would
/// create a list where a number follows nothing.
void refuse_gaps(const Json& document, const Json::json_pointer& pointer, const std::string& where) {
  for (Json::json_pointer at = pointer; !at.empty(); at.pop_back()) {
    const Json::json_pointer above = at.parent_pointer();
    const bool there = document.contains(above) && !document.at(above).is_null();
    if (document.contains(at) || (there && !document.at(above).is_array())) continue;
    if (!there && at.back().find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string next = std::to_string(there ? document.at(above).size() : 0);
    if (at.back() == "-" || at.back() == next) continue;
    throw ConfigError(where, "\"{}\" is not a path into the config: the list {} has {} entries",
                      pointer.to_string(), above.to_string(), next);
  }
}

}  // namespace

Json parse_json(const std::string& text) {
  // A UTF-8 byte order mark is skipped, as JSON readers may (RFC 8259, section 8.1).
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw ConfigError("/", byte_order_mark_problem(text));
  if (const auto at = text.find('\0'); at != std::string::npos)
    throw ConfigError("/", "not JSON: byte {} is 0", at);
  Watcher watcher;
  Json::sax_parse(text, &watcher);
  if (watcher.too_deep()) throw ConfigError("/", "nested more than {} deep", deepest);
  if (watcher.too_wide()) throw ConfigError("/", "an object has more than {} keys", max_keys);
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw ConfigError("/", "not JSON ({}): {}", line_and_column(text, error.byte), reason(error.what()));
  } catch (const Json::out_of_range& error) {
    throw ConfigError("/", "not JSON: {}", reason(error.what()));
  }
  if (watcher.repeated()) {
    throw ConfigError("/", "key \"{}\" occurs twice in one object; keep one", *watcher.repeated());
  }
  return document;
}

Json json_line(const std::string& text, const std::string& where) {
  Watcher watcher;
  if (!Json::sax_parse(text, &watcher)) return Json(Json::value_t::discarded);
  Json value = Json::parse(text, nullptr, false);
  if (watcher.repeated() && !value.is_discarded())
    throw UsageError("{}: key \"{}\" occurs twice in one object; keep one", where, *watcher.repeated());
  return value;
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw ConfigError("/", "is a folder; a file is needed");
  if (is_endless(file)) throw ConfigError("/", "is a device without an end; a file is needed");
  InputStream stream(file);
  if (!stream && errno == ENOENT) throw ConfigError("/", "no such file{}", near_file(file));
  if (!stream) throw ConfigError("/", "cannot be read: {}", std::strerror(errno));
  // 1 GiB, far more than any log or result.
  constexpr std::size_t most = std::size_t{1} << 30U;
  constexpr std::size_t block = std::size_t{1} << 20U;
  std::string text;
  while (stream) {
    const std::size_t size = text.size();
    if (size > most) throw ConfigError("/", "has more than {} bytes, the limit", most);
    text.resize(size + block);
    stream.read(text.data() + size, static_cast<std::streamsize>(block));
    text.resize(size + static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

void set_at(Json& document, const std::string& pointer, const Json& value, const std::string& where) {
  try {
    const Json::json_pointer parsed(pointer);
    if (std::count(pointer.begin(), pointer.end(), '/') > deepest)
      throw ConfigError(where, "\"{}\" is a path of more than {} parts", pointer, deepest);
    refuse_gaps(document, parsed, where);
    document[parsed] = value;
  } catch (const Json::exception& error) {
    throw ConfigError(where, "\"{}\" is not a path into the config, such as \"/models/draft/alpha\": {}",
                      pointer, reason(error.what()));
  }
}

void apply_assignment(Json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--set {}: expected path=value, for example --set models.draft.alpha=0.8", assignment);
  std::string path = assignment.substr(0, equals);
  if (path[0] != '/') {
    std::replace(path.begin(), path.end(), '.', '/');
    path.insert(path.begin(), '/');
  }
  // In "sweep./gamma" the rest after the empty name is a path that is itself a key.
  if (const auto key = path.find("//"); key != std::string::npos)
    path = path.substr(0, key + 1) + boost::algorithm::replace_all_copy(path.substr(key + 1), "/", "~1");
  const std::string text = assignment.substr(equals + 1);
  if (const auto byte = first_not_utf8(text))
    throw UsageError("--set {}: byte {} of the value is not UTF-8, which JSON needs", assignment, *byte + 1);
  if (text == "null") {
    // Setting the value first refuses malformed paths, as for any other value.
    set_at(document, path, nullptr, path);
    const Json::json_pointer pointer(path);
    Json& parent = document.at(pointer.parent_pointer());
    if (parent.is_object()) parent.erase(pointer.back());
    return;
  }
  const std::string value = with_leading_zeros(text);
  set_at(document, path, Json::accept(value) ? parse_json(value) : Json(text), path);
}

void require_format(const Json& document, int number, const char* way_out) {
  const auto stated = document.is_object() ? document.find("format") : document.end();
  if (stated == document.end() || *stated == number) return;
  throw ConfigError("/format", "{}: another version of speclab wrote it, and this one reads format {}; {}",
                    shown(*stated), number, way_out);
}

}  // namespace speclab
