// Ranks the site's search results: guides before pages of source folders, and pages whose title has the words of the query before others.
var Scorer = {
  score: ([page, title, , , score]) => {
    const words = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase().split(/\s+/);
    const titled = words.every((word) => title.split(" > ")[0].toLowerCase().includes(word));
    return score + (page.startsWith("docs/") ? 5 : 0) + (titled ? 20 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
