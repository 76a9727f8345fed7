// Reads and writes journal files. The first line describes the run; each further line holds a finished part
// of it. A line consists of 16 hexadecimal digits of the SHA-256 of its JSON, a blank, and the JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// Shard `index` of `count`, from 1.
struct Shard {
  int index = 1;
  int count = 1;
};
inline constexpr int max_shards = 100'000;

/// The first line: everything the cells depend on, and the process that runs them. Only the program that
/// wrote a journal continues it, so the format needs no version number.
struct JournalHead {
  std::string version;  ///< for people; different programs may have the same version
  std::string program;  ///< the program's program_sources (version.hpp)
  std::string backend;  ///< "cpu" or "cuda"
  std::size_t cells = 0;
  std::vector<InputFile> inputs;
  std::shared_ptr<const Config> config;
  // Set only for a run divided into shards:
  std::optional<Shard> shard = {};           ///< the shard to which the journal belongs
  std::shared_ptr<const Json> input = {};    ///< the config as it was read, without defaults
  std::optional<std::string> command = {};   ///< shell command of the whole run, without --out
  std::optional<std::int64_t> started = {};  ///< Unix time in seconds
};
/// Returns the first line for a run of `identity` by this program.
JournalHead journal_head(const RunIdentity& identity);

/// Returns a sentence that says why a run with head `now` cannot use cells journaled under `earlier`; empty
/// if it can.
std::string difference(const JournalHead& earlier, const JournalHead& now);

/// Returns a sentence about the first file of `now` that differs from the `earlier` ones.
std::string changed_input(const std::vector<InputFile>& earlier, const std::vector<InputFile>& now);

/// A journal without its damaged lines. A last line without an end was cut off when its process was killed.
struct JournalContent {
  std::optional<JournalHead> head;  ///< empty if the first line is damaged or was written by another program
  bool foreign = false;             ///< an undamaged first line was written by another program
  FinishedCells cells;
  std::size_t damaged = 0;  ///< number of complete lines that are damaged
  bool torn = false;        ///< the last line has no end
  std::string sound;        ///< the undamaged lines
};
/// Returns the first line; empty if there is no file or another program wrote it.
std::optional<JournalHead> read_journal_head(const std::filesystem::path& file);
/// Reads a journal; returns nothing if there is no file.
std::optional<JournalContent> read_journal(const std::filesystem::path& file);

/// Receives a finished cell of a journal: its index, its offset in the file (for JournalReader), and its
/// JSON.
using UseOfCell = std::function<void(std::size_t cell, std::uint64_t offset, std::string_view json)>;
/// Reads a journal as read_journal does, but passes cells to `use` instead of keeping them (`cells` and
/// `sound` stay empty). First calls `begin` with the first line, if it is undamaged.
std::optional<JournalContent> scan_journal(const std::filesystem::path& file,
                                           const std::function<void(const JournalHead& head)>& begin,
                                           const UseOfCell& use);

/// Reads single cells of a file at their offsets.
class JournalReader {
 public:
  /// Throws std::runtime_error if the file cannot be opened.
  explicit JournalReader(std::filesystem::path file);

  /// Returns the cell as JSON, valid until the next call. Throws std::runtime_error if the file has changed.
  std::string_view cell(std::uint64_t offset);

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  std::uint64_t end_ = 0;  ///< offset of the end of the last line read; 0 before the first
};

/// Appends to a journal; thread-safe. A new file begins with `head`. Functions throw std::runtime_error if
/// they cannot write.
class JournalWriter {
 public:
  JournalWriter(std::filesystem::path file, const JournalHead& head) : file_(std::move(file)), head_(head) {}
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  /// Writes the head, if the file does not exist. Otherwise the first cell writes it.
  void begin();
  void add(std::size_t cell, const CellResult& result);

 private:
  void open();
  void append(const std::string& line);

  std::filesystem::path file_;
  const JournalHead& head_;
  std::mutex mutex_;
  int descriptor_ = -1;
  std::int64_t synced_ = 0;  ///< time of the last flush to the disk, in nanoseconds
};

}  // namespace speclab
