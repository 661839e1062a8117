"""Fifty models are no reason to wait."""

from statistics import median

import attrs

from codegen.model import Schema

from .conftest import Open, document_of, everything

MODELS = 50
# Generous, since other programs may run beside this one; docs/page.md has what a free machine takes.
LOADED_MS = 3_000
PAINTED_MS = 500

# From a change of the filters until the frame that shows it was painted.
_FILTERED = """
async (text) => {
  const search = document.getElementById("search");
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await painted();
  const start = performance.now();
  search.value = text;
  search.dispatchEvent(new Event("input", { bubbles: true }));
  await painted();
  return performance.now() - start;
}
"""
_TURNED = _FILTERED.replace('"search"', '"everything0-at-H"')


def many() -> list[Schema]:
    return [attrs.evolve(everything(), model=f"Everything{n}") for n in range(MODELS)]


def test_fifty_models_open_and_filter_without_a_pause(open_page: Open) -> None:
    """1,500 fields load, filter, show again and are computed anew within a moment."""
    data = document_of(*many())
    windows = [open_page(data) for _ in range(3)]
    opened = windows[-1]
    assert MODELS * len(everything().fields) == len(opened.fields) == 1500
    loaded = [
        one.js("() => performance.getEntriesByType('navigation')[0].loadEventEnd")
        for one in windows
    ]
    filtered = [opened.js(_FILTERED, text) for text in ("frames", "", "once", "7", "")]
    turned = [opened.js(_TURNED, text) for text in ("64", "480", "48")]
    print(f"load {loaded}; filter to paint {filtered}; dial to paint {turned} (ms)")
    # What disturbs one run disturbs few.
    assert min(loaded) < LOADED_MS
    assert median(filtered) < PAINTED_MS
    assert median(turned) < PAINTED_MS
