"""What is known of each benchmark: the result of its run as the benchmark itself reads it, and what sets it apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from benchmarks import catalogue
from benchmarks.claims import Claim
from benchmarks.markdown import printed

OF_A_MACHINE = ("cpu", "cores", "system", "python", "numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Section:
    """What is known of one benchmark.

    record   what its run wrote, or nothing if it was not run
    claims   comparisons with others
    shown    its tables
    marks    what sets it apart from the rest
    """

    name: str
    record: Mapping[str, Any] | None
    claims: Sequence[Claim] = ()
    shown: str = ""
    marks: Sequence[str] = ()

    @property
    def title(self) -> str:
        return catalogue.TITLES[self.name]

    @property
    def result(self) -> Mapping[str, Any] | None:
        return self.record.get("result") if self.record else None

    @property
    def goals(self) -> Sequence[Mapping[str, Any]]:
        return self.result.get("goals", ()) if self.result else ()


def section_of(name: str, record: Mapping[str, Any] | None) -> Section:
    """Have a benchmark read its result. One that another version of it stored may have another shape."""
    if not record or "result" not in record:
        return Section(name, record)
    module = import_module(f"benchmarks.{name}")
    claims = getattr(module, "claims", lambda _: ())
    try:
        return Section(name, record, claims(record["result"]), printed(module.show, record["result"]))
    except (KeyError, TypeError):
        return Section(name, {"problem": "its result was stored by another version of it, and cannot be read"})


def marked(sections: Sequence[Section]) -> list[Section]:
    """Mark the results that were found elsewhere, by other sources or in another form than most."""
    run = [one for one in sections if one.result]
    usual = {of: Counter(map(of, run)).most_common(1)[0][0] if run else None for of in (_machine, _sources, form_of)}
    words = {_machine: "another machine or other versions", _sources: "other sources", form_of: "another form"}
    found = []
    for one in sections:
        marks = [words[of] for of in usual if one.result and of(one) != usual[of]]
        if one.result and one.result.get("sources_changed"):
            marks.append("sources changed during the run")
        found.append(replace(one, marks=marks))
    return found


def _machine(section: Section) -> str:
    return json.dumps([section.record["machine"].get(what) for what in OF_A_MACHINE] if section.record else None)


def _sources(section: Section) -> str:
    return str(section.result.get("sources")) if section.result else ""


def form_of(section: Section) -> str:
    return "quick" if section.result and section.result.get("quick") else "full"
