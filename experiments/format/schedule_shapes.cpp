// The schedules of drafting and verification that a config can name, with their parameters.
#include "experiments/format/fields.hpp"

namespace speclab {

namespace {

Field own_gamma() { return integer("gamma", "Drafted tokens; without it the config's.", 0, 64); }

Field own_c() { return number("c", "Time of a draft run; without it the config's cost.", 0, 1000); }

/// A row of the table may have a name of the user's.
Shape schedule_shape(std::string kind, std::string doc, std::vector<Field> fields) {
  fields.push_back(text("label", "Name of the row."));
  return {std::move(kind), std::move(doc), std::move(fields)};
}

const Shape& level_shape() {
  static const Shape shape{
      "level",
      "One draft model of a hierarchy.",
      {required(integer("gamma", "Fewest tokens it drafts before the model above looks.", 1, 64)),
       required(number("c", "Time of one run of it, in target runs.", 0, 1000)),
       number("alpha",
              "Acceptance by the model above, as independent coins; the first level's is the "
              "experiment's own.",
              0, 1)}};
  return shape;
}

}  // namespace

const Family& schedule_family() {
  static const Field level{.name = "", .type = FieldType::object, .doc = "A level.", .shape = &level_shape()};
  static const Family family{
      "schedule",
      {schedule_shape("plain", "One token a target run.", {}),
       schedule_shape("speculative", "Rounds of gamma drafts and a target run: Theorem 3.8.",
                      {own_gamma(), own_c()}),
       schedule_shape("oracle", "Drafts exactly what will be accepted, up to a limit.",
                      {integer("most", "The limit.", 1, 1000, 64),
                       boolean("charged", "Whether drafts take time.", true), own_c()}),
       schedule_shape("heads",
                      "gamma independent heads, for c a round, at the same acceptance (real heads accept "
                      "less).",
                      {own_gamma(), own_c()}),
       schedule_shape("hierarchical", "A draft that is itself decoded speculatively, to any depth.",
                      {required(list("levels", "The models from the one that drafts for the target down.",
                                     level, 1, 4))}),
       schedule_shape("dsi",
                      "Distributed speculative inference: the draft never waits, target servers work side by "
                      "side.",
                      {integer("servers", "Servers of the target; 0: as many as are asked for.", 0, 1000, 0),
                       integer("lookahead", "Drafts between two verifications.", 1, 64, 1), own_c()}),
       schedule_shape("pearl", "PEARL: drafting and verification in lockstep, at the same time.",
                      {own_gamma(), own_c(),
                       boolean("next_row",
                               "Use the target's last row of a step for the first of the next drafts, as the "
                               "authors' program does.",
                               true)}),
       schedule_shape("two_functions",
                      "g(f(x)) with f's output speculated while f computes; a position is a call.",
                      {positive(number("t_f", "Time of f.", 0, 1000, 1.0)),
                       positive(number("t_g", "Time of g.", 0, 1000, 1.0)),
                       number("t_q", "Time of the stand-in for f.", 0, 1000, 0.1),
                       boolean("interrupts", "A useless g is stopped when f is done.", false)}),
       schedule_shape("batched", "Sequences decoded in lockstep, against plain decoding of the same batch.",
                      {integer("sequences", "How many at a time.", 1, 1024, 8), own_gamma(), own_c(),
                       integer("goal", "Tokens of a sequence.", 1, 10000, 64),
                       boolean("replaced", "The next sequence takes a finished one's place at once.", true),
                       positive(number("saturation",
                                       "Tokens at which a target run stops being bound by memory: it takes "
                                       "max(1, tokens / saturation).",
                                       0, 1e9, 64.0))})}};
  return family;
}

}  // namespace speclab
