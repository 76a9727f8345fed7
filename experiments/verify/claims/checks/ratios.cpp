// Checks of arithmetic on printed numbers: ratios, changes and means.
#include <stdexcept>

#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

namespace {

struct Parts {
  PrintedNumber of, to;
};
struct Change {
  PrintedNumber from, to;
};
struct Less {
  PrintedNumber from;
  std::vector<PrintedNumber> less;
};
struct Values {
  std::vector<PrintedNumber> values;
};
struct Changes {
  std::vector<PrintedNumber> from, to;
};
struct SumOver {
  std::vector<PrintedNumber> of;
  PrintedNumber to;
};

std::vector<Field> part_fields() {
  return {input("of", &Parts::of, "What is divided."), input("to", &Parts::to, "What divides.")};
}

std::vector<Field> change_fields() {
  return {input("from", &Change::from, "The number before, or of the reference."),
          input("to", &Change::to, "The number after.")};
}

}  // namespace

std::vector<ClaimCheck> ratio_checks() {
  return {
      claim_check<Parts>("ratio", "One number over another: speedups, shares, gains as factors.",
                         part_fields(), "of / to", [](const Parts& in) { return in.of / in.to; }),
      claim_check<Change>("percent_change", "Change from one number to another, in percent.", change_fields(),
                          "100 (to / from - 1)",
                          [](const Change& in) { return 100 * (in.to / in.from - 1); }),
      claim_check<Change>("percent_saved",
                          "Saving of the smaller number relative to the larger one, in percent.",
                          change_fields(), "100 (1 - to / from)",
                          [](const Change& in) { return 100 * (1 - in.to / in.from); }),
      claim_check<Parts>("percent_of", "One number as a share of another, in percent.", part_fields(),
                         "100 of / to", [](const Parts& in) { return 100 * in.of / in.to; }),
      claim_check<Less>("difference", "A number minus several others.",
                        {input("from", &Less::from, "The number before."),
                         input("less", &Less::less, "What is subtracted.")},
                        "from - sum(less)", [](const Less& in) { return in.from - sum_of(in.less); }),
      claim_check<Values>("mean", "The mean of numbers.", {input("values", &Values::values, "The numbers.")},
                          "mean(values)", [](const Values& in) { return mean_of(in.values); }),
      claim_check<Changes>("mean_gain", "Change of a mean over the same benchmarks, in percent.",
                           {input("from", &Changes::from, "The numbers of the reference."),
                            input("to", &Changes::to, "The numbers after, in the same order.")},
                           "100 (mean(to) / mean(from) - 1)",
                           [](const Changes& in) {
                             if (in.from.size() != in.to.size()) {
                               throw std::invalid_argument("\"from\" and \"to\" differ in length");
                             }
                             return 100 * (mean_of(in.to) / mean_of(in.from) - 1);
                           }),
      claim_check<SumOver>(
          "sum_over", "A sum over a number: the time of a round's parts over its tokens.",
          {input("of", &SumOver::of, "What is added."), input("to", &SumOver::to, "Divisor of the sum.")},
          "sum(of) / to", [](const SumOver& in) { return sum_of(in.of) / in.to; }),
  };
}

}  // namespace speclab
