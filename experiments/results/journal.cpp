#include "experiments/results/journal.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"

namespace speclab {

constexpr const char* file_name = "journal.jsonl";

Journal::Journal(const std::filesystem::path& folder, const RunIdentity& identity, bool required)
    : file_(folder / file_name), head_(journal_head(identity)), writer_(file_, head_) {
  read(required);
}

void Journal::read(bool required) {
  const std::filesystem::path aside = file_.string() + ".earlier";
  const auto start_anew = [&](const std::string& reason) {
    if (required) {
      throw UsageError("{}: cannot continue the earlier run: {}; without --resume require it starts over",
                       file_.string(), reason);
    }
    notes_.push_back(fmt::format("the earlier run is not continued: {}; its journal is kept as {}", reason,
                                 aside.string()));
    std::filesystem::rename(file_, aside);
  };
  std::optional<JournalContent> earlier = read_journal(file_);
  if (!earlier) {
    if (required) start_anew("there is no journal");
    return;
  }
  if (!earlier->head)
    return start_anew(earlier->foreign ? "another program wrote it" : "its first line is damaged");
  if (const std::string reason = difference(*earlier->head, head_); !reason.empty())
    return start_anew(reason);
  if (earlier->damaged > 0) {
    std::filesystem::copy_file(file_, aside, std::filesystem::copy_options::overwrite_existing);
    notes_.push_back(fmt::format("{} damaged lines in {}, kept as {}: their cells are run again",
                                 earlier->damaged, file_.string(), aside.string()));
  }
  if (earlier->damaged > 0 || earlier->torn) write_file_atomically(file_, earlier->sound);
  finished_ = std::move(earlier->cells);
  notes_.push_back(fmt::format("continuing an interrupted run: {} of {} cells are finished", finished_.size(),
                               head_.cells));
}

std::shared_ptr<const Config> journal_config(const std::filesystem::path& folder) {
  const std::optional<JournalHead> head = read_journal_head(folder / file_name);
  return head ? head->config : nullptr;
}

void remove_journal(const std::filesystem::path& folder) { std::filesystem::remove(folder / file_name); }

}  // namespace speclab
