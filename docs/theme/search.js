// The order of search results: with equal matches, the FAQ comes first, and pages for contributors
// come last. The other values are the defaults of Sphinx.
var Scorer = {
  score: ([page, , , , score]) => {
    if (page === "faq") return score + 1;
    return page.startsWith("internals/") ? score - 20 : score;
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
