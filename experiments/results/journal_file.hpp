// The file of a journal: what is run, then what of it is finished, a line each, written as it is finished.
// Each line is 16 digits of the SHA-256 of the rest, a blank, and JSON.
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

/// The first line: what the cells depend on, and who runs them. Only the program that wrote a journal goes on
/// with it, so that its format needs no number.
struct JournalHead {
  std::string version;  ///< for people; programs of one version differ
  std::string program;  ///< its program_sources (experiments/base/support/version.hpp)
  std::string backend;  ///< "cpu" or "cuda"
  std::size_t cells = 0;
  std::vector<InputFile> inputs;
  std::shared_ptr<const Config> config;
  // Of a run that is shared out:
  std::optional<Shard> shard = {};           ///< the one that the journal is of
  std::shared_ptr<const Json> input = {};    ///< the config as it was read, without defaults
  std::optional<std::string> command = {};   ///< of the whole run, for a shell
  std::optional<std::int64_t> started = {};  ///< Unix time in seconds
};
/// Of a run of `identity` by this program.
JournalHead journal_head(const RunIdentity& identity);

/// Why what was journaled under `earlier` does not go with `now`, as a sentence; empty when it does.
std::string difference(const JournalHead& earlier, const JournalHead& now);

/// What a journal holds. Damaged lines are left out; a line without its end was being written when its
/// process was killed.
struct JournalContent {
  std::optional<JournalHead> head;  ///< none when the first line is damaged, or not as this program's are
  bool foreign = false;             ///< the first line is sound, and not as this program's are
  FinishedCells cells;
  std::vector<BatchTallies> tallies;
  bool complete = false;    ///< whether the process that wrote it said that its shard is finished
  std::size_t damaged = 0;  ///< whole lines that are not as they were written
  bool torn = false;        ///< whether the last line has no end
  std::string sound;        ///< the lines that are as they were written
};
/// The first line; none when there is no such file, or none of a journal as this program writes it.
std::optional<JournalHead> read_journal_head(const std::filesystem::path& file);
/// None when there is no such file.
std::optional<JournalContent> read_journal(const std::filesystem::path& file);

/// Told of each finished cell of a journal: its place in the file, where JournalReader finds it again, and
/// its JSON.
using UseOfCell = std::function<void(std::size_t cell, std::uint64_t offset, std::string_view json)>;
/// The same as read_journal, of a journal that memory does not have to hold: `cells` and `sound` stay empty.
/// `begin` is told of the first line when it is sound, before the cells.
std::optional<JournalContent> scan_journal(const std::filesystem::path& file,
                                           const std::function<void(const JournalHead& head)>& begin,
                                           const UseOfCell& use);

/// Reads finished cells at their places in a file.
class JournalReader {
 public:
  /// Throws std::runtime_error for a file that cannot be opened.
  explicit JournalReader(std::filesystem::path file);

  /// The cell as JSON text, until the next call. Throws std::runtime_error for a file that was changed.
  std::string_view cell(std::uint64_t offset);

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  std::uint64_t end_ = 0;  ///< of the line; 0 before the first
};

/// Appends to a journal, from any thread; a file that does not exist begins with `head`. Every function
/// throws std::runtime_error when it cannot be written.
class JournalWriter {
 public:
  JournalWriter(std::filesystem::path file, const JournalHead& head) : file_(std::move(file)), head_(head) {}
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void add(std::size_t cell, const CellResult& result);
  void add(const BatchTallies& tallies);
  /// Says that the shard is finished.
  void complete();

 private:
  void add_line(const std::string& line);
  void append(const std::string& line);

  std::filesystem::path file_;
  const JournalHead& head_;
  std::mutex mutex_;
  int descriptor_ = -1;
  std::int64_t synced_ = 0;  ///< when the file was last flushed to the disk, in nanoseconds
};

}  // namespace speclab
