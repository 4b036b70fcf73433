"""The report on benchmarks: made of whatever results there are, with nothing left out that speaks against us."""

import json
import math

import matplotlib.pyplot as plt
import pytest
from benchmarks import catalogue, report, report_figures
from benchmarks.claims import Claim

TITLES = {"text_to_counts": "Text to counts", "search_speed": "Search: speed", "hybrid": "Search: quality"}


def record(result, **changes):
    machine = {"cpu": "a processor", "cores": 2, "system": "a system", "python": "3.11", "load": 0.1}
    known = {"date": "2026-01-02 03:04", "revision": "abc", "seconds": 75.0, "others": 0.01, "peers": {"bm25s": "9.8.7"}}
    return {**known, "machine": machine, "result": {"quick": False, "sources": "s1", **result}, **changes}


def counting(ratio, met="yes"):
    """What `text_to_counts` would give if it were so many times as fast as scikit-learn."""
    runs = {"semascope": {"median": 1.0, "min": 1.0}, "sklearn": {"median": ratio, "min": ratio}}
    speed = {
        "cores": 2,
        "megabytes": 36.0,
        "ratio": ratio,
        "others": 0.0,
        "ratio_spread": [ratio - 0.05, ratio + 0.05],
        "megabytes_per_second": {"semascope": 36.0, "sklearn": 36.0 / ratio},
        "seconds": runs,
    }
    goal = {
        "what": "CountVectorizer / semascope, time",
        "value": ratio,
        "at_least": 8,
        "at_most": None,
        "others": 0,
        "met": met,
    }
    return {"goals": [goal], "speed": speed, "equality": []}


def searching(ours):
    """What `search_speed` would give if the index answered so many queries a second, and bm25s a thousand."""
    speed = {"bm25s": 1000.0, **dict.fromkeys(("semascope bm25", "semascope lsa"), ours)}
    speed |= dict.fromkeys(("semascope hybrid", "semascope hybrid, topics"), 5000.0)
    sizes = {"bm25s": 8.0, "semascope hybrid": 2.0, "semascope hybrid, topics": 2.0}
    facts = {"collection": "a few", "documents": 7, "words_of_a_query": 2.0, "runs": {"others": 0.0}, "goals": []}
    return {"per_second": speed, "building": sizes, "megabytes": sizes, **facts}


@pytest.fixture
def draws():
    """Drawing takes longer than all the rest, and one test sees to it."""
    return False


@pytest.fixture
def assembled(tmp_path, monkeypatch, draws):
    """Write records, make a report of them and give its text."""
    monkeypatch.setattr(catalogue, "TITLES", TITLES)
    if not draws:
        monkeypatch.setattr(report_figures, "_finish", lambda figure, *_: plt.close(figure))

    def make(**records):
        results = tmp_path / "results"
        results.mkdir()
        for name, one in records.items():
            (results / f"{name}.json").write_text(json.dumps({"name": name, **one}))
        return report.assemble(results, tmp_path).read_text()

    return make


def part(text, heading):
    """What stands under a heading."""
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_ratios_come_first_with_the_versions_of_others(assembled):
    text = assembled(text_to_counts=record(counting(9.5)), search_speed=record(searching(2000.0)))
    assert text.index("## Ratios") < text.index("## Where we are not ahead") < text.index("## Text to counts")
    assert "| 9.50 |  | Text to counts | scikit-learn |" in part(text, "Ratios")
    assert "| 2.00 to 5.00 | 4.00 | Search: speed | bm25s 9.8.7 |" in part(text, "Ratios")
    assert "| 2.00 | bm25 | 2,000 queries / s | 1,000 queries / s | bm25s 9.8.7 |" in part(text, "Search: speed")


def test_the_report_says_where_others_are_ahead_and_what_was_not_met(assembled):
    text = assembled(text_to_counts=record(counting(7.0, met="NO")), search_speed=record(searching(800.0)))
    behind = part(text, "Where we are not ahead")
    assert "| 0.800 (behind) | Search: speed | bm25 |" in behind
    assert "| Text to counts | CountVectorizer / semascope, time | 7.00 | ≥ 8 |" in behind
    assert "20 Newsgroups" not in behind  # there we are ahead, if by less than we wanted


def test_the_report_says_so_when_nobody_is_ahead(assembled):
    text = assembled(text_to_counts=record(counting(9.0)), search_speed=record(searching(2000.0)))
    assert part(text, "Where we are not ahead").strip().startswith("Nowhere, in what was run")


def test_what_was_not_run_or_failed_is_listed(assembled):
    failed = {**record({}), "problem": "failed: the disk is full"}
    del failed["result"]
    missing = part(assembled(text_to_counts=record(counting(9.0)), search_speed=failed), "What was not run")
    assert "| Search: speed | `python -m benchmarks search_speed` | failed: the disk is full |" in missing
    assert "| Search: quality | `python -m benchmarks hybrid` | there is no result of it |" in missing


def test_results_of_other_sources_machines_or_forms_are_marked(assembled):
    usual = record({"goals": [], "collections": {}, "left_out": {}, "starts": 1})
    text = assembled(
        text_to_counts=record({**counting(9.0), "sources": "s2", "quick": True}),
        search_speed=record(searching(2000.0)),
        hybrid=usual,
    )
    assert "| 9.00 |  | Text to counts † |" in part(text, "Ratios")
    assert "**other sources**; **another form**" in part(text, "Text to counts")
    assert "**" not in part(text, "Search: speed")


@pytest.mark.parametrize("draws", [True])
def test_a_benchmark_tells_how_it_was_measured_and_shows_its_tables_and_a_figure(assembled, tmp_path):
    text = part(assembled(text_to_counts=record(counting(9.0))), "Text to counts")
    assert "`python -m benchmarks text_to_counts`; took 1 min 15 s, while others used 0.01 cores." in text
    assert "Speed is measured on 20 Newsgroups, from a list of strings to the matrix" in text
    assert "| semascope | 1.000 | 1.000 | 36.0 |" in text
    (figure,) = [line for line in text.splitlines() if line.startswith("![")]
    image = tmp_path / figure.partition("(")[2].rstrip(")")
    assert 1_000 < image.stat().st_size < 100_000


def test_every_benchmark_is_in_the_catalogue():
    scripts = [path for path in report.HERE.glob("*.py") if "\ndef run(quick: bool)" in path.read_text()]
    assert sorted(path.stem for path in scripts) == sorted({**catalogue.COMPARISONS, **catalogue.PROMISES})


@pytest.mark.parametrize(
    ("claim", "ratio", "standing"),
    [
        (Claim("time", 2.0, 3.0, "other"), 1.5, "ahead"),
        (Claim("time", 3.0, 1.5, "other"), 0.5, "behind"),
        (Claim("share", 3.0, 1.5, "other", more_is_better=True), 2.0, "ahead"),
        (Claim("time", 1.0, 1.004, "other"), 1.004, "even"),
        (Claim("time", 1.0, 1.2, "other", spread=(0.9, 1.4)), 1.2, "even"),
        (Claim("time", float("inf"), 5.0, "other"), 0.0, "behind"),
        (Claim("time", -0.1, 5.0, "other"), math.nan, "unclear"),
    ],
)
def test_a_ratio_says_how_many_times_better_we_are(claim, ratio, standing):
    assert claim.ratio == pytest.approx(ratio, nan_ok=True)
    assert claim.standing == standing
