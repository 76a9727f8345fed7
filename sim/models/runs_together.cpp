#include "sim/models/runs_together.hpp"

#ifdef SPECLAB_HAS_LLAMA
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cassert>
#include <exception>
#include <utility>
#include <vector>
#else
#include "sim/error.hpp"
#endif

namespace speclab {

#ifdef SPECLAB_HAS_LLAMA

namespace {

using boost::context::fiber;

/// Stack bytes for rounds and rows; the models run on the thread's own stack.
constexpr std::size_t stack_bytes = std::size_t{256} << 10U;

struct DecodedText {
  fiber position;  ///< continuation; empty while the text runs and after it ended
  RunsTogether* wanted_of = nullptr;
  TextRun wanted;
};

struct Together {
  std::vector<DecodedText> texts;
  std::size_t running = 0;
  fiber scheduler;
  std::exception_ptr error;
};

thread_local Together* here = nullptr;

/// Makes the runs that all texts wait for.
void make_runs(Together& all) {
  std::vector<TextRun> runs;
  for (const DecodedText& first : all.texts) {
    RunsTogether* const model = first.wanted_of;
    if (model == nullptr) continue;
    runs.clear();
    for (DecodedText& text : all.texts) {
      if (text.wanted_of != model) continue;
      runs.push_back(text.wanted);
      text.wanted_of = nullptr;
    }
    model->run_together(runs, all.texts.size());
  }
}

void go_on(Together& all, std::size_t text) {
  all.running = text;
  here = &all;
  all.texts[text].position = std::move(all.texts[text].position).resume();
  here = nullptr;
}

}  // namespace

TogetherPlace together_place() {
  return here == nullptr ? TogetherPlace() : TogetherPlace{here->running, here->texts.size()};
}

void wait_for_run(RunsTogether& model, std::span<const Token> tokens, std::size_t first) {
  assert(here != nullptr);
  Together& all = *here;
  DecodedText& own = all.texts[all.running];
  own.wanted = {all.running, tokens, first};
  own.wanted_of = &model;
  all.scheduler = std::move(all.scheduler).resume();
}

void let_others_go_on() {
  if (here != nullptr) here->scheduler = std::move(here->scheduler).resume();
}

void decode_together(std::size_t texts, const std::function<void(std::size_t text)>& decode) {
  assert(here == nullptr);
  Together all;
  all.texts.resize(texts);
  for (std::size_t text = 0; text < texts; ++text) {
    all.texts[text].position =
        fiber(std::allocator_arg, boost::context::protected_fixedsize_stack(stack_bytes),
              [&, text](fiber&& scheduler) {
                all.scheduler = std::move(scheduler);
                try {
                  decode(text);
                } catch (const boost::context::detail::forced_unwind&) {
                  throw;  // the exception of another text ends all
                } catch (...) {
                  all.error = std::current_exception();
                }
                return std::move(all.scheduler);
              });
  }
  for (bool open = true; open;) {
    open = false;
    for (std::size_t text = 0; text < texts; ++text) {
      if (!all.texts[text].position) continue;
      go_on(all, text);
      if (all.error) std::rethrow_exception(all.error);
      open = open || static_cast<bool>(all.texts[text].position);
    }
    make_runs(all);
  }
}

#else

TogetherPlace together_place() { return {}; }
void wait_for_run(RunsTogether&, std::span<const Token>, std::size_t) {}
void let_others_go_on() {}
void decode_together(std::size_t, const std::function<void(std::size_t)>&) {
  throw ModelError("only neural models decode texts together, and they need libllama");
}

#endif

}  // namespace speclab
