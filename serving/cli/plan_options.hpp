// Options that several ways of planning share, and functions that read them. Each option is declared once.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "experiments/base/command/verb.hpp"
#include "serving/advisor/cost_options.hpp"
#include "serving/advisor/planning.hpp"
#include "serving/cli/plan_way.hpp"

namespace speclab {

/// Adds --batch.
void add_batch_option(Verb& verb);
/// Adds --max-gamma.
void add_max_gamma_option(Verb& verb, int otherwise);
/// Adds the options for the server's load and equipment: --batch, --context, --memory-share, --method.
void add_server_options(Verb& verb);
/// Adds the options for the gammas and batches to consider: --gamma, --max-gamma, --max-batch.
void add_choice_options(Verb& verb);
/// Adds --confidence where an answer has intervals, --json and --out, in a section of their own.
void add_answer_options(Verb& verb, bool intervals = true);

/// Returns the values of these options. Options that a verb does not declare keep the defaults of
/// PlanSettings.
PlanSettings plan_settings(const Values& values);
double confidence_option(const Values& values);

/// Adds --of-drafted, which says that given rates are accepted / drafted tokens.
void add_rate_option(Verb& verb);
/// Returns the alpha of a rate that is meant as --of-drafted says. Throws UsageError, which begins with
/// `where`, outside 0 to 1.
double alpha_of_rate(const Values& values, double rate, const std::string& where);
/// Returns a sentence that says how alpha follows from the rate, or asks whether the rate is meant as alpha.
std::string rate_note(const Values& values, double rate);
/// Returns the positional option "alpha", a number from 0 to 1, as it was given.
double rate_option(const Values& values);
/// Returns --alpha-spread, a standard deviation. Throws UsageError if rates with any of these means cannot
/// have it.
double spread_option(const Values& values, std::initializer_list<double> alphas);

/// Returns the numbers of a list such as "1,2,4". Throws UsageError, which begins with `where`, for more than
/// `most` numbers, and for a number that `holds` does not accept.
std::vector<double> number_list(const std::string& where, const std::string& text,
                                const std::string& expected, std::size_t most,
                                const std::function<bool(double)>& holds);

/// Returns rank shares such as "0.6,0.2,0.1": how often the target's token is the draft's first, second, ...
/// choice. Throws UsageError, which begins with `where`, if rank_share_problem finds one.
std::vector<double> rank_shares_of(const std::string& text, const std::string& where);

/// Returns the plan for one drafter, with its warnings.
PlanAnswer answer_of_drafter(const Drafter& drafter, const PlanSettings& settings);

}  // namespace speclab
