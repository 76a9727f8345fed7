// The finished cells of a run, on disk as they are finished: a run that was killed or interrupted goes on
// where it was. journal.jsonl lies in the run's folder from the first finished cell until the result is
// written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/journal_file.hpp"

namespace speclab {

/// What to do about the finished cells of an earlier run.
enum class Resume {
  automatic,  ///< take them when everything that they depend on is as it was, else say why not and start anew
  required,   ///< take them, or refuse to run
  never       ///< start anew
};
/// The mode of that name. Throws UsageError.
Resume resume_named(const std::string& name);

/// Used under the lock of the folder (FolderLock).
class Journal {
 public:
  /// Reads what an earlier run of `identity` left in `folder`. Throws UsageError when `resume` is required
  /// and there is nothing to go on from. A journal with damaged lines is kept beside the new one, as
  /// journal.jsonl.damaged, and its sound cells are used.
  Journal(const std::filesystem::path& folder, const RunIdentity& identity, Resume resume);

  /// The cells that need not be run again.
  FinishedCells take_finished() { return std::move(finished_); }
  /// Sentences about what became of the earlier run; empty when there was none.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Writes a finished cell; any thread. Throws std::runtime_error when it cannot be written.
  void add(std::size_t cell, const CellResult& result) { writer_.add(cell, result); }

 private:
  void read(Resume resume);

  std::filesystem::path file_;
  JournalHead head_;
  FinishedCells finished_;
  std::vector<std::string> notes_;
  JournalWriter writer_;
};

/// The config of the run whose journal lies in `folder`; null without one, or when its first
/// line is damaged.
std::shared_ptr<const Config> journal_config(const std::filesystem::path& folder);

/// Called last, when everything that is made of a whole result has been written.
void remove_journal(const std::filesystem::path& folder);

}  // namespace speclab
