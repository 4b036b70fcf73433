"""Assemble REPORT.md from the results that are stored: `python -m benchmarks report`.

Ratios come first, then where we are not ahead, then a section for each benchmark: how it was measured (what the script says of
itself), its tables (what it prints) and a figure. Nothing is written by hand, and nothing is left out: what was not run, or
failed, is listed, and what belongs to another machine or other sources than the rest is marked.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import catalogue, harness, report_figures
from benchmarks.claims import Claim
from benchmarks.data import VARIABLE
from benchmarks.markdown import duration, number, table
from benchmarks.report_sections import Section, form_of, marked, section_of

HERE = Path(__file__).parent
FIGURES = "report"


def assemble(results: Path = harness.RESULTS, home: Path = HERE) -> Path:
    """Write REPORT.md and its figures into a directory."""
    records = {name: _read(results / f"{name}.json") for name in catalogue.TITLES}
    sections = marked([section_of(name, record) for name, record in records.items()])
    compared = {one.title: one.claims for one in sections if one.claims}
    (home / FIGURES).mkdir(exist_ok=True)
    for old in (home / FIGURES).glob("*.png"):
        old.unlink()
    if compared:
        report_figures.overview(compared, home / FIGURES / "overview.png")
    parts = [*_head(sections), *_summary(sections), *_not_ahead(sections), *_not_run(sections)]
    for section in sections:
        if section.result:
            parts += _section(section, results, home)
    path = home / "REPORT.md"
    path.write_text(_without_paths("\n\n".join([*parts, *_facts(sections)])) + "\n")
    return path


def _without_paths(text: str) -> str:
    """Errors may name files of this machine: only where they lie in the project, or among the data, is of interest."""
    data = os.environ.get(VARIABLE)
    return (text.replace(data, f"${VARIABLE}") if data else text).replace(f"{HERE.parent}/", "")


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text()) if path.exists() else None


# --- the beginning -----------------------------------------------------------------------------------------------------------


def _head(sections: Sequence[Section]) -> list[str]:
    run = [one for one in sections if one.result]
    quick = sum(form_of(one) == "quick" for one in run)
    forms = f"{len(run)} benchmarks" + (f", {quick} of them in the quick form: small collections, few repeats" if quick else "")
    return [
        "# Benchmarks",
        f"Everything here was measured by the scripts of this folder and written by `make bench`: {forms}. Others' packages "
        "run side by side with ours, on the same data, with as many threads. **Ratios say how many times better we are**: "
        "faster, smaller, or nearer to the truth; below one the other is. Compare ratios, not seconds.",
        f"Each section names its command, and begins with what its script says of itself. Collections lie where `{VARIABLE}` "
        "says; what could not be run for want of them, or for another reason, is listed.",
    ]


def _summary(sections: Sequence[Section]) -> list[str]:
    """Give the range of ratios beside each of the others; all of them are in the sections."""
    rows = []
    for one in sections:
        for peer in dict.fromkeys(claim.peer for claim in one.claims):
            claims = [claim for claim in one.claims if claim.peer == peer]
            speed, rest = ([claim for claim in claims if claim.is_speed == kind] for kind in (True, False))
            behind = sum(claim.standing != "ahead" for claim in claims)
            said = f"{behind} of {len(claims)}" if behind else ""
            rows.append((_range(speed), _range(rest), one.title + _apart(one), _with_version(one, peer), said))
    if not rows:
        return ["## Ratios", "No comparison was run."]
    columns = ("speed", "quality or size", "comparison", "beside", "even or behind in")
    figure = f"![All ratios, a line for each comparison]({FIGURES}/overview.png)"
    return ["## Ratios", table(columns, rows), _signs(sections), figure]


def _range(claims: Sequence[Claim]) -> str:
    claims = [claim for claim in claims if claim.standing != "unclear"]
    if not claims:
        return ""
    least, largest = min(claims, key=lambda claim: claim.ratio), max(claims, key=lambda claim: claim.ratio)
    disturbed = "\\*" if any(claim.others > harness.DISTURBED for claim in claims) else ""
    said = [_ratio(least)] if len(claims) == 1 else [_ratio(least), _ratio(largest)]
    return " to ".join(dict.fromkeys(said)) + disturbed


def _ratio(claim: Claim) -> str:
    return "∞" if math.isinf(claim.ratio) else number(claim.ratio)


def _apart(section: Section) -> str:
    return " †" if section.marks else ""


def _with_version(section: Section, peer: str) -> str:
    peers = section.record.get("peers", {}) if section.record else {}
    return f"{peer} {peers.get(peer, '')}".strip()


COLUMNS = ("ratio", "comparison", "of", "ours", "theirs", "theirs is", "over repeats")


def _row(section: Section, claim: Claim) -> tuple[str, ...]:
    standing = "" if claim.standing == "ahead" else f" ({claim.standing})"
    disturbed = "\\*" if claim.others > harness.DISTURBED else ""
    return (
        _ratio(claim) + standing + disturbed,
        section.title + _apart(section),
        claim.what,
        f"{number(claim.ours)} {claim.unit}",
        f"{number(claim.theirs)} {claim.unit}",
        _with_version(section, claim.peer),
        "{:.2f} to {:.2f}".format(*claim.spread) if claim.spread else "",
    )


def _signs(sections: Sequence[Section]) -> str:
    said = ["Even is what differs by less than half a percent, or what repeats do not agree about."]
    if any(claim.standing == "unclear" for one in sections for claim in one.claims):
        said.append("Unclear are differences of times that noise made negative.")
    if any(claim.others > harness.DISTURBED for one in sections for claim in one.claims):
        said.append(f"\\*: other processes used more than {harness.DISTURBED} cores meanwhile, so that the time tells little.")
    if any(one.marks and one.claims for one in sections):
        said.append("†: not from the same sources, machine or form as most; its section says what.")
    return " ".join(said)


def _not_ahead(sections: Sequence[Section]) -> list[str]:
    claims = [(one, claim) for one in sections for claim in one.claims if claim.standing != "ahead"]
    goals = [(one, goal) for one in sections for goal in one.goals if goal["met"] == "NO"]
    parts = ["## Where we are not ahead"]
    if claims:
        rows = [
            _row(one, claim) for one, claim in sorted(claims, key=lambda pair: (pair[1].standing != "unclear", pair[1].ratio))
        ]
        parts += ["Another is ahead, or as good, worst first:", table(COLUMNS, rows)]
    if goals:
        rows = [(one.title, goal["what"], number(goal["value"]), _bounds(goal)) for one, goal in goals]
        quick = " They are meant for the full form: small collections may miss them." if any(map(_is_quick, sections)) else ""
        parts += [f"Targets that were not met.{quick}", table(("benchmark", "what", "value", "target"), rows)]
    disturbed = sum(goal["met"] == "disturbed" for one in sections for goal in one.goals)
    if disturbed:
        parts.append(f"Of {disturbed} more targets nothing can be said, as others used the machine meanwhile.")
    if not claims and not goals:
        parts.append("Nowhere, in what was run: every ratio is larger than one, and every target was met.")
    return parts


def _is_quick(section: Section) -> bool:
    return bool(section.result) and form_of(section) == "quick"


def _bounds(goal: Mapping[str, Any]) -> str:
    return " ".join(f"{sign} {goal[key]:g}" for sign, key in (("≥", "at_least"), ("≤", "at_most")) if goal[key] is not None)


def _not_run(sections: Sequence[Section]) -> list[str]:
    missing = [one for one in sections if not one.result]
    rows = [(one.title, f"`python -m benchmarks {one.name}`", _why(one)) for one in missing]
    return ["## What was not run", table(("benchmark", "command", "why"), rows)] if rows else []


def _why(section: Section) -> str:
    return str(section.record["problem"]) if section.record else "there is no result of it"


# --- a section for each ------------------------------------------------------------------------------------------------------


def _section(section: Section, results: Path, home: Path) -> list[str]:
    module = import_module(f"benchmarks.{section.name}")
    assert section.result is not None
    assert section.record is not None
    quick = " --quick" if form_of(section) == "quick" else ""
    took = section.record.get("seconds")
    facts = [f"`python -m benchmarks {section.name}{quick}`"]
    facts += [f"took {duration(took)}, while others used {section.record['others']:.2f} cores"] if took else []
    facts += [f"**{mark}**" for mark in section.marks]
    figures = [f"![{section.title}]({FIGURES}/{name})" for name in _figures(section, results, home)]
    return [
        f"## {section.title}",
        "; ".join(facts) + ".",
        (module.__doc__ or "").strip().replace("|", "\\|"),
        *_own_ratios(section),
        *figures,
        section.shown,
    ]


def _own_ratios(section: Section) -> list[str]:
    """Give the ratios of one comparison, whose name need not be said."""
    rows = [(first, *rest) for first, _, *rest in (_row(section, claim) for claim in section.claims)]
    return [table((COLUMNS[0], *COLUMNS[2:]), rows)] if rows else []


def _figures(section: Section, results: Path, home: Path) -> list[str]:
    """Copy the figures of a benchmark, or else draw its ratios; give their names."""
    assert section.result is not None
    named = [section.result["figure"]] if "figure" in section.result else list(section.result.get("figures", ()))
    found = [Path(name).name for name in named if (results / Path(name).name).exists()]
    for name in found:
        report_figures.small(results / name, home / FIGURES / name)
    if section.claims and not found:
        found = [f"{section.name}.png"]
        report_figures.ratios(section.claims, home / FIGURES / found[0])
    return found


# --- the end -----------------------------------------------------------------------------------------------------------------


def _facts(sections: Sequence[Section]) -> list[str]:
    run = [one.record for one in sections if one.record and one.result]
    if not run:
        return []
    newest = max(run, key=lambda record: record.get("date", ""))
    machine = [(what, str(value)) for what, value in newest["machine"].items() if what != "load"]
    peers = list(newest.get("peers", {}).items())
    columns = ("benchmark", "form", "date", "revision", "sources", "took", "cores others used", "apart")
    return [
        "## Machine, versions and runs",
        table(("what", "newest run"), machine),
        table(("compared with", "version"), peers),
        "Environments of others' packages are made when they are first needed, from `requirements/`; that takes a minute or "
        "two, and belongs to what the first run took. A revision with a plus had changes that were not committed; sources is "
        "a hash of the package.",
        table(columns, [_run_row(one) for one in sections if one.result]),
        f"In all {duration(sum(record.get('seconds', 0.0) for record in run))}.",
    ]


def _run_row(section: Section) -> tuple[str, ...]:
    record, result = section.record or {}, section.result or {}
    return (
        section.title,
        form_of(section),
        record.get("date", "unknown"),
        record.get("revision", "unknown"),
        result.get("sources", "unknown"),
        duration(record["seconds"]) if "seconds" in record else "unknown",
        f"{record['others']:.2f}" if "others" in record else "unknown",
        ", ".join(section.marks),
    )
