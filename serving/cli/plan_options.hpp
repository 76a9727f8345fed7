// Options that ways of planning share, each declared once, and what they say.
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

/// --batch.
void add_batch_option(Verb& verb);
/// --max-gamma.
void add_max_gamma_option(Verb& verb, int otherwise);
/// Where a server works, and what it serves with: --batch, --context, --memory-share, --method.
void add_server_options(Verb& verb);
/// Which gammas and batches are considered, besides: --gamma, --max-gamma, --max-batch.
void add_choice_options(Verb& verb);
/// --confidence, --json, --out.
void add_answer_options(Verb& verb);

/// What these options say; those that a verb does not declare stay as PlanSettings has them.
PlanSettings plan_settings(const Values& values);
double confidence_option(const Values& values);

/// --of-drafted: the rates that somebody gives are accepted / drafted tokens.
void add_rate_option(Verb& verb);
/// alpha of a rate that is meant as this option says. UsageError, which begins with `where`, outside 0 to 1.
double alpha_of_rate(const Values& values, double rate, const std::string& where);
/// How alpha follows from the given rate, or the question whether it is meant so.
std::string rate_note(const Values& values, double rate);
/// The positional option "alpha", as it was given: 0 to 1.
double rate_option(const Values& values);
/// --alpha-spread, a standard deviation that rates with each of these means can have.
double spread_option(const Values& values, std::initializer_list<double> alphas);

/// The numbers of "1,2,4", at most so many, each of which `holds`. UsageError, which begins with `where`,
/// otherwise.
std::vector<double> number_list(const std::string& where, const std::string& text,
                                const std::string& expected, std::size_t most,
                                const std::function<bool(double)>& holds);

/// "0.6,0.2,0.1": how often the target's token is the draft's first, second, ... choice. UsageError, which
/// begins with `where`, unless rank_share_problem finds none.
std::vector<double> rank_shares_of(const std::string& text, const std::string& where);

/// The plan of one drafter, with its warnings.
PlanAnswer answer_of_drafter(const Drafter& drafter, const PlanSettings& settings);

}  // namespace speclab
