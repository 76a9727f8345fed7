// Saves each finished cell of a run in journal.jsonl in the run's folder, so that a killed or interrupted run
// can continue. The file exists from the first finished cell until the result is written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/journal_file.hpp"

namespace speclab {

/// The journal of a run. Its folder must be locked (FolderLock).
class Journal {
 public:
  /// Reads the cells that an earlier run of `identity` left in `folder`. Throws UsageError if cells are
  /// `required` and there is nothing to continue. Keeps a journal that is damaged or not continued as
  /// journal.jsonl.earlier, and uses the undamaged cells of a damaged one.
  Journal(const std::filesystem::path& folder, const RunIdentity& identity, bool required = false);

  /// Returns the cells that need not be run again.
  FinishedCells take_finished() { return std::move(finished_); }
  /// Returns sentences about how the earlier run was used; empty if there was none.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Writes a finished cell; thread-safe. Throws std::runtime_error if it cannot be written.
  void add(std::size_t cell, const CellResult& result) { writer_.add(cell, result); }

 private:
  void read(bool required);

  std::filesystem::path file_;
  JournalHead head_;
  FinishedCells finished_;
  std::vector<std::string> notes_;
  JournalWriter writer_;
};

/// Returns the config of the run whose journal is in `folder`; null without a journal, or if its first line
/// is damaged.
std::shared_ptr<const Config> journal_config(const std::filesystem::path& folder);

/// Removes the journal, after all files of the complete result have been written.
void remove_journal(const std::filesystem::path& folder);

}  // namespace speclab
