#include "experiments/results/journal_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/support/version.hpp"
#include "experiments/config/config_types.hpp"
#include "experiments/config/shown_config.hpp"

namespace speclab {

SPECLAB_OBJECT(Shard, "shard", {"index", &Shard::index, integer<int>(1, max_shards)},
               {"count", &Shard::count, integer<int>(1, max_shards)});

namespace {

constexpr std::size_t check_digits = 16;
constexpr std::int64_t sync_nanoseconds = 1'000'000'000;

/// Describes the first line. Built at each call, because kinds and sections may be added until the first use.
Typed<JournalHead> head_type() {
  return result_object<JournalHead>("journal", {{"speclab", &JournalHead::version},
                                                {"program", &JournalHead::program},
                                                {"backend", &JournalHead::backend},
                                                {"cells", &JournalHead::cells},
                                                {"inputs", &JournalHead::inputs},
                                                {"config", &JournalHead::config},
                                                {"shard", &JournalHead::shard},
                                                sparse("input", &JournalHead::input),
                                                {"command", &JournalHead::command},
                                                {"started", &JournalHead::started}});
}

std::string line_of(const std::string& json) {
  return fmt::format("{:.{}} {}\n", sha256(json), check_digits, json);
}

/// A line of a finished cell has the form {"cell":12,"result":...}.
constexpr std::string_view before_cell = "{\"cell\":";
constexpr std::string_view before_result = ",\"result\":";

/// Returns the JSON of a line whose check digits match; empty for other lines.
std::string_view checked(std::string_view line) {
  if (line.size() <= check_digits || line[check_digits] != ' ') return {};
  const std::string_view json = line.substr(check_digits + 1);
  return line.starts_with(std::string_view(sha256(json)).substr(0, check_digits)) ? json : std::string_view();
}

/// Returns a finished cell's index and the JSON of its result; empty for other lines. Does not parse the
/// JSON, which would take ten times as long.
std::optional<std::pair<std::size_t, std::string_view>> finished_cell(std::string_view json) {
  if (!json.starts_with(before_cell) || !json.ends_with('}')) return std::nullopt;
  std::size_t cell = 0;
  const auto number = std::from_chars(json.data() + before_cell.size(), json.data() + json.size(), cell);
  if (number.ec != std::errc()) return std::nullopt;
  json.remove_prefix(static_cast<std::size_t>(number.ptr - json.data()));
  if (!json.starts_with(before_result)) return std::nullopt;
  json.remove_prefix(before_result.size());
  json.remove_suffix(1);
  return std::pair(cell, json);
}

/// Returns the head in a first line; empty if the line was damaged.
std::optional<JournalHead> head_in(const std::string& line) {
  const std::string_view json = checked(line);
  if (json.empty()) return std::nullopt;
  try {
    return read(head_type(), parse_json(std::string(json)), "");
  } catch (const ConfigError&) {  // written by another program
    return std::nullopt;
  }
}

/// Reads a journal. `begin` receives its first line, `take` each further line of a finished cell, its offset,
/// the cell's index and the JSON of its result; `take` returns whether the line is undamaged. Returns nothing
/// if there is no file.
template <class Begin, class Take>
std::optional<JournalContent> read_lines(const std::filesystem::path& file, Begin begin, Take take) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  JournalContent content;
  std::string line;
  std::getline(stream, line);
  content.head = head_in(line);
  content.foreign = !content.head && !checked(line).empty();
  if (!content.head) return content;
  begin(content, line);
  std::uint64_t offset = line.size() + 1;
  for (; std::getline(stream, line); offset += line.size() + 1) {
    content.torn = stream.eof();
    if (content.torn) break;
    const auto finished = finished_cell(checked(line));
    const bool sound = finished && finished->first < content.head->cells &&
                       take(content, line, offset, finished->first, finished->second);
    content.damaged += sound ? 0 : 1;
  }
  return content;
}

}  // namespace

std::string changed_input(const std::vector<InputFile>& earlier, const std::vector<InputFile>& now) {
  for (const InputFile& input : now) {
    const auto then = std::find_if(earlier.begin(), earlier.end(),
                                   [&](const InputFile& one) { return one.file == input.file; });
    if (then == earlier.end()) return fmt::format("{} was not read then", input.file);
    if (*then == input) continue;
    return fmt::format("{} has changed since (SHA-256 {:.12}..., now {:.12}...)", input.file, then->sha256,
                       input.sha256);
  }
  return "it read other files";
}

