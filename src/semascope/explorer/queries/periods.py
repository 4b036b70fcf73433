"""Periods of documents: years, months or days, by the range of their dates."""

from __future__ import annotations

import polars as pl

FIELDS = ("date", "year")
"""Date fields of documents; the first present is used."""
MAX_PERIODS = 60
"""Maximum number of periods when months or days are used."""
MIN_PERIODS = 4
"""Minimum number of periods; with fewer, finer ones are candidate."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = r"(1\d{3}|20\d{2})"
_LETTERS = f"({'|'.join(MONTHS)})"


def periods_of(documents: pl.DataFrame) -> pl.Series | None:
    """Return the period of each document, as "1987", "1987-03" or "1987-03-08"; null if unknown.

    Return None if most dates cannot be parsed, or all are the same.

    Examples
    --------
    >>> periods_of(pl.DataFrame({"date": ["26-FEB-1987 15:01", "March 3, 1987", "1989-03-04"]})).to_list()
    ['1987-02-26', '1987-03-03', '1989-03-04']
    """
    name = next((name for name in FIELDS if name in documents.columns), None)
    if name is None:
        return None
    days = _parse_dates(documents[name].cast(pl.String))
    years = days.struct.field("year")
    n_given = len(documents) - documents[name].null_count()
    if years.null_count() == len(years) or len(years) - years.null_count() < n_given / 2:
        return None
    table = days.struct.unnest()
    year, month, day = (pl.col(part) for part in ("year", "month", "day"))
    finer = [pl.concat_str(parts, separator="-") for parts in ([year], [year, month], [year, month, day])]
    chosen = table.select(finer[0].alias("period"))["period"]
    for expression in finer[1:]:
        if chosen.drop_nulls().n_unique() >= MIN_PERIODS:
            break
        candidate = table.select(expression.alias("period"))["period"]
        if candidate.null_count() > chosen.null_count() + len(chosen) / 10 or candidate.drop_nulls().n_unique() > MAX_PERIODS:
            break
        chosen = candidate
    return chosen if chosen.drop_nulls().n_unique() > 1 else None


def _parse_dates(dates: pl.Series) -> pl.Series:
    """Parse year, month and day from dates such as 1987-02-26, 19870226, 26-FEB-1987 and February 26, 1987."""
    lowered = pl.col("date").str.to_lowercase()
    numbers = lowered.str.extract_groups(rf"(?:^|\D){_YEAR}[-/.]?(0[1-9]|1[0-2])[-/.]?([0-2]\d|3[01])?(?:\D|$)")
    day_first = lowered.str.extract_groups(rf"(\d{{1,2}})[ .-]+{_LETTERS}[a-z]*[ .,-]+{_YEAR}")
    month_first = lowered.str.extract_groups(rf"{_LETTERS}[a-z]*[ .]+(\d{{1,2}})(?:st|nd|rd|th)?[ ,]+{_YEAR}")
    year_only = lowered.str.extract(rf"(?:^|\D){_YEAR}(?:\D|$)")

    def part(place: dict[int, str], *more: pl.Expr) -> pl.Expr:
        forms = {0: numbers, 1: day_first, 2: month_first}
        return pl.coalesce([forms[form].struct.field(field) for form, field in place.items()] + list(more))

    month = part({0: "2", 1: "2", 2: "1"}).replace({name: f"{number:02}" for number, name in enumerate(MONTHS, 1)})
    table = (
        dates.rename("date")
        .to_frame()
        .select(
            year=part({0: "1", 1: "3", 2: "3"}, year_only),
            month=month,
            day=part({0: "3", 1: "1", 2: "2"}).str.zfill(2),
        )
    )
    return table.to_struct("day")
