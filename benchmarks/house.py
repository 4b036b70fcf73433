"""What does the source look like: size of modules and functions, imports, classes, private names, complexity, repetition?

All numbers are read from the text of `src`; nothing is imported or run. Before is another checkout, whose `src`
SEMASCOPE_BASELINE names; after is this one. Empty modules do not count. Lines of a module are all its lines; lines of a
function are those from `def` to its end without the docstring. An importer is a module that imports another at any time, for
type checkers too; the longest chain is of imports that happen with their module, cycles are of these and of those in functions.
Estimators are the public classes that are scikit-learn's estimators; they and their bases that are semascope's count as own
classes. A private access is the use of a name with an underscore that another folder or module at the top of the package
defines, where the receiver is seen to be of a class there, or else no nearer place defines the name. Complexity is McCabe's as
radon counts it, C is above 10. Repeated code is pairs of places with at least 6 equal lines of code; blank lines, comments,
docstrings, imports and lone punctuation are passed over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import harness
from benchmarks import house_metrics as metrics
from benchmarks.hostile_cost import AFTER, BEFORE, ROOT, VARIABLE
from benchmarks.house_tree import Package

HOUSE_OPENINGS = ("Return", "Compute", "Fit", "Infer", "Validate", "Read", "Write")
OTHER_OPENINGS = ("Give", "Tell", "Say", "See", "Take", "What")
MAX_OWN_CLASSES, MAX_OWN_CLASSES_OF_LABELS = 3, 4
MAX_SHOWN = 15
"""Places that are printed of each kind; all are in the result."""


def run(quick: bool) -> dict[str, Any]:
    """Measure this tree, and the baseline where there is one; the quick form is the same."""
    sources = {AFTER: ROOT / "src"}
    if os.environ.get(VARIABLE):
        sources[BEFORE] = Path(os.environ[VARIABLE])
    trees = {name: measure(source) for name, source in sources.items()}
    return {"trees": trees, "goals": _goals(trees[AFTER])}


def measure(source: Path) -> dict[str, Any]:
    """Return the numbers of a ``src`` folder, and the places that they count."""
    package = Package.read(source)
    functions, own = metrics.lines_of_functions(package), metrics.own_classes(package)
    opened = metrics.openings(package)
    places = {
        "modules with one importer": metrics.with_one_importer(package),
        "longest import chain": metrics.longest_chain(package),
        "import cycles": [" ".join(one) for one in metrics.cycles(package)],
        "kernels imported by explorer and cli": metrics.kernels_imported(package),
        "overrides that the type checker ignores": metrics.overrides(package),
        "private accesses across packages": metrics.private_accesses(package),
        f"functions over {metrics.MAX_LINES} lines": [f"{where}, {n} lines" for n, where in functions if n > metrics.MAX_LINES],
        "functions of complexity C or worse": [f"{where}, {n}" for n, where in metrics.complex_functions(package)],
        "repeated code, pairs of places": [f"{one} = {other}, {n} lines" for one, other, n in metrics.repeated(package)],
    }
    return {
        "modules": spread(metrics.lines_of_modules(package)),
        "functions": spread([n for n, _ in functions]),
        "own classes": own,
        "places": places,
        "openings": {word: opened[word] for word in (*HOUSE_OPENINGS, *OTHER_OPENINGS)} | {"all": opened.total()},
    }


def spread(values: Sequence[int]) -> dict[str, float]:
    """Return how many numbers there are, their median, ninth decile and maximum."""
    ordered = sorted(values)
    return {"n": len(ordered), "median": median(ordered), "p90": ordered[int(0.9 * len(ordered))], "max": ordered[-1]}


def _goals(tree: dict[str, Any]) -> list[dict[str, Any]]:
    own, places = tree["own classes"], tree["places"]
    most = {labels: max((len(of) for name, of in own.items() if ("Label" in name) == labels), default=0) for labels in (0, 1)}
    zero = ("import cycles", "kernels imported by explorer and cli", "private accesses across packages")
    return [
        harness.goal("own classes of estimators", most[0], at_most=MAX_OWN_CLASSES),
        harness.goal("own classes of estimators with labels", most[1], at_most=MAX_OWN_CLASSES_OF_LABELS),
        *(harness.goal(what, len(places[what]), at_most=0) for what in zero),
    ]


def show(result: dict[str, Any]) -> None:
    """Print a table of all numbers, and the places of some in this tree."""
    trees = result["trees"]
    rows = [(what, *(of(tree) for tree in trees.values())) for what, of in _numbers(trees)]
    harness.show("The house", ("number", *trees), rows)
    names = sorted({name for tree in trees.values() for name in tree["own classes"]})
    rows = [(name, *(len(tree["own classes"].get(name, ())) for tree in trees.values())) for name in names]
    harness.show("Own classes in the MRO", ("estimator", *trees), rows)
    rows = [(word, *(tree["openings"][word] for tree in trees.values())) for word in trees[AFTER]["openings"]]
    harness.show("Docstrings that open with", ("word", *trees), rows)
    for what, places in trees[AFTER]["places"].items():
        more = f"\n  and {len(places) - MAX_SHOWN} more" if len(places) > MAX_SHOWN else ""
        if places and what != "modules with one importer":
            harness.console.print(f"{what}:\n  " + "\n  ".join(places[:MAX_SHOWN]) + more, markup=False, highlight=False)
    harness.show_goals(result["goals"])
    if BEFORE not in trees:
        harness.console.print(f"No baseline was given: set {VARIABLE} to the src of another checkout to see what has changed.")


def _numbers(trees: dict[str, Any]) -> list[tuple[str, Callable[[dict[str, Any]], str]]]:
    """Return what each row of the table says of a tree."""

    def lines(tree: dict[str, Any], of: str) -> str:
        return "{median:g} / {p90:g} / {max:g}".format(**tree[of])

    return [
        ("modules", lambda tree: f"{tree['modules']['n']:,}"),
        ("lines of modules: median / p90 / max", lambda tree: lines(tree, "modules")),
        ("functions", lambda tree: f"{tree['functions']['n']:,}"),
        ("lines of functions: median / p90 / max", lambda tree: lines(tree, "functions")),
        ("most own classes in an MRO", lambda tree: str(max(map(len, tree["own classes"].values()), default=0))),
        *((what, lambda tree, what=what: f"{len(tree['places'][what]):,}") for what in trees[AFTER]["places"]),
    ]


if __name__ == "__main__":
    harness.alone("house", run, show)