JournalHead journal_head(const RunIdentity& identity) {
  return {.version = version_string(),
          .program = program_sources(),
          .backend = identity.backend == Backend::cpu ? "cpu" : "cuda",
          .cells = identity.cells,
          .inputs = identity.inputs,
          .config = identity.config};
}

std::string difference(const JournalHead& earlier, const JournalHead& now) {
  if (earlier.program != now.program) {
    return fmt::format(
        "another program wrote it (speclab {}, sources {:.12}; this one is {}, sources {:.12})",
        earlier.version, earlier.program, now.version, now.program);
  }
  if (earlier.cells != now.cells || config_json(*earlier.config) != config_json(*now.config))
    return "it belongs to another config";
  if (earlier.backend != now.backend) return "it ran on another backend";
  const auto shards = [](const JournalHead& head) { return head.shard ? head.shard->count : 0; };
  if (shards(earlier) != shards(now)) return "it was divided into another number of shards";
  return earlier.inputs == now.inputs ? "" : changed_input(earlier.inputs, now.inputs);
}

std::optional<JournalHead> read_journal_head(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  return std::getline(stream, line) ? head_in(line) : std::nullopt;
}

std::optional<JournalContent> scan_journal(const std::filesystem::path& file,
                                           const std::function<void(const JournalHead& head)>& begin,
                                           const UseOfCell& use) {
  const auto take = [&use](const auto&, const auto&, std::uint64_t offset, std::size_t cell,
                           std::string_view json) {
    use(cell, offset, json);
    return true;
  };
  return read_lines(
      file, [&](const JournalContent& content, const std::string&) { begin(*content.head); }, take);
}

JournalReader::JournalReader(std::filesystem::path file)
    : file_(std::move(file)), stream_(file_, std::ios::binary) {
  if (stream_) return;
  throw std::runtime_error(
      fmt::format("cannot open {}: {}", file_.string(), std::generic_category().message(errno)));
}

std::string_view JournalReader::cell(std::uint64_t offset) {
  stream_.clear();
  // A seek drops what the stream has read ahead, so successive cells are read without one.
  if (std::exchange(end_, 0) != offset) stream_.seekg(static_cast<std::streamoff>(offset));
  if (std::getline(stream_, line_) && !stream_.eof() && line_.size() > check_digits) {
    end_ = offset + line_.size() + 1;
    if (const auto finished = finished_cell(std::string_view(line_).substr(check_digits + 1)))
      return finished->second;
  }
  throw std::runtime_error(fmt::format("{} was changed while it was read", file_.string()));
}

std::optional<JournalContent> read_journal(const std::filesystem::path& file) {
  const auto keep = [](JournalContent& content, const std::string& line) { content.sound += line + "\n"; };
  const auto take = [&](JournalContent& content, const std::string& line, std::uint64_t, std::size_t cell,
                        std::string_view json) {
    try {
      content.cells[cell] =
          read_cell(*shown_part(*content.head->config).experiment, parse_json(std::string(json)));
    } catch (const ConfigError&) {  // written by another program
      return false;
    }
    keep(content, line);
    return true;
  };
  return read_lines(file, keep, take);
}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void JournalWriter::append(const std::string& line) {
  const auto fail = [&](const char* step) {
    throw std::runtime_error(
        fmt::format("cannot write {}: {}: {}; its cells are kept, and the same command continues with them",
                    file_.string(), step, std::generic_category().message(errno)));
  };
  std::string_view left = line;
  while (!left.empty()) {
    const ::ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  // Written data survive the process at once; if the machine fails, the last second is lost.
  if (now - synced_ < sync_nanoseconds) return;
  if (::fdatasync(descriptor_) != 0) fail("flush");
  synced_ = now;
}

void JournalWriter::open() {
  if (descriptor_ >= 0) return;
  const bool fresh = !std::filesystem::exists(file_);
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw std::runtime_error(
        fmt::format("cannot open {}: {}", file_.string(), std::generic_category().message(errno)));
  }
  if (!fresh) return;
  Json head;
  write(head_type(), head_, head);
  append(line_of(head.dump()));
}

void JournalWriter::begin() {
  const std::scoped_lock lock(mutex_);
  open();
}

void JournalWriter::add(std::size_t cell, const CellResult& result) {
  const Json json = cell_json(*shown_part(*head_.config).experiment, result);
  const std::string line = line_of(fmt::format("{}{}{}{}}}", before_cell, cell, before_result, json.dump()));
  const std::scoped_lock lock(mutex_);
  open();
  append(line);
}

}  // namespace speclab
