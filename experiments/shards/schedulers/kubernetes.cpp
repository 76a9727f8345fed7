// Shards as an indexed Job of Kubernetes, to be printed.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "experiments/shards/scheduler.hpp"
#include "experiments/support/printable.hpp"

namespace speclab {

namespace {

/// At most 50 letters, digits and "-", with a letter or digit at both ends, as names of Kubernetes are.
std::string object_name(const Submission& submission) {
  std::string name = "speclab-" + submission.folder.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  });
  name.resize(std::min<std::size_t>(name.size(), 50));
  name.erase(name.find_last_not_of('-') + 1);
  return name;
}

/// A scalar in double quotes, as YAML and JSON read it. Of what is not shown `text` holds newlines alone.
std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  return out + '"';
}

/// Kubernetes replaces $(NAME) in a command, and $$ by $.
std::string with_doubled_dollars(std::string line) {
  for (std::size_t at = line.find('$'); at != std::string::npos; at = line.find('$', at + 2))
    line.insert(at, "$");
  return line;
}

std::string print_kubernetes(const Submission& submission) {
  Submission in_container = submission;
  in_container.command[0] = "speclab";
  // Indices begin at 0.
  const std::string line =
      with_doubled_dollars("exec " + shard_line(in_container, "$((JOB_COMPLETION_INDEX + 1))"));
  std::string resources;
  if (submission.threads > 0) resources += fmt::format("cpu: \"{}\"", submission.threads);
  if (!submission.memory.empty())
    resources += fmt::format("{}memory: {}", resources.empty() ? "" : ", ",
                             yaml_text(printable_line(submission.memory)));
  return fmt::format(
      R"(# Put in: image, an image with speclab; claim, a volume that all nodes can write (ReadWriteMany), which holds
# the config and the folder of the results.
apiVersion: batch/v1
kind: Job
metadata:
  name: {}
spec:
  completionMode: Indexed
  completions: {}
  parallelism: {}
  backoffLimitPerIndex: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: shard
          image: IMAGE
          workingDir: /work
          command: ["sh", "-c", {}]
          resources: {{requests: {{{}}}}}
          volumeMounts: [{{name: work, mountPath: /work}}]
      volumes:
        - name: work
          persistentVolumeClaim: {{claimName: CLAIM}}
)",
      object_name(submission), submission.shards,
      submission.at_once > 0 ? submission.at_once : submission.shards, yaml_text(line), resources);
}

}  // namespace

SchedulerEntry kubernetes_scheduler() {
  return {"kubernetes", "an indexed Job, to be printed", print_kubernetes, nullptr};
}

}  // namespace speclab
