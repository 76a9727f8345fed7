// Every family of kinds: one line each.
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/catalog/policies/policy_kind.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"

namespace speclab {

/// The families of the section "serving" (serving/study/serving_kinds.hpp).
std::vector<const FamilyBase*> serving_families();

const std::vector<const FamilyBase*>& families() {
  static const std::vector<const FamilyBase*> all = [] {
    std::vector<const FamilyBase*> found{&model_family(), &drafter_family(), &rule_family(), &policy_family(),
                                         &schedule_family()};
    for (const FamilyBase* family : serving_families()) found.push_back(family);
    return found;
  }();
  return all;
}

}  // namespace speclab
