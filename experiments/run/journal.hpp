// The finished cells of a run, on disk as they are finished: a run that was killed or interrupted goes on
// where it was. journal.jsonl lies in the run's folder from the first finished cell until the result is
// written. Each line is 16 digits of the SHA-256 of the rest, a blank, and JSON: first what is run (version,
// config, content of every input file, backend), then a line a cell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// What to do about the finished cells of an earlier run.
enum class Resume {
  automatic,  ///< take them when everything that they depend on is as it was, else say why not and start anew
  required,   ///< take them, or refuse to run
  never       ///< start anew
};
/// The mode of that name. Throws UsageError.
Resume resume_named(const std::string& name);

/// The first line of a journal: what its cells depend on.
struct JournalHead {
  std::string version;
  std::string backend;
  std::size_t cells = 0;
  std::vector<InputFile> inputs;
  Config config;
};

/// Used under the lock of the folder (FolderLock).
class Journal {
 public:
  /// Reads what an earlier run of `identity` left in `folder`. Throws UsageError when `resume` is required
  /// and there is nothing to go on from. A journal with damaged lines is kept beside the new one, as
  /// journal.jsonl.damaged, and its sound cells are used.
  Journal(const std::filesystem::path& folder, const RunIdentity& identity, Resume resume);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The cells that need not be run again.
  FinishedCells take_finished() { return std::move(finished_); }
  /// Sentences about what became of the earlier run; empty when there was none.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Writes a finished cell; any thread. Throws std::runtime_error when it cannot be written.
  void add(std::size_t cell, const CellResult& result);

 private:
  void read(Resume resume);
  /// Why the run that wrote this first line cannot be gone on with; empty when it can.
  std::string difference(const JournalHead& earlier) const;
  void append(const std::string& line);

  std::filesystem::path file_;
  JournalHead head_;
  FinishedCells finished_;
  std::vector<std::string> notes_;
  std::mutex mutex_;
  int descriptor_ = -1;
  std::int64_t synced_ = 0;  ///< when the file was last flushed to the disk, in nanoseconds
};

/// The config of the run whose journal lies in `folder`; none without one, or when its first line is damaged.
std::optional<Config> journal_config(const std::filesystem::path& folder);

/// Called last, when everything that is made of a whole result has been written.
void remove_journal(const std::filesystem::path& folder);

}  // namespace speclab
