#include "experiments/base/page/page.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "experiments/base/page/cells.hpp"
#include "experiments/base/page/page_text.hpp"

namespace {

using namespace speclab;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Drawing drawing(const std::string& id) {
  Figure figure;
  figure.id = id;
  figure.caption = "Caption of <" + id + ">";
  figure.command = "speclab draw --only " + id;
  figure.series = {{"measured", SeriesStyle::points, {0, 1, 2}, {1, 2, 3}, {0, 1, 2}, {2, 3, 4}, {}}};
  return draw(figure);
}

Table table() {
  return {"t1",
          "Acceptance",
          {"rule", "α"},
          {{{"token", {}, ""}, {"0.75 ± 0.01", 0.75, "good"}}, {{"block", {}, ""}, {"12.5", 12.5, ""}}},
          "99% intervals."};
}

Passage passage() {
  return {"p1",
          "Two rounds",
          {{{"[START] ", SpanKind::prompt},
            {"japan", SpanKind::accepted},
            {" bond", SpanKind::rejected},
            {" n", SpanKind::correction}},
           {{"ikkei", SpanKind::accepted}, {".", SpanKind::bonus}, {" & so on"}}}};
}

Page page() {
  Page result{"A <title> & more", "sub", {{"seed", "<7>"}}, {}};
  Section first{"first",     "First & foremost", "One.\n\nTwo < three.", {table()}, {},
                {passage()}, {"a 'note'"}};
  first.figures = {drawing("fig1"), drawing("fig2")};
  first.headline = "Found <it>.";
  result.sections = {first, {"second", "Second", "", {}, {}, {}, {}}};
  return result;
}

}  // namespace

