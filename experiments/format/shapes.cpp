// The config format. One entry per key: type, range, default, and the sentence that `schema` and `list`
// print.
#include "experiments/format/fields.hpp"
#include "sim/models/cached_model.hpp"
#include "sim/models/translation_model.hpp"

namespace speclab {

namespace {

constexpr double max_vocab = 1 << 20;

const Shape& sampling_shape() {
  static const Shape shape{
      "sampling",
      "Sampling options, applied to each row as an adjusted distribution (Leviathan et al. 2023, section "
      "2.2).",
      {number("temperature", "Masses are raised to 1/temperature; 0 is argmax.", 0, 100, 1.0),
       integer("top_k", "Keep the k largest masses; 0 keeps all.", 0, max_vocab, 0),
       positive(number("top_p", "Keep the smallest set of largest masses that reaches this.", 0, 1, 1.0))}};
  return shape;
}

Shape model_shape(std::string kind, std::string doc, std::vector<Field> fields) {
  fields.push_back(
      object("sampling", "Sampling options of this model; without it the config's own.", sampling_shape()));
  return {std::move(kind), std::move(doc), std::move(fields)};
}

Field optional_vocab() {
  return integer("vocab", "Vocabulary size; a draft may leave it out and takes the target's.", 1, max_vocab);
}

/// What is compared when a config does not say.
Json usual_schedules() {
  Json all = Json::array();
  for (const char* kind :
       {"plain", "speculative", "oracle", "heads", "dsi", "pearl", "two_functions", "batched"}) {
    all.push_back({{"kind", kind}});
  }
  return all;
}

Field corpus_half() {
  return choice("part", "Which part of the corpus to train on; halves make draft and target independent.",
                {"all", "first_half", "second_half"}, "all");
}

}  // namespace

const Shape* Family::find(const std::string& kind) const {
  for (const Shape& shape : kinds) {
    if (shape.name == kind) return &shape;
  }
  return nullptr;
}

std::vector<std::string> Family::names() const {
  std::vector<std::string> all;
  for (const Shape& shape : kinds) all.push_back(shape.name);
  return all;
}

const Family& model_family() {
  static const Field probability = number("", "A mass.", 0, 1e300);
  static const Field row = list("", "One row.", probability, 1, max_vocab);
  static Family family{"model", {}};
  if (!family.kinds.empty()) return family;
  const CacheOptions cache;
  const TranslationOptions translation;
  const Field base{.name = "base",
                   .type = FieldType::base,
                   .doc = "The model to mix with: \"target\", or a model.",
                   .fallback = "target",
                   .family = &family};
  family.kinds = {
      model_shape(
          "table", "Stored rows: one row (i.i.d.), or vocab^n rows for the contexts of n tokens.",
          {list("rows", "The rows; each is normalised.", row, 1, max_vocab),
           text("file", "A .csv (one row a line) or .json (array of rows) file instead of \"rows\".")}),
      model_shape("zipf", "I.i.d. tokens with mass proportional to 1/rank^exponent.",
                  {optional_vocab(), number("exponent", "Zipf exponent.", 0, 20, 1.0),
                   boolean("reversed", "Count ranks from the last id.", false)}),
      model_shape("dirichlet", "I.i.d. tokens; the row is drawn from a symmetric Dirichlet law.",
                  {optional_vocab(), positive(number("concentration", "Smaller is spikier.", 0, 1e6, 1.0)),
                   integer("seed", "Seed of the row itself.", 0, 9e15, 1)}),
      model_shape("uniform", "Every token equally likely; as a draft, the paper's random drafter.",
                  {optional_vocab()}),
      model_shape("random", "The same as uniform, under its name as a drafter.", {optional_vocab()}),
      model_shape("point", "Always the same token.",
                  {optional_vocab(), integer("token", "Its id.", 0, max_vocab, 0)}),
      model_shape("markov", "Order-1 chain whose rows are drawn from a symmetric Dirichlet law.",
                  {required(integer("vocab", "Vocabulary size; vocab^2 masses are stored.", 1, 8192)),
                   positive(number("concentration", "Smaller is spikier.", 0, 1e6, 0.3)),
                   integer("seed", "Seed of the rows.", 0, 9e15, 1)}),
      model_shape("ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.",
                  {required(integer("order", "Tokens in the longest n-gram.", 1, 5)), corpus_half()}),
      model_shape("unigram", "The n-gram of order 1.", {corpus_half()}),
      model_shape("bigram", "The n-gram of order 2.", {corpus_half()}),
      model_shape("arpa", "An n-gram model read from an ARPA file (KenLM, SRILM, or speclab's own).",
                  {required(text("file", "Path of the file."))}),
      model_shape("sphinx",
                  "An n-gram model read from a binary file of CMU Sphinx, such as data/en-us.lm.bin.",
                  {required(text("file", "Path of the file.")),
                   integer("order", "Longer n-grams than this are left out.", 1, 5, 5)}),
      model_shape(
          "cached",
          "Another model with a cache and a pointer: (1-u)*base + u*pointer, u growing with the length m of "
          "the longest earlier match of the context's end.",
          {required(kind_of("base", "The model.", family)),
           number("weight", "Of u = weight * m / (m + half_match).", 0, 0.999, cache.weight),
           number("half_match", "Of the same.", 0, 64, cache.half_match),
           number("unigram_weight", "u without a match: of the frequencies of the context's tokens.", 0,
                  0.999, cache.unigram_weight),
           positive(number("smoothing", "Of longer matches by shorter ones, in occurrences.", 0, 1e6,
                           cache.smoothing)),
           integer("max_match", "Longest match looked for.", 1, 64, cache.max_match),
           integer("window", "Tokens at the context's end that are looked at.", 2, 1e6, cache.window)}),
      model_shape(
          "translation",
          "N-gram of translations, lifted towards words that translate the source (IBM Model 1); contexts "
          "are "
          "source words, \"<sep>\", words of the translation. Needs a corpus with a \"translation\".",
          {integer("order", "Of the n-gram.", 1, 5, 3),
           number("lift", "Exponent of the lift; 0 is the n-gram alone.", 0, 16, translation.lift),
           positive(number("smoothing", "Of the lexicon by frequencies.", 0, 1, translation.smoothing)),
           number("coverage", "How much less a source word counts for each word that translated it.", 0, 1000,
                  translation.coverage)}),
      model_shape("copy", "Point mass on what followed the longest earlier match of the context's end.",
                  {optional_vocab(), integer("max_match", "Longest suffix looked for.", 1, 64, 8),
                   integer("min_match", "Shortest suffix that counts.", 1, 64, 1)}),
      model_shape(
          "mixture",
          "(1-epsilon)*base + epsilon*other; \"alpha\" instead of \"epsilon\" sets the overlap with "
          "the base exactly, in every context of stored rows.",
          {base, required(kind_of("other", "The model mixed in.", family)),
           number("epsilon", "Weight of \"other\".", 0, 1), number("alpha", "Overlap with the base.", 0, 1)}),
  };
  return family;
}

const Family& experiment_family() {
  static const Family family{
      "experiment",
      {{"decode", "Speculative decoding over many rounds: alpha, tokens per round, speed, operations.", {}},
       {"iid",
        "The same with independent coins of probability \"alpha\" and no models: for very large grids.",
        {}},
       {"acceptance", "Alpha as in section 4.2: mean overlap along text that the target generates.", {}},
       {"predict", "Closed forms only, from \"alpha\", \"gamma\" and \"cost\".", {}},
       {"optimal_gamma",
        "Simulates every gamma up to \"search/max_gamma\" and compares the best with the formula's.",
        {}},
       {"trace", "Single rounds, drawn: generated text by fate, and a timeline for each gamma.", {}},
       {"walltime", "Real time of a slowed target, against Theorem 3.8 at the measured c.", {}},
       {"verifiers",
        "Decoding that judges its rule: first acceptance beside the optimum, distance to the target, regret.",
        {}},
       {"beam",
        "Speculative beam search (A.4) beside plain beam search: the same beams, fewer target runs.",
        {}},
       {"schedules",
        "Schedules of drafting and verification on a virtual clock, over the same acceptances, beside their "
        "closed forms.",
        {}},
       {"calibration", "Repeats the tests of `speclab check`: p-values under the null, power curves.", {}},
       {"compare",
        "Drafters x gamma policies x tasks on held-out text: alpha, tokens per round, speed.",
        {}}}};
  return family;
}

const Shape& config_shape() {
  static const Shape corpus{
      "corpus",
      "Text that n-gram models are trained on.",
      {required(text("file", "Path of a text file, relative to the working directory.")),
       choice("units", "What a token is.", {"bytes", "words", "pieces"}, "words"),
       integer("vocabulary", "Most tokens (words: the rest become <unk>; pieces: SentencePiece size).", 2,
               max_vocab, 8000),
       integer(
           "hold_out",
           "Every so-manieth document is held out, and models are trained on the others; 0 holds out none.",
           0, 1e9, 0),
       integer("document_tokens", "Documents are stretches of so many tokens; 0: they end at form feeds.", 0,
               1e9, 0),
       text("translation",
            "A text whose line i translates line i of \"file\": a document is a line, a separator and its "
            "translation, and n-grams are trained on translations.",
            "")}};
  static const Shape models{
      "models",
      "Target and draft.",
      {required(kind_of("target", "The model whose law the output must have.", model_family())),
       required(kind_of("draft", "The model that proposes.", model_family()))}};
  static const Shape cost{"cost",
                          "Cost of one draft run, in target runs.",
                          {number("c", "Time (Definition 3.7).", 0, 1000, 0.0),
                           number("c_hat", "Arithmetic operations (Definition 3.10).", 0, 1000, 0.0)}};
  static const Shape plan{
      "plan",
      "How much to simulate.",
      {integer("trials", "Independent sequences.", 1, 4294967295.0, 64),
       integer("length", "Rounds in each (tokens, for acceptance).", 1, 4294967295.0, 2000),
       integer("batches", "Stretches for batch-means intervals.", 2, 4096, 64),
       {.name = "prompt",
        .type = FieldType::prompt,
        .doc = "Context before the first token: text (with a corpus) or a list of ids.",
        .fallback = Json::array()},
       integer("prompt_tokens",
               "Instead of one prompt: this many tokens of the corpus, at a random place for each "
               "trial.",
               0, 100000, 0)}};
  static const Shape check{
      "check",
      "The test of `speclab check`: the law of the first tokens, speculative against plain.",
      {integer("tokens", "Tokens whose joint law is compared.", 1, 64, 3),
       integer("samples", "Sequences from each decoder.", 100, 5e7, 200000),
       positive(number("level", "Chance of a false alarm.", 0, 0.5, 1e-6)),
       positive(number("power", "Power at which the detectable effect is stated.", 0, 0.999999, 0.99))}};
  static const Shape search{"search",
                            "For optimal_gamma and `speclab exact`.",
                            {integer("max_gamma", "Largest gamma tried.", 1, 64, 16)}};
  static const Field gamma = integer("", "A gamma; 0 is plain decoding.", 0, 64);
  static const Shape trace{"trace",
                           "For trace.",
                           {integer("tokens", "Tokens to generate.", 1, 100000, 40),
                            list("gammas", "One timeline each.", gamma, 1, 16, Json::array({5})),
                            boolean("text", "Show the generated text, coloured by what happened.", true),
                            boolean("timeline", "Draw the timelines.", true)}};
  static const Shape walltime{
      "walltime",
      "For walltime: the work added to each run.",
      {integer("target_weights", "Multiply-adds per target run.", 0, 1e9, 2000000),
       integer("draft_weights", "Multiply-adds per draft run.", 0, 1e9, 40000),
       integer("tokens", "Tokens per repeat.", 1, 1e7, 500),
       integer("repeats", "Repeats, plain and speculative alternating.", 1, 1000, 4)}};
  static const Shape verifiers{
      "verifiers",
      "For verifiers.",
      {boolean("witness",
               "Beside a proved distance of 0 to the target, run the test of `speclab check` (section "
               "\"check\").",
               false)}};
  static const Shape beam{
      "beam",
      "For beam: one search a trial, from its prompt.",
      {integer("width", "Sequences the target keeps.", 1, 256, 4),
       integer("draft_width", "Sequences the draft keeps, at least as many.", 1, 1024, 16),
       integer("length", "Steps, one token for every sequence.", 1, 100000, 32),
       choice("acceptance", "When a step is accepted; the other one is a planted fault.",
              {"contained", "fault_best_contained"}, "contained")}};
  static const Field schedule{kind_of("", "A schedule.", schedule_family())};
  static const Shape schedules{
      "schedules",
      "For schedules: over independent coins of probability \"alpha\", or the acceptances of \"models\".",
      {list("compare", "One row each.", schedule, 1, 64, usual_schedules()),
       integer("trace_tokens", "Draw the runs of so many plain tokens' time; 0: none.", 0, 1000, 0)}};
  static const Field sample_size{integer("", "Sequences in each test.", 10, 1e6)};
  static const Field fault{kind_of("", "A verifier that is not lossless.", verifier_family())};
  static const Shape calibration{
      "calibration",
      "For calibration: the check's tests, repeated on small samples.",
      {integer("tokens", "Tokens whose law is tested.", 1, 16, 2),
       choice("against", "What stands for the target's law.", {"exact_law", "second_sample"}, "exact_law"),
       integer("repeats", "Tests under the null.", 20, 1e6, 10000),
       integer("samples", "Sequences in each of them.", 10, 1e6, 1000),
       list("faults", "Verifiers to be found out; a power curve each.", fault, 0, 16, Json::array()),
       integer("power_repeats", "Tests at each point of a power curve.", 20, 1e6, 400),
       list("power_samples", "Sequences in each of these tests: the points of the curves.", sample_size, 1,
            64, Json::array({25, 50, 100, 200, 400, 800, 1600, 3200})),
       positive(number("level", "Level of the power curves.", 0, 0.5, 0.05))}};
  static const Field any_value{.name = "", .type = FieldType::text, .doc = "A value as printed."};
  static const Field set_value{.name = "", .type = FieldType::any, .doc = "Any value for that path."};
  static const Shape one_case{
      "case",
      "One row of a table: what to set, and what the paper prints.",
      {text("label", "Name of the row.", ""), map("set", "Values by JSON path.", set_value, Json::object()),
       map("printed", "Printed values by metric, as strings so that their digits count.", any_value,
           Json::object()),
       map("measured", "Printed measurements by name, shown beside but not judged.", any_value,
           Json::object()),
       text("note", "Remark.", "")}};
  static const Field a_case{.name = "", .type = FieldType::object, .doc = "A case.", .shape = &one_case};
  static const Field metric{.name = "", .type = FieldType::text, .doc = "A metric."};
  static const Shape figure{
      "figure",
      "A figure of a sweep: formula as lines, simulation as points with intervals.",
      {required(text("title", "Title.")), required(text("x", "JSON path on the horizontal axis.")),
       required(text("y", "Metric on the vertical axis.")),
       text("series", "JSON path that tells curves apart.", ""),
       choice("style", "Curves, or a heat map of x against series.", {"curves", "heat_map"}, "curves"),
       text("x_label", "Axis label.", ""), text("y_label", "Axis label.", ""),
       text("series_label", "Legend label.", ""), boolean("log_x", "Logarithmic axis.", false),
       boolean("log_y", "Logarithmic axis.", false),
       boolean("log_z", "Logarithmic colours of a heat map.", false)}};
  static const Field a_figure{.name = "", .type = FieldType::object, .doc = "A figure.", .shape = &figure};
  static const Shape rounding{"input_rounding",
                              "Half a unit of the last printed digit of the inputs.",
                              {number("alpha", "Of alpha.", 0, 0.1, 0.0), number("c", "Of c.", 0, 0.1, 0.0)}};
  static const Shape shape{
      "config",
      "A speclab experiment.",
      {required(text("title", "What is shown.")),
       text("about", "A paragraph for the report.", ""),
       text("source", "Where the numbers come from.", ""),
       choice("experiment", "What to do.", experiment_family().names(), "decode"),
       integer("seed", "Seed of every random number.", 0, 9e15, 1),
       object("corpus", "Training text.", corpus),
       object("models", "Target and draft.", models),
       object("sampling", "Sampling options of both models.", sampling_shape(), Json::object()),
       kind_of("verifier", "How drafted tokens are verified.", verifier_family(), Json{{"kind", "token"}}),
       choice(
           "engine",
           "How decode and optimal_gamma draw tokens: \"plain\" reads whole rows; \"quick\" looks up a few "
           "masses, whatever the vocabulary (token and lenient verification of stored rows or n-grams); "
           "\"auto\" takes the faster one.",
           {"auto", "plain", "quick"}, "auto"),
       number("alpha", "Acceptance rate, for predict, iid and schedules.", 0, 1),
       integer("gamma", "Drafted tokens per round.", 0, 64, 5),
       object("cost", "Virtual cost.", cost, Json::object()),
       object("plan", "How much.", plan, Json::object()),
       positive(number("confidence", "Of every interval.", 0, 0.9999999, 0.95)),
       boolean("simultaneous",
               "Widen intervals so that the confidence holds for all of this config's together.", false),
       object("check", "For `speclab check`.", check),
       object("search", "For optimal_gamma and `speclab exact`.", search),
       object("trace", "For trace.", trace),
       object("walltime", "For walltime.", walltime),
       object("verifiers", "For verifiers.", verifiers),
       object("beam", "For beam.", beam),
       object("calibration", "For calibration.", calibration),
       object("compare", "For compare.", compare_shape(corpus)),
       object("schedules", "For schedules.", schedules),
       list("cases", "Explicit rows.", a_case, 1, 100000),
       map("sweep", "Values by JSON path: a list, or {\"from\", \"to\", \"step\"}.", set_value),
       list("metrics", "Metrics in the table.", metric, 1, 32),
       object("input_rounding", "For comparing with printed values.", rounding),
       list("figures", "Figures of a sweep.", a_figure, 0, 16)}};
  return shape;
}

}  // namespace speclab
