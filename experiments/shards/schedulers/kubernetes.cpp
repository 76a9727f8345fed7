// Shards as an indexed Job of Kubernetes, to be printed.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "experiments/shards/scheduler.hpp"

namespace speclab {

namespace {

/// Letters, digits and "-", as names of Kubernetes are.
std::string object_name(const Submission& submission) {
  std::string name = "speclab-" + submission.folder.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  });
  return name.substr(0, 50);
}

std::string print_kubernetes(const Submission& submission) {
  Submission in_container = submission;
  in_container.command[0] = "speclab";
  // Indices begin at 0.
  std::string line = shell_line(shard_words(in_container, "$((JOB_COMPLETION_INDEX + 1))"));
  std::string resources;
  if (submission.threads > 0) resources += fmt::format("cpu: \"{}\"", submission.threads);
  if (!submission.memory.empty())
    resources += fmt::format("{}memory: \"{}\"", resources.empty() ? "" : ", ", submission.memory);
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
          command: ["sh", "-c", 'exec {}']
          resources: {{requests: {{{}}}}}
          volumeMounts: [{{name: work, mountPath: /work}}]
      volumes:
        - name: work
          persistentVolumeClaim: {{claimName: CLAIM}}
)",
      object_name(submission), submission.shards,
      submission.at_once > 0 ? submission.at_once : submission.shards, line, resources);
}

}  // namespace

SchedulerEntry kubernetes_scheduler() {
  return {"kubernetes", "an indexed Job, to be printed", print_kubernetes, nullptr};
}

}  // namespace speclab