TEST_CASE("a page holds everything it was given, escaped") {
  const std::string text = html(page());
  CHECK(text.starts_with("<!DOCTYPE html>"));
  for (const char* part :
       {"<title>A &lt;title&gt; &amp; more</title>", "<dt>seed</dt><dd>&lt;7&gt;</dd>",
        "<a href=\"#first\">First &amp; foremost</a>", "<p class=\"headline\">Found &lt;it&gt;.</p>",
        "<p>One.</p>\n<p>Two &lt; three.</p>",
        "<td class=\"good short number\" data-key=\"0.75\">0.75 ± 0.01</td>",
        "<th scope=\"col\" class=\"number\">", "<figure class=\"drawing\" id=\"fig1\">",
        "Caption of &lt;fig1&gt;", "<code>speclab draw --only fig2</code>",
        "<del class=\"rejected\"> bond</del><ins class=\"correction\"> n</ins>",
        "<span class=\"plain\"> &amp; so on</span>", "<li>a &#39;note&#39;</li>"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
  CHECK_FALSE(has(text, "A <title>"));
  CHECK(escape_markup(std::string("a\0<\x1b[2J\nγ\xff", 11)) == "a\\x00&lt;\\x1b[2J\nγ\\xff");
  CHECK(escape_markup(std::string(10'000, '<')).size() == 40'000);
}

TEST_CASE("labels of lines stand apart from their texts, which are unchanged") {
  Page one = page();
  one.sections[0].listing += labelled_line("best γ", plan_label_width, "9 < 10");
  one.sections[0].listing += labelled_line("", plan_label_width, "a note");
  one.sections[0].listing += "A sentence  with two blanks.\n  an indented line\n";
  const std::string blanks(plan_label_width, ' ');
  CHECK(has(html(one), "<pre class=\"listing\"><span>best γ" + blanks.substr(6) + "</span>9 &lt; 10\n<span>" +
                           blanks + "</span>a note\nA sentence  with two blanks.\n  an indented line</pre>"));
}

TEST_CASE("ids are unique on a page with several figures") {
  const std::string text = html(page());
  // Matches the attribute, not the script's use of the word.
  const std::regex attribute("<[a-z][^<>]*\\sid=['\"]([^'\"]*)['\"]", std::regex::icase);
  std::set<std::string> ids;
  std::size_t found = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), attribute); at != std::sregex_iterator();
       ++at) {
    ids.insert((*at)[1]);
    ++found;
  }
  CHECK(found > 8);
  CHECK(ids.size() == found);
  const std::regex reference("(?:href=['\"]#|url\\(#)([^'\")]*)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), reference); at != std::sregex_iterator();
       ++at) {
    CAPTURE((*at)[1].str());
    CHECK(ids.count((*at)[1]) == 1);
  }
}

TEST_CASE("the headline comes first, then figures, then tables, then how it was made") {
  Page whole = page();
  whole.headline = "36 of 40 reproduce";
  whole.citation = "@software{x}";
  const std::string text = html(whole);
  std::size_t at = 0;
  for (const char* part :
       {"36 of 40 reproduce", "<h2>First", "Found &lt;it&gt;.", "<figure class=\"text\" id=\"p1\">",
        "<figure class=\"drawing\" id=\"fig1\">", "<table id=\"t1\"", "How this was made", "@software{x}"}) {
    CAPTURE(part);
    const std::size_t found = text.find(part, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  // If a lone section has the page's title, its headline is the page's.
  Page alone = page();
  alone.sections.pop_back();
  alone.sections[0].title = alone.title;
  const std::string one = html(alone);
  CHECK(one.find("Found &lt;it&gt;.") < one.find("</header>"));
  CHECK_FALSE(has(one, "<h2>A "));
}

TEST_CASE("a page asks for nothing beyond itself") {
  const std::string text = html(page());
  const std::regex name_space("xmlns(:xlink)?=\"http://www\\.w3\\.org/[^\"]*\"");
  const std::string rest = std::regex_replace(text, name_space, "");
  for (const char* part : {"http:", "https:", "src=", "@import", "url(\"", "url('", "fetch("}) {
    CAPTURE(part);
    CHECK_FALSE(has(rest, part));
  }
}

TEST_CASE("a page that contradicts itself is refused") {
  Page twice = page();
  twice.sections[1].id = "fig1";
  CHECK_THROWS_AS(html(twice), std::invalid_argument);
  Page spaced = page();
  spaced.sections[1].id = "a b";
  CHECK_THROWS_AS(html(spaced), std::invalid_argument);
  Page ragged = page();
  ragged.sections[0].tables[0].rows[0].pop_back();
  CHECK_THROWS_AS(html(ragged), std::invalid_argument);
  CHECK_THROWS_AS(terminal(ragged.sections[0].tables[0]), std::invalid_argument);
}

TEST_CASE("keys that sort nowhere or last") {
  Page odd = page();
  const double infinity = std::numeric_limits<double>::infinity();
  odd.sections[0].tables[0].rows = {
      {{"a", infinity, ""}, {"b", std::numeric_limits<double>::quiet_NaN(), ""}},
      {{"-nan", -std::numeric_limits<double>::quiet_NaN(), ""}, {"inf", infinity, ""}},
      {text_cell("inf"), text_cell("nan of a name")}};
  const std::string text = html(odd);
  CHECK(has(text, "<td class=\"number\" data-key=\"Infinity\">a</td><td class=\"number\">b</td>"));
  // C's words for numbers that are not finite are not printed; the same words in a text are.
  CHECK(has(text, "<td class=\"number\">–</td><td class=\"number\" data-key=\"Infinity\">–</td>"));
  CHECK(has(text, "<td>inf</td><td>nan of a name</td>"));
}

TEST_CASE("a table in a terminal is aligned by what is seen") {
  CHECK(terminal(table()) ==
        "Acceptance\n"
        "rule             α\n"
        "─────  ───────────\n"
        "token  0.75 ± 0.01\n"
        "block         12.5\n"
        "99% intervals.\n");
  CHECK(text_width("γ ± α") == 5);
  CHECK(text_width("p\u0302") == 1);
  CHECK(text_width("日本") == 4);
  CHECK(text_width("\xff\xce") == 2);
}

TEST_CASE("a passage in a terminal, with and without colours") {
  CHECK(terminal(passage(), false) ==
        "Two rounds\n"
        "[START] japan[- bond-]{+ n+}\n"
        "ikkei{*.*} & so on\n");
  CHECK(terminal(passage(), true) ==
        "Two rounds\n"
        "\x1b[2m[START] \x1b[0m\x1b[32mjapan\x1b[0m\x1b[31;9m bond\x1b[0m\x1b[34m n\x1b[0m\n"
        "\x1b[32mikkei\x1b[0m\x1b[36m.\x1b[0m & so on\n");
}

TEST_CASE(
    "a folded section shows its verdict and a figure; the rest is in an element that opens without a "
    "script") {
  Page folded = page();
  folded.sections.front().folded = true;
  folded.sections.front().figures = {drawing("fig1"), drawing("fig2"), drawing("fig3")};
  const std::string text = html(folded);
  const std::size_t begin = text.find("<details class=\"rest\">");
  const std::size_t end = text.find("</details>\n</section>", begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  for (const char* open : {"Found &lt;it&gt;.", "id=\"fig1\"", "id=\"fig2\"", "id=\"p1\""})
    CHECK_MESSAGE(text.find(open) < begin, open);
  for (const char* inside : {"id=\"fig3\"", "id=\"t1\"", "<p>One.</p>", "a &#39;note&#39;"}) {
    const std::size_t at = text.find(inside);
    CHECK_MESSAGE((at > begin && at < end), inside);
  }
  CHECK(has(text.substr(begin, 120), "1 more figure"));
}

TEST_CASE("a cell may lead to a section, and a table stand beside a figure") {
  Page linked = page();
  Section& section = linked.sections.front();
  section.beside = true;
  section.tables.front().rows.front().front().section = "second";
  const std::string text = html(linked);
  CHECK(has(text, "<td><a href=\"#second\">token</a></td>"));
  const std::size_t box = text.find("<div class=\"beside\">");
  REQUIRE(box != std::string::npos);
  CHECK(text.find("id=\"fig1\"") > box);
  // Each table appears once.
  CHECK(text.find("id=\"t1\"") > box);
  CHECK(text.find("id=\"t1\"") == text.rfind("id=\"t1\""));
}
