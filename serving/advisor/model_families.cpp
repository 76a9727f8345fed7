// Families are data: model_families.json. Defaults are those of Hugging Face Transformers.

#include "serving/advisor/model_families.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>

namespace speclab {

extern const std::string_view model_families_json;

namespace {

ModelFamily family_in(const Json& entry) {
  // In the order of LayerForm.
  static const std::vector<std::string> forms{"usual",     "windowed",   "gated",        "two_sizes",
                                              "two_kinds", "shared_key", "single_blocks"};
  const auto form = std::find(forms.begin(), forms.end(), entry.value("form", "usual"));
  ModelFamily family{.name = entry["name"],
                     .types = entry["types"],
                     .gated = {},
                     .tied = entry.value("tied", false),
                     .full_every = entry.value("full_every", 0),
                     .form = static_cast<LayerForm>(form - forms.begin()),
                     .witnesses = entry["witnesses"]};
  if (entry.contains("gated")) family.gated = entry["gated"].get<bool>();
  return family;
}

/// Returns the form of a name that a model type and its architecture share, such as "deepseekv4".
std::string bare_name(std::string name) {
  for (const char* end : {"ForCausalLM", "ForConditionalGeneration", "LMHeadModel"})
    boost::erase_last(name, end);
  boost::erase_all(name, "_");
  return boost::to_lower_copy(name);
}

}  // namespace

const std::vector<ModelFamily>& model_families() {
  static const std::vector<ModelFamily> all = [] {
    std::vector<ModelFamily> families;
    for (const Json& entry : Json::parse(model_families_json)) families.push_back(family_in(entry));
    return families;
  }();
  return all;
}

const ModelFamily* family_of(const ModelKeys& outer, const ModelKeys& keys) {
  const std::string type = keys.text("model_type");
  const std::string architecture =
      bare_name(keys.has("architectures") ? keys.architecture() : outer.architecture());
  const auto has = [&](const auto& is_named) {
    const auto found = std::ranges::find_if(
        model_families(), [&](const ModelFamily& one) { return std::ranges::any_of(one.types, is_named); });
    return found == model_families().end() ? nullptr : &*found;
  };
  if (const auto* const found = has([&](std::string_view one) { return one == type; })) return found;
  return architecture.empty()
             ? nullptr
             : has([&](std::string_view one) { return bare_name(std::string(one)) == architecture; });
}

}  // namespace speclab
