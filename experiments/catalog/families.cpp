#include "experiments/catalog/families.hpp"

#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"

namespace speclab {

const std::vector<const FamilyBase*>& families() {
  static const std::vector<const FamilyBase*> all{&model_family(), &drafter_family(), &rule_family(),
                                                  &policy_family(), &schedule_family()};
  return all;
}

}  // namespace speclab
