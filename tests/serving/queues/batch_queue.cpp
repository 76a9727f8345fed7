#include "tests/serving/queues/batch_queue.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace speclab {

namespace {

/// The outcome of a step that starts in one state.
struct Step {
  double ms = 0;
  double cost = 0;               ///< integral of the number of requests in the system
  std::vector<double> decoding;  ///< P[this many requests decode in the next state]
  std::vector<double> waiting;   ///< P[this many requests wait in the next state]
  double lost = 0;               ///< mean number of rejected arrivals
};

std::vector<double> binomial(std::uint32_t n, double p) {
  std::vector<double> law{1};
  for (std::uint32_t i = 0; i < n; ++i) {
    law.push_back(0);
    for (std::size_t k = law.size(); k-- > 0;) law[k] = law[k] * (1 - p) + (k > 0 ? law[k - 1] * p : 0);
  }
  return law;
}

class Queue {
 public:
  explicit Queue(const BatchQueue& queue) : queue_(queue) {
    for (std::uint32_t gamma = 0; gamma <= queue.max_gamma; ++gamma) goes_on_.push_back(goes_on(gamma));
  }

  std::size_t states() const { return std::size_t{queue_.batch + 1} * (queue_.max_waiting + 1); }
  std::size_t index(std::uint32_t decoding, std::uint32_t waiting) const {
    return std::size_t{decoding} * (queue_.max_waiting + 1) + waiting;
  }

  Step step(std::uint32_t decoding, std::uint32_t waiting, std::uint32_t gamma) const {
    Step out;
    if (decoding + waiting == 0) {
      out.ms = 1 / queue_.arrivals_per_ms;
      out.decoding = {1};
      out.waiting = {0, 1};
      return out;
    }
    const std::uint32_t admitted = std::min(queue_.batch - decoding, waiting);
    StepWork work;
    work.decoding = decoding;
    work.verified = decoding * (gamma + 1.0);
    work.prefilling = admitted;
    work.prefilled = static_cast<double>(admitted) * queue_.prompt;
    work.drafts = decoding > 0 ? gamma : 0;
    out.ms = queue_.time(work);
    const double arrivals = queue_.arrivals_per_ms * out.ms;
    out.cost = (decoding + waiting) * out.ms + arrivals * out.ms / 2;

    const auto old = binomial(decoding, goes_on_[gamma]);
    const auto fresh = binomial(admitted, 1 - 1 / queue_.mean_output);
    out.decoding.assign(old.size() + fresh.size() - 1, 0);
    for (std::size_t i = 0; i < old.size(); ++i) {
      for (std::size_t j = 0; j < fresh.size(); ++j) out.decoding[i + j] += old[i] * fresh[j];
    }
    // Arrivals beyond `max_waiting` are rejected.
    const std::uint32_t left = waiting - admitted;
    out.waiting.assign(queue_.max_waiting + 1, 0);
    double probability = std::exp(-arrivals);
    double below = 0;
    double mean_below = 0;
    for (std::uint32_t k = 0; left + k < queue_.max_waiting; ++k) {
      out.waiting[left + k] = probability;
      below += probability;
      mean_below += k * probability;
      probability *= arrivals / (k + 1);
    }
    out.waiting[queue_.max_waiting] = std::max(0.0, 1 - below);
    out.lost = std::max(0.0, arrivals - mean_below - (queue_.max_waiting - left) * (1 - below));
    return out;
  }

 private:
  /// Returns P[a decoding request is not complete after its round]: each token is the last with probability 1
  /// / mean.
  double goes_on(std::uint32_t gamma) const {
    const double on = 1 - 1 / queue_.mean_output;
    double sum = 0;
    double reached = 1;
    double power = on;
    for (std::uint32_t k = 0; k <= gamma; ++k) {
      const double next = k < gamma && k < queue_.survival.size() ? queue_.survival[k] : 0;
      sum += (reached - next) * power;
      reached = next;
      power *= on;
    }
    return sum;
  }

