#include "experiments/shards/journaled_cells.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/stop.hpp"

namespace speclab {

constexpr std::size_t max_open = 16;

void JournaledCells::add_file(const std::filesystem::path& file) { files_.push_back(file); }

std::string_view JournaledCells::json(std::size_t cell) const {
  const Place& place = places_.at(cell);
  const auto known = std::ranges::find_if(open_, [&](const OpenFile& one) { return one.file == place.file; });
  if (known != open_.end()) {
    std::rotate(known, known + 1, open_.end());
  } else {
    if (open_.size() == max_open) open_.erase(open_.begin());
    open_.push_back({place.file, std::make_unique<JournalReader>(files_.at(place.file))});
  }
  return open_.back().reader->cell(place.offset);
}

void JournaledResult::each_json(const std::function<void(const Json& cell)>& use) const {
  // Lines were checked against their SHA-256 when they were found.
  for (std::size_t cell = 0; cell < size(); ++cell) {
    end_if_stopped();
    use(Json::parse(cells_.json(cell)));
  }
}

void JournaledResult::each(const std::function<void(const CellResult& cell)>& use) const {
  each_json([&](const Json& json) { use(read_cell(experiment_, json)); });
}

}  // namespace speclab
