// Keeps the finished cells of a run on disk as they are finished, so that a run that was killed or
// interrupted can continue. journal.jsonl is in the run's folder from the first finished cell until the
// result is written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/journal_file.hpp"

namespace speclab {

/// How a run treats the finished cells of an earlier run.
enum class Resume {
  automatic,  ///< uses them if everything on which they depend is unchanged; else says why not and starts
              ///< anew
  required,   ///< uses them, or refuses to run
  never       ///< starts anew
};
/// Returns the mode of that name. Throws UsageError if there is none.
Resume resume_named(const std::string& name);

/// The journal of a run. It is used while the folder is locked (FolderLock).
class Journal {
 public:
  /// Reads the cells that an earlier run of `identity` left in `folder`. Throws UsageError if `resume` is
  /// required and there is nothing from which to continue. A journal with damaged lines is kept in the same
  /// folder as journal.jsonl.damaged, and its sound cells are used.
  Journal(const std::filesystem::path& folder, const RunIdentity& identity, Resume resume);

  /// Returns the cells that need not be run again.
  FinishedCells take_finished() { return std::move(finished_); }
  /// Returns sentences that say what was done with the earlier run; empty if there was none.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Writes a finished cell. Any thread may call it. Throws std::runtime_error if the cell cannot be written.
  void add(std::size_t cell, const CellResult& result) { writer_.add(cell, result); }

 private:
  void read(Resume resume);

  std::filesystem::path file_;
  JournalHead head_;
  FinishedCells finished_;
  std::vector<std::string> notes_;
  JournalWriter writer_;
};

/// Returns the config of the run whose journal is in `folder`; null if there is no journal or if its first
/// line is damaged.
std::shared_ptr<const Config> journal_config(const std::filesystem::path& folder);

/// Removes the journal. Called last, when all files of the complete result have been written.
void remove_journal(const std::filesystem::path& folder);

}  // namespace speclab
