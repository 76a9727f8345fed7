#include "experiments/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "experiments/config/config_error.hpp"
#include "experiments/config/json_io.hpp"
#include "experiments/config/result_fields.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

namespace {

constexpr const char* file_name = "journal.jsonl";
constexpr std::size_t check_digits = 16;
constexpr std::int64_t sync_nanoseconds = 1'000'000'000;

/// A finished cell.
struct Line {
  std::size_t cell = 0;
  std::shared_ptr<const Json> result;
};

const Typed<Line>& line_type() {
  static const auto type =
      result_object<Line>("line", {{"cell", &Line::cell}, {"result", &Line::result, any_json()}});
  return type;
}

/// Made anew each time: kinds and sections may be added until the first use.
Typed<JournalHead> head_type() {
  return result_object<JournalHead>("journal", {{"speclab", &JournalHead::version},
                                                {"backend", &JournalHead::backend},
                                                {"cells", &JournalHead::cells},
                                                {"inputs", &JournalHead::inputs},
                                                {"config", &JournalHead::config, config_type()}});
}

/// A value as a line of the journal.
template <class T>
std::string line_of(const T& value, const Typed<T>& type) {
  Json json;
  write(type, value, json);
  const std::string text = json.dump();
  return fmt::format("{:.{}} {}\n", sha256(text), check_digits, text);
}

/// The value of a line; none for a line that is not as it was written.
template <class T>
std::optional<T> value_of(const std::string& line, const Typed<T>& type) {
  if (line.size() <= check_digits || line[check_digits] != ' ') return std::nullopt;
  const std::string json = line.substr(check_digits + 1);
  if (sha256(json).compare(0, check_digits, line, 0, check_digits) != 0) return std::nullopt;
  try {
    return read(type, parse_json(json), "");
  } catch (const ConfigError&) {  // of another version
    return std::nullopt;
  }
}

/// What differs between two lists of input files, as a sentence.
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

}  // namespace

Resume resume_named(const std::string& name) {
  if (name == "auto") return Resume::automatic;
  if (name == "require") return Resume::required;
  throw UsageError(fmt::format("--resume {}: expected auto or require", name));
}

Journal::Journal(const std::filesystem::path& folder, const RunIdentity& identity, Resume resume)
    : file_(folder / file_name),
      head_{version_string(), identity.backend == Backend::cpu ? "cpu" : "cuda", identity.cells,
            identity.inputs, identity.config} {
  read(resume);
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::read(Resume resume) {
  const auto start_anew = [&](const std::string& reason) {
    if (resume == Resume::required) {
      throw UsageError(
          fmt::format("{}: cannot go on with the earlier run: {}; without --resume require it is "
                      "started anew",
                      file_.string(), reason));
    }
    if (resume == Resume::automatic) notes_.push_back("the earlier run is not gone on with: " + reason);
    std::filesystem::remove(file_);
  };
  std::ifstream stream(file_, std::ios::binary);
  if (!stream) {
    if (resume == Resume::required) start_anew("there is no journal");
    return;
  }
  if (resume == Resume::never) return start_anew("");

  std::string line;
  std::getline(stream, line);
  const std::filesystem::path aside = file_.string() + ".damaged";
  const std::optional<JournalHead> head = value_of(line, head_type());
  if (!head) {
    std::filesystem::copy_file(file_, aside, std::filesystem::copy_options::overwrite_existing);
    return start_anew(
        fmt::format("its first line is damaged, or of another version; it is kept as {}", aside.string()));
  }
  if (const std::string reason = difference(*head); !reason.empty()) return start_anew(reason);

  // A line without its end was being written when the process was killed.
  std::string sound = line + "\n";
  std::size_t damaged = 0;
  bool torn = false;
  while (std::getline(stream, line)) {
    torn = stream.eof();
    const auto cell = torn ? std::nullopt : value_of(line, line_type());
    if (cell && cell->cell < head_.cells) {
      finished_[cell->cell] = read_cell(*head_.config.experiment, *cell->result);
      sound += line + "\n";
    } else if (!torn) {
      ++damaged;
    }
  }
  if (damaged > 0) {
    std::filesystem::copy_file(file_, aside, std::filesystem::copy_options::overwrite_existing);
    notes_.push_back(fmt::format("{} damaged lines in {}, kept as {}: their cells are run again", damaged,
                                 file_.string(), aside.string()));
  }
  if (damaged > 0 || torn) write_file_atomically(file_, sound);
  notes_.push_back(fmt::format("going on with an interrupted run: {} of {} cells are finished",
                               finished_.size(), head_.cells));
}

std::string Journal::difference(const JournalHead& earlier) const {
  if (earlier.version != head_.version) return "another version of speclab wrote it";
  if (earlier.cells != head_.cells || config_json(earlier.config) != config_json(head_.config))
    return "it is of another config";
  if (earlier.backend != head_.backend) return "it ran on another backend";
  return earlier.inputs == head_.inputs ? "" : changed_input(earlier.inputs, head_.inputs);
}

void Journal::append(const std::string& line) {
  const auto fail = [&](const char* step) {
    throw std::runtime_error(fmt::format(
        "cannot write {}: {}: {}; the cells in it are kept, and the same command goes on with them",
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
  // What was written outlives the process at once; a machine that dies loses the last second.
  if (now - synced_ < sync_nanoseconds) return;
  if (::fdatasync(descriptor_) != 0) fail("flush");
  synced_ = now;
}

void Journal::add(std::size_t cell, const CellResult& result) {
  const std::string line = line_of(
      Line{cell, std::make_shared<const Json>(cell_json(*head_.config.experiment, result))}, line_type());
  const std::scoped_lock lock(mutex_);
  if (descriptor_ < 0) {
    const bool fresh = !std::filesystem::exists(file_);
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw std::runtime_error(
          fmt::format("cannot open {}: {}", file_.string(), std::generic_category().message(errno)));
    }
    if (fresh) append(line_of(head_, head_type()));
  }
  append(line);
}

std::optional<Config> journal_config(const std::filesystem::path& folder) {
  std::ifstream stream(folder / file_name, std::ios::binary);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  const std::optional<JournalHead> head = value_of(line, head_type());
  if (!head || head->version != version_string()) return std::nullopt;
  return head->config;
}

void remove_journal(const std::filesystem::path& folder) { std::filesystem::remove(folder / file_name); }

}  // namespace speclab