  const BatchQueue& queue_;
  std::vector<double> goes_on_;
};

/// The gain (mean cost per millisecond) and the relative values of a table.
struct Values {
  double gain = 0;
  Eigen::VectorXd value;
};

Values values_of(const BatchQueue& queue, const Queue& model, const GammaByState& gamma) {
  // h(s) + g ms(s) - sum P(s, t) h(t) = cost(s), with h(0) = 0: its column holds g.
  const auto n = static_cast<Eigen::Index>(model.states());
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd cost(n);
  for (std::uint32_t decoding = 0; decoding <= queue.batch; ++decoding) {
    for (std::uint32_t waiting = 0; waiting <= queue.max_waiting; ++waiting) {
      const auto row = static_cast<Eigen::Index>(model.index(decoding, waiting));
      const Step step = model.step(decoding, waiting, gamma[decoding][waiting]);
      system(row, row) += 1;
      for (std::uint32_t i = 0; i < step.decoding.size(); ++i) {
        for (std::uint32_t j = 0; j < step.waiting.size(); ++j)
          system(row, static_cast<Eigen::Index>(model.index(i, j))) -= step.decoding[i] * step.waiting[j];
      }
      cost(row) = step.cost;
      system(row, 0) = step.ms;
    }
  }
  const Eigen::VectorXd solved = system.partialPivLu().solve(cost);
  Values out{solved(0), solved};
  out.value(0) = 0;
  return out;
}

}  // namespace

GammaByState constant_gamma(const BatchQueue& queue, std::uint32_t gamma) {
  return GammaByState(queue.batch + 1, std::vector<std::uint32_t>(queue.max_waiting + 1, gamma));
}

QueueSolution evaluate(const BatchQueue& queue, const GammaByState& gamma) {
  const Queue model(queue);
  const auto n = static_cast<Eigen::Index>(model.states());
  // pi (P - I) = 0 with the last equation replaced by sum pi = 1.
  Eigen::MatrixXd transposed = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd ms(n);
  Eigen::VectorXd cost(n);
  Eigen::VectorXd lost(n);
  for (std::uint32_t decoding = 0; decoding <= queue.batch; ++decoding) {
    for (std::uint32_t waiting = 0; waiting <= queue.max_waiting; ++waiting) {
      const auto at = static_cast<Eigen::Index>(model.index(decoding, waiting));
      const Step step = model.step(decoding, waiting, gamma[decoding][waiting]);
      for (std::uint32_t i = 0; i < step.decoding.size(); ++i) {
        for (std::uint32_t j = 0; j < step.waiting.size(); ++j)
          transposed(static_cast<Eigen::Index>(model.index(i, j)), at) += step.decoding[i] * step.waiting[j];
      }
      transposed(at, at) -= 1;
      ms(at) = step.ms;
      cost(at) = step.cost;
      lost(at) = step.lost;
    }
  }
  transposed.row(n - 1).setOnes();
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  right(n - 1) = 1;
  const Eigen::VectorXd share = transposed.partialPivLu().solve(right);

  QueueSolution out{.gamma = gamma};
  const double time = share.dot(ms);
  const double arrivals = queue.arrivals_per_ms * time;
  out.in_system = share.dot(cost) / time;
  out.turned_away = share.dot(lost) / arrivals;
  out.latency_ms = out.in_system / (queue.arrivals_per_ms * (1 - out.turned_away));
  out.utilisation = 1 - share(0) * ms(0) / time;
  return out;
}

QueueSolution min_latency(const BatchQueue& queue) {
  const Queue model(queue);
  GammaByState gamma = constant_gamma(queue, 0);
  // Each iteration improves the gain or ends the loop; the number of tables is finite.
  for (bool changed = true; changed;) {
    const Values values = values_of(queue, model, gamma);
    changed = false;
    for (std::uint32_t decoding = 1; decoding <= queue.batch; ++decoding) {
      for (std::uint32_t waiting = 0; waiting <= queue.max_waiting; ++waiting) {
        const auto worth = [&](std::uint32_t choice) {
          const Step step = model.step(decoding, waiting, choice);
          double sum = step.cost - values.gain * step.ms;
          for (std::uint32_t i = 0; i < step.decoding.size(); ++i) {
            for (std::uint32_t j = 0; j < step.waiting.size(); ++j)
              sum += step.decoding[i] * step.waiting[j] *
                     values.value(static_cast<Eigen::Index>(model.index(i, j)));
          }
          return sum;
        };
        std::uint32_t& chosen = gamma[decoding][waiting];
        double best = worth(chosen);
        for (std::uint32_t choice = 0; choice <= queue.max_gamma; ++choice) {
          const double other = worth(choice);
          if (other < best - 1e-9 * std::abs(best)) {
            best = other;
            chosen = choice;
            changed = true;
          }
        }
      }
    }
  }
  return evaluate(queue, gamma);
}

}  // namespace speclab
