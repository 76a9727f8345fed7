// Options that several plan verbs share, each declared once, and functions that read them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"
#include "serving/advisor/cost_options.hpp"
#include "serving/advisor/planning.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

void add_batch_option(Verb& verb);
void add_max_gamma_option(Verb& verb, int otherwise);
/// Adds options for the gammas and batches to try: --max-gamma, --max-batch.
void add_choice_options(Verb& verb);
/// Adds options for the printed settings of servers: --server, --model-name, --benchmark-settings.
void add_setting_options(Verb& verb);
/// Adds --confidence, --json and --out, in a section of their own.
void add_answer_options(Verb& verb);
/// Adds the last sections of a plan for one drafter: costs with load and device (--batch, --context,
/// --memory-share, --method), settings, and the answer's options.
void add_costs_and_answer(Verb& verb);

/// Adds --model, --fields and --drafted, which describe a log.
void add_log_options(Verb& verb);
/// Returns the options that describe a log, --since among them.
LogOptions log_options(const Values& values);

/// Returns these options' values; undeclared options keep the defaults of PlanSettings.
PlanSettings plan_settings(const Values& values);
double confidence_option(const Values& values);

/// Adds --of-drafted, which declares given rates to be accepted / drafted.
void add_rate_option(Verb& verb);
/// Returns alpha for a given rate, which is alpha itself without --of-drafted. Throws UsageError outside 0
/// to 1.
double alpha_of_rate(const Values& values, double rate, const std::string& where);
/// Returns a sentence that says how alpha follows from the rate, or asks whether the rate is alpha.
std::string rate_note(const Values& values, double rate);
/// Returns the positional option "alpha", from 0 to 1, as given.
double rate_option(const Values& values);

/// Returns the numbers of a list such as "1,2,4". Throws UsageError, beginning with `where`, for more than
/// `most` numbers, and for one for which `holds` is false.
std::vector<double> number_list(const std::string& where, const std::string& text,
                                const std::string& expected, std::size_t most,
                                const std::function<bool(double)>& holds);

/// Returns the plan for one drafter, with warnings.
PlanAnswer answer_of_drafter(const Values& values, const Drafter& drafter, const PlanSettings& settings);

}  // namespace speclab
