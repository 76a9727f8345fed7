// Server commands are data: server_settings.json. `values_of` gives the values of names in angle brackets. An
// entry applies to the methods that it lists, or to all if it lists none. An entry with "if" applies only if
// the value of that name is not empty; one with "unless", only if it is empty.

#include "serving/advisor/server_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "experiments/base/format/json.hpp"
#include "experiments/base/support/shell_word.hpp"

namespace speclab {

extern const std::string_view server_settings_json;

namespace {

using Texts = std::map<std::string, std::string>;

const Json& settings_table() {
  static const Json parsed = Json::parse(server_settings_json);
  return parsed;
}

std::string filled(std::string_view text, const Texts& values) {
  std::string out;
  for (std::size_t open = text.find('<'); open != std::string_view::npos; open = text.find('<')) {
    const std::size_t close = text.find('>', open);
    out += text.substr(0, open);
    out += values.at(std::string(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

/// Returns a name as a JSON string, which is also a Python string.
std::string quoted(const std::string& name) {
  return Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns the name that a converted model usually gets.
std::string file_of(const std::string& repository) {
  return shell_word(repository.substr(repository.rfind('/') + 1) + ".gguf");
}

/// Returns "" for 0, which a server takes for "do not force".
std::string forced(double accepted) { return accepted == 0 ? "" : fmt::format("{:.4g}", accepted); }

void add_ranges(const ServedPlan& plan, Texts& values) {
  std::vector<std::string> ranges;
  std::vector<std::string> by_last;
  std::vector<std::string> by_first;
  std::vector<std::string> unsaid;
  std::string last_unpaid;
  for (const BatchRange& range : plan.batches) {
    ranges.push_back(fmt::format("[{}, {}, {}]", range.first, range.last, range.gamma));
    if (range.gamma > 0 && !last_unpaid.empty()) unsaid.push_back(last_unpaid);
    last_unpaid = range.gamma > 0 ? "" : std::to_string(range.first);
    if (range.gamma == 0 && range.last > range.first) last_unpaid += fmt::format(" to {}", range.last);
    if (range.gamma > 0) by_last.push_back(fmt::format("{}: {}", range.last, range.gamma));
    by_first.push_back(fmt::format("{}: {}", range.first, range.gamma));
  }
  values["ranges"] = fmt::format("{}", fmt::join(ranges, ", "));
  // For TensorRT-LLM a key is the largest batch of its range, and nothing is drafted beyond the last. In
  // older versions it was the smallest batch, a key 1 with max_draft_len was required, and 0 was off.
  values["by last"] = fmt::format("{}", fmt::join(by_last, ", "));
  if (plan.batches.front().first == 1 && plan.batches.front().gamma == longest_planned_draft(plan))
    values["by first"] = fmt::format("{}", fmt::join(by_first, ", "));
  values["unsaid"] = fmt::format("{}", fmt::join(unsaid, ", "));
}

Texts values_of(const ServedPlan& plan) {
  Texts values{{"target word", shell_word(plan.target)},
               {"draft word", shell_word(plan.draft)},
               {"target name", quoted(plan.target)},
               {"draft name", quoted(plan.draft)},
               {"target file", file_of(plan.target)},
               {"draft file", file_of(plan.draft)},
               {"gamma", std::to_string(plan.gamma)},
               {"longest", std::to_string(longest_planned_draft(plan))},
               {"block", std::to_string(plan.gamma + 1)},
               {"devices", plan.devices > 1 ? std::to_string(plan.devices) : ""},
               {"sequences", plan.max_sequences ? std::to_string(*plan.max_sequences) : ""},
               {"ranges", ""},
               {"by first", ""},
               {"unsaid", ""}};
  if (plan.batches.size() > 1) add_ranges(plan, values);
  if (plan.accepted.empty()) return values;
  const auto first = plan.accepted.begin();
  const double mean = std::accumulate(first, first + plan.gamma, 0.0);
  values["rates"] = fmt::format("{:.4g}", fmt::join(first, first + longest_planned_draft(plan), ", "));
  values["mean"] = forced(mean);
  values["whole mean"] = forced(std::round(mean));
  values["acceptance length"] = fmt::format("{:.4g}", 1 + mean);
  return values;
}

/// Adds the server's command without speculation, and the parts of it that depend on devices and sequences.
void add_plain(const Json& server, Texts& values) {
  const auto part = [&](const char* key, const char* needed) {
    return values[needed].empty() ? "" : filled(server.value(key, ""), values);
  };
  values["parallel"] = part("parallel", "devices");
  values["slots"] = part("slots", "sequences");
  values["plain"] = filled(server.value("plain", ""), values);
}

bool applies(const Json& entry, const std::string& method, const Texts& values) {
  const auto is_empty = [&](const char* key) { return values.at(entry[key].get<std::string>()).empty(); };
  if (entry.contains("methods") &&
      std::find(entry["methods"].begin(), entry["methods"].end(), method) == entry["methods"].end())
    return false;
  return !(entry.contains("if") && is_empty("if")) && !(entry.contains("unless") && !is_empty("unless"));
}

/// Returns a server's lines for one form of a method, with `more` where the form has room.
std::vector<std::string> setting_lines(const Json& server, const std::string& form, const std::string& more,
                                       Texts values) {
  values["more"] = filled(more, values);
  std::vector<std::string> lines;
  std::istringstream templates(form);
  for (std::string line; std::getline(templates, line);) {
    values["form"] = filled(line, values);
    values["form word"] = shell_word(values["form"]);
    lines.push_back(filled(server["line"].get<std::string>(), values));
  }
  return lines;
}

ServerSetting setting_of(const Json& server, const ServedPlan& plan, const std::string& method) {
  const std::string form = server["forms"][method];
  Texts values = values_of(plan);
  add_plain(server, values);
  const std::string ranges = values["ranges"].empty() ? "" : server.value("ranges", "");
  ServerSetting setting{.server = server["server"],
                        .purpose = plan.purpose,
                        .checked = server["checked"],
                        .check = server["check"],
                        .notes = plan.unset};
  if (server.contains("checked for")) setting.checked = server["checked for"].value(method, setting.checked);
  if (plan.gamma == 0 && ranges.empty()) {
    setting.lines = {values["plain"]};
    if (!plan.batches.empty())
      setting.notes.emplace_back("It has no γ by batch, and one γ for all batches does not pay.");
    return setting;
  }
  setting.lines = setting_lines(server, form, ranges, values);
  for (const Json& note : server.value("notes", Json::array())) {
    if (applies(note, method, values))
      setting.notes.push_back(filled(note["text"].get<std::string>(), values));
  }
  const auto with = [&](const Json& entry, const std::string& before) {
    const bool fixed = entry.value("one gamma", false);
    if (fixed && plan.gamma == 0) return values["plain"];
    Texts own = values;
    if (fixed) own["longest"] = own["gamma"];
    own["line"] = setting_lines(server, form, before + entry.value("more", ""), own).front();
    return filled(entry["line"].get<std::string>(), own);
  };
  for (const Json& older : server.value("older", Json::array())) {
    if (applies(older, method, values)) setting.older.push_back({older["versions"], {with(older, "")}});
  }
  // A server cannot simulate acceptance for n-grams, which draft nothing if they find nothing.
  if (plan.accepted.empty() || plan.method == DraftMethod::ngram) return setting;
  for (const Json& synthetic : server.value("synthetic", Json::array())) {
    if (applies(synthetic, method, values))
      setting.synthetic = {with(synthetic, ranges), filled(synthetic["law"].get<std::string>(), values)};
  }
  return setting;
}

}  // namespace

DraftRuns draft_runs(DraftMethod method) {
  // The methods are in the order of the enumeration: those from Medusa on.
  return method >= DraftMethod::medusa ? DraftRuns::a_round : DraftRuns::a_token;
}

std::string word_of(DraftMethod method) {
  return std::string(draft_methods[static_cast<std::size_t>(method)].first);
}

ServedPlan served_plan(const PlannedPair& pair, int gamma) {
  ServedPlan plan;
  plan.method = pair.method;
  plan.gamma = gamma;
  if (!pair.target.empty()) plan.target = pair.target;
  if (!pair.draft.empty()) plan.draft = pair.draft;
  const auto* const target = std::get_if<RooflineCost>(&pair.costs.target);
  if (target == nullptr) return plan;
  plan.devices = target->machine.devices;
  plan.machine = target->machine.device.name;
  const auto* const draft = std::get_if<RooflineCost>(&pair.costs.draft);
  if (draft != nullptr && draft->machine.devices < plan.devices) {
    plan.machine += fmt::format(", the draft on {}", draft->machine.devices);
    plan.unset.push_back(
        fmt::format("The plan runs the draft on {} of the {} devices; these settings do not.",
                    draft->machine.devices, plan.devices));
  }
  for (const std::string& numbers : pair.numbers) {
    plan.machine += ", " + numbers;
    plan.unset.push_back(fmt::format("The plan is for {}, which these settings do not set.", numbers));
  }
  return plan;
}

std::string planned_load(const std::string& choice, std::optional<double> alpha, const ServedPlan& plan,
                         const Operation& at) {
  std::string words = choice + ": computed for";
  if (alpha) words += fmt::format(" α = {:.4g},", *alpha);
  words += fmt::format(" batch {:g}", at.batch);
  if (!plan.machine.empty())
    words += fmt::format(", a context of {:g} tokens, {} × {}", at.context, plan.devices, plan.machine);
  return words;
}

// Servers whose gamma depends on the batch reserve room for this length.
int longest_planned_draft(const ServedPlan& plan) {
  int longest = plan.gamma;
  for (const BatchRange& range : plan.batches) longest = std::max(longest, range.gamma);
  return longest;
}

std::vector<ServerSetting> server_settings(const ServedPlan& plan) {
  const std::string method = word_of(plan.method);
  std::vector<ServerSetting> settings;
  for (const Json& server : settings_table()["servers"]) {
    if (!server["forms"].contains(method) || (plan.max_sequences && !server.contains("slots"))) continue;
    settings.push_back(setting_of(server, plan, method));
  }
  return settings;
}

const std::vector<ServerOption>& server_options() {
  static const std::vector<ServerOption> options = [] {
    std::vector<ServerOption> all;
    for (const Json& page : settings_table()["options"]) {
      for (const Json& name : page["options"])
        all.push_back({page["server"], name, page["version"], page["source"]});
    }
    return all;
  }();
  return options;
}

}  // namespace speclab
