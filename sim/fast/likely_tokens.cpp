#include "sim/fast/likely_tokens.hpp"

#include <algorithm>
#include <vector>

#include "core/stop.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

constexpr std::size_t contexts_a_task = 1024;

}  // namespace

LikelyTokens::LikelyTokens(const NgramTable& table, Side side) : table_(table), side_(side) {
  const std::size_t contexts = table.contexts();
  const auto for_each_own = [&](std::uint32_t at, const auto& body) {
    const NgramTable::Context& here = table.context(at);
    if (here.longest[side] != at) return;  // no row of this model starts here
    const auto places = table.places(here);
    for (std::uint32_t place = 0; place < places.size(); ++place) {
      if (places[place] >= 0 && table.probabilities(here, place)[side] >= 0) body(place, places[place]);
    }
  };
  const auto for_each_task = [&](const auto& body) {
    for_each_piece(contexts, contexts_a_task, [&](std::size_t first, std::size_t last) {
      end_if_stopped();
      for (std::size_t at = first; at < last; ++at) body(static_cast<std::uint32_t>(at));
    });
  };
  starts_.resize(contexts + 1);
  for_each_task([&](std::uint32_t at) {
    std::uint64_t count = 0;
    for_each_own(at, [&](std::uint32_t, Token) { ++count; });
    starts_[at + 1] = count;
  });
  for (std::size_t at = 0; at < contexts; ++at) starts_[at + 1] += starts_[at];
  places_.resize(starts_[contexts]);
  for_each_task([&](std::uint32_t at) {
    struct Own {
      double probability;
      Token token;
      std::uint32_t place;
    };
    thread_local std::vector<Own> own;
    own.clear();
    for_each_own(at, [&](std::uint32_t place, Token token) {
      own.push_back({table.probabilities(table.context(at), place)[side], token, place});
    });
    std::sort(own.begin(), own.end(), [](const Own& a, const Own& b) {
      return a.probability > b.probability || (a.probability == b.probability && a.token < b.token);
    });
    std::transform(own.begin(), own.end(), places_.begin() + static_cast<std::ptrdiff_t>(starts_[at]),
                   [](const Own& one) { return one.place; });
  });
}

bool LikelyTokens::listed_above(std::uint32_t longest, std::uint32_t at, Token token) const {
  for (std::uint32_t above = longest; above != at; above = table_.context(above).below[side_]) {
    const NgramTable::Context& here = table_.context(above);
    const std::uint32_t place = table_.place(here, token);
    if (place != NgramTable::nowhere && table_.probabilities(here, place)[side_] >= 0) return true;
  }
  return false;
}

LikelyToken<double> LikelyTokens::ranked(std::uint32_t context, std::int32_t k) const {
  LikelyToken<double> found;
  for_each_in_order(context, [&](Token token, double probability) {
    if (!(probability > 0)) return false;
    found = {token, probability};
    return --k > 0;
  });
  return k > 0 ? LikelyToken<double>{} : found;
}

}  // namespace speclab
