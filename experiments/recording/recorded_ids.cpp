#include "experiments/recording/recorded_ids.hpp"

#include <map>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/printable.hpp"
#include "experiments/recording/named_records.hpp"
#include "experiments/recording/recording_source.hpp"

namespace speclab {

std::vector<RecordedIds> read_recorded_ids(const std::string& file) {
  const RecordingSource source(file);
  std::vector<RecordedIds> all;
  std::map<std::string, std::size_t> places;
  each_named_record(
      lines_of(source.bytes(), file), {{"sequence", "sequence"}, {"token", "token"}},
      [&](const TextLine& line, const std::map<std::string, std::string>& values) {
        constexpr std::size_t max_shown = 40;
        const std::string& token = values.at("token");
        const auto id = integer_in(token);
        if (!id) throw UsageError("{}: token \"{}\" is not an id", line.where, printable(token, max_shown));
        const auto [found, fresh] = places.emplace(values.at("sequence"), all.size());
        if (fresh) all.push_back({values.at("sequence"), {}});
        all[found->second].ids.push_back(*id);
      },
      "token ids are read from a recording, which speclab record writes");
  if (all.empty()) throw UsageError("{}: has no tokens", file);
  return all;
}

}  // namespace speclab
