#include "sim/fast/prepared_pair.hpp"

#include <algorithm>

#include "core/stop.hpp"
#include "sim/parallel.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

double PreparedPair::bytes_for(const TableModel& target, const TableModel& draft) {
  const auto contexts = static_cast<double>(std::max(target.contexts(), draft.contexts()));
  const auto slots =
      static_cast<double>(std::size_t{1} << alias_bits(static_cast<std::size_t>(target.vocab())));
  return contexts * (slot_parts * slots * sizeof(SamplingSlot) + sizeof(std::uint64_t));
}

PreparedPair::PreparedPair(const TableModel& target, const TableModel& draft, const AnyRule& rule)
    : target_(&target),
      draft_(&draft),
      order_(std::max(target.order(), draft.order())),
      bits_(alias_bits(static_cast<std::size_t>(target.vocab()))),
      overlap_(std::max(target.contexts(), draft.contexts())) {
  slots_.resize((slot_parts * overlap_.size()) << bits_);
  for_each_piece(contexts(), 64, [&](std::size_t first, std::size_t last) {
    SlotScratch scratch;
    PositionWeights weights;
    const std::size_t slots = std::size_t{1} << bits_;
    end_if_stopped();
    for (std::size_t at = first; at < last; ++at) {
      const Row p = target_row(at);
      const Row q = draft_row(at);
      rule->position_weights(p, q, weights);
      for (const SlotPart part : {drafting_part, replacing_part, bonus_part})
        fill_slot_part(part, weights, q, {&slots_[(part * contexts() + at) << bits_], slots}, scratch);
      overlap_[at] = ContextSum::quanta_of(rule->context_acceptance(p, q));
    }
  });
}

PreparedPairView PreparedPair::view() const {
  const auto vocab_size = static_cast<std::uint32_t>(vocab());
  return {.slots = slots_.data(),
          .overlap = overlap_.data(),
          .target = target_->row(0).probabilities,
          .draft = draft_->row(0).probabilities,
          .contexts = contexts(),
          .target_contexts = static_cast<std::uint32_t>(target_->contexts()),
          .draft_contexts = static_cast<std::uint32_t>(draft_->contexts()),
          .vocab = vocab_size,
          .suffix_contexts = static_cast<std::uint32_t>(contexts() / vocab_size),
          .bits = bits_};
}

std::size_t PreparedPair::bytes() const {
  return slots_.size() * sizeof(SamplingSlot) + overlap_.size() * sizeof(std::uint64_t);
}

}  // namespace speclab
