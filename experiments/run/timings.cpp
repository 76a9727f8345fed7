#include "experiments/run/timings.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(DeviceTimings, "device", name, compute_capability, driver, runtime);

Typed<Timings> timings_type(const TypePtr& own) {
  std::vector<Field> fields;
  if (own != nullptr) {
    for (Field field : own->object()->fields()) {
      const auto at = field.at;
      field.at = [at](void* timings) -> void* {
        void* const measured = static_cast<Timings*>(timings)->own.address().get();
        return measured == nullptr ? nullptr : at(measured);
      };
      field.create = [own, at](void* timings) -> void* {
        AnyStruct& measured = static_cast<Timings*>(timings)->own;
        if (!measured) measured = own->object()->make();
        return at(measured.address().get());
      };
      fields.push_back(std::move(field));
    }
  }
  for (Field& field : result_fields<Timings>({{"device", &Timings::device},
                                              {"seconds", &Timings::seconds},
                                              {"threads", &Timings::threads},
                                              {"machine", &Timings::machine},
                                              {"version", &Timings::version},
                                              {"command", &Timings::command}}))
    fields.push_back(std::move(field));
  return object<Timings>("timings", "", std::move(fields));
}

}  // namespace speclab
