// A gamma policy: short and long rounds in turn.
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

class AlternatingPolicy {
 public:
  struct Memory {
    bool longer = false;
  };
  AlternatingPolicy(std::int32_t less, std::int32_t more) : less_(less), more_(more) {}

  std::int32_t most() const { return more_; }
  bool goes_on(const Memory& memory, std::int32_t drafted, const LastDrafted<double>&) const {
    return drafted < (memory.longer ? more_ : less_);
  }
  void learn(Memory& memory, const Round&) const { memory.longer = !memory.longer; }

 private:
  std::int32_t less_;
  std::int32_t more_;
};

struct Parameters {
  std::int32_t less = 1;
  std::int32_t more = 4;
};

}  // namespace

PolicyKind alternating_policy() {
  return kind_entry<PolicyKind, Parameters>(
      "alternating", "Short and long rounds in turn.",
      {integer_field("less", &Parameters::less, 0, 64, "Tokens of a short round."),
       integer_field("more", &Parameters::more, 1, 64, "Tokens of a long round.")},
      [](const Parameters& own, const std::string&, const PolicyRequest&) {
        return AlternatingPolicy(own.less, own.more);
      });
}

}  // namespace speclab
