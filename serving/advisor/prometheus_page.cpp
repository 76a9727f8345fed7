#include "serving/advisor/prometheus_page.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace speclab {

namespace {

/// A sample's name and labels, which occur once on a page.
using SampleKey = std::pair<std::string, std::map<std::string, std::string>>;

/// Reads name{label="value",...} value. In values of labels \\, \" and \n are escapes.
PrometheusSample sample_of(const TextLine& line) {
  const std::string& text = line.text;
  PrometheusSample sample;
  sample.line = line;
  std::size_t at = text.find_first_of("{ \t");
  sample.name = text.substr(0, at);
  if (at != std::string::npos && text[at] == '{') {
    for (++at; at < text.size() && text[at] != '}';) {
      const auto equals = text.find("=\"", at);
      if (equals == std::string::npos)
        refuse_line(line, "\"{}\" is not name{{label=\"value\"}} value", brief(text));
      std::string& value = sample.labels[trimmed(text.substr(at, equals - at))];
      for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && ++at == text.size()) break;
        value += text[at];
      }
      at = text.find_first_not_of(", \t", at + 1);
    }
    if (at < text.size()) ++at;
  }
  // A timestamp may follow the value.
  if (at < text.size()) {
    const std::string rest = trimmed(text.substr(at));
    sample.value = rest.substr(0, rest.find_first_of(" \t"));
  }
  constexpr std::string_view total = "_total";
  if (sample.name.ends_with(total)) sample.name.resize(sample.name.size() - total.size());
  return sample;
}

std::vector<PrometheusSample> samples_in(const std::vector<TextLine>& lines, std::string_view prefix) {
  std::vector<PrometheusSample> samples;
  std::map<SampleKey, std::string> seen;
  for (const TextLine& line : lines) {
    if (line.text[0] == '#' || !line.text.starts_with(prefix)) continue;
    samples.push_back(sample_of(line));
    const auto [first, fresh] = seen.try_emplace({samples.back().name, samples.back().labels}, line.where);
    if (!fresh)
      refuse_line(
          line,
          "{} came before, at {}: two pages of the same counters count the same rounds; keep the later one, and give the earlier as --since",
          samples.back().name, first->second);
  }
  return samples;
}

}  // namespace

std::string PrometheusSample::label(const char* key) const {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string() : found->second;
}

std::uint64_t counter_of(const PrometheusSample& sample) {
  const auto count = as_count(number_in(sample.value));
  if (!count) refuse_line(sample.line, "\"{}\" is not a count from 0 to {}", brief(sample.value), max_count);
  return *count;
}

std::vector<PrometheusSample> prometheus_samples(const LogSource& source, std::string_view prefix,
                                                 const std::vector<std::string>& gauges,
                                                 std::string_view setting) {
  std::vector<PrometheusSample> samples = samples_in(source.lines(), prefix);
  const LogOptions& options = source.options();
  if (options.earlier_file.empty()) return samples;
  const auto counts = [&](const PrometheusSample& sample) {
    return std::find(gauges.begin(), gauges.end(), sample.name) == gauges.end();
  };
  constexpr const char* other_server =
      "the pages are of two servers, or of one that was started again; without --since all counts of the later page are read";
  const std::vector<TextLine> earlier_lines = lines_of(options.earlier, options.earlier_file);
  constexpr const char* start = "process_start_time_seconds";
  const std::vector<PrometheusSample> starts = samples_in(source.lines(), start);
  for (const PrometheusSample& then : samples_in(earlier_lines, start)) {
    for (const PrometheusSample& now : starts) {
      if (now.labels == then.labels && now.value != then.value)
        refuse_line(now.line, "{} was {} in {}, and is {}: {}", start, then.value, then.line.where, now.value,
                    other_server);
    }
  }
  std::map<SampleKey, PrometheusSample> before;
  for (PrometheusSample& sample : samples_in(earlier_lines, prefix)) {
    if (counts(sample)) before.insert_or_assign({sample.name, sample.labels}, std::move(sample));
  }
  for (PrometheusSample& sample : samples) {
    if (!counts(sample)) continue;
    const auto found = before.extract({sample.name, sample.labels});
    if (found.empty())
      refuse_line(sample.line, "{} has no such {}: {}", options.earlier_file, sample.name, other_server);
    const PrometheusSample& then = found.mapped();
    // Counters are created when a server starts, and settings stay until it ends.
    if (sample.name.ends_with("_created") || sample.name == setting) {
      if (sample.value == then.value) continue;
      refuse_line(sample.line, "{} was {} in {}, and is {}: {}", sample.name, then.value, then.line.where,
                  sample.value, other_server);
    }
    const auto now = number_in(sample.value);
    const auto earlier = number_in(then.value);
    if (!now || !earlier) continue;
    if (*now < *earlier) {
      refuse_line(
          sample.line,
          "{} fell from {} in {} to {}: the server was started again between the pages, or they are in the wrong order",
          sample.name, then.value, then.line.where, sample.value);
    }
    sample.value = fmt::format("{}", *now - *earlier);
  }
  if (!before.empty()) {
    const PrometheusSample& gone = before.begin()->second;
    refuse_line(gone.line, "{} is not in {}: {}", gone.name, source.name(), other_server);
  }
  return samples;
}

bool has_sample(const LogSource& source, std::string_view name) {
  return std::any_of(source.lines().begin(), source.lines().end(), [name](const TextLine& line) {
    // A page begins with comments, which also name the metrics.
    return line.text.starts_with(name) ||
           (line.text.starts_with("# ") && line.text.find(name) != std::string::npos);
  });
}

}  // namespace speclab
