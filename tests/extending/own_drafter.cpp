// A drafter: proposes the context's last token again.
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "sim/drafters/point_rows.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

class RepeatDrafter {
 public:
  struct Memory {};
  explicit RepeatDrafter(std::int32_t vocab) : rows_(vocab) {}

  void read(Memory&, std::span<const Token>) const {}
  Row propose(Memory&, std::span<const Token> context, std::int32_t, std::vector<double>&) const {
    return context.empty() ? Row{nullptr, 0} : rows_[context.back()];
  }
  std::int32_t runs(std::int32_t) const { return 1; }

 private:
  PointRows rows_;
};

struct Parameters {};

}  // namespace

DrafterKind repeat_drafter() {
  return kind_entry<DrafterKind, Parameters>(
      "repeat", "The context's last token, again. One run a round.", {},
      [](const Parameters&, const std::string&, const DrafterRequest& request) {
        return MadeDrafter{RepeatDrafter(request.text.vocabulary.size())};
      });
}

}  // namespace speclab
