"""A progress bar on a terminal, and silence anywhere else."""

import io
import sys

from semascope.training.callbacks import progress_bar
from semascope.training.loop import IterationInfo


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_objective_speed_and_time_left(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "160")
    with progress_bar("PLSA", max_iter=10, n_tokens=1000, show=True) as watch:
        watch(IterationInfo(1, 0.5, [-7000.0], "", lambda: None))
        watch(IterationInfo(2, 1.0, [-7000.0, -6500.0], "held-out perplexity 1,234", lambda: None))
    seen = terminal.getvalue()
    assert "PLSA" in seen
    assert "log-likelihood -6.5000 per token" in seen
    assert "tokens/s" in seen
    assert "held-out perplexity 1,234" in seen
    assert "2/10" in seen
    assert "remaining (at most)" in seen


def test_nothing_is_shown_where_there_is_no_terminal_or_no_wish(monkeypatch, capsys):
    with progress_bar("PLSA", max_iter=10, n_tokens=1000, show=True) as watch:
        assert watch is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("PLSA", max_iter=10, n_tokens=1000, show=False) as watch:
        assert watch is None
    assert capsys.readouterr() == ("", "")
