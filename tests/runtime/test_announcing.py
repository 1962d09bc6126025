"""Nobody waits in silence while kernels are compiled, and nobody else is told."""

import subprocess
import sys

import pytest

from ncvpath import load_diabetes, ncvpath
from ncvpath.__main__ import main
from ncvpath.runtime.announcing import Announcer
from ncvpath.runtime.code_cache import ForgivingCache

LINE = "ncvpath: compiling, once on this machine: about {} s\n"


class Stored:
    """A cache of one function: what was compiled before, if anything."""

    def __init__(self, code=None, index=()):
        self.code, self._cache_file = code, self
        self._load_index = lambda: index

    def load_overload(self, *_):
        return self.code


@pytest.fixture
def announcer(monkeypatch):
    fresh = Announcer()
    for module in ("code_cache", "progress"):
        monkeypatch.setattr(f"ncvpath.runtime.{module}.ANNOUNCER", fresh)
    return fresh


def test_it_is_said_once_and_only_to_who_waits(announcer, capsys):
    caches = []
    cold = [ForgivingCache(Stored(), caches) for _ in range(3)]
    cold[0].load_overload()
    assert capsys.readouterr().err == ""
    with announcer.waiting():
        for cache in cold:
            assert cache.load_overload() is None
    assert capsys.readouterr().err == LINE.format(20)
    with announcer.waiting():
        cold[0].load_overload()
    assert capsys.readouterr().err == ""


def test_what_is_on_disk_is_no_news(announcer, capsys):
    with announcer.waiting():
        assert ForgivingCache(Stored("code"), []).load_overload() == "code"
    assert capsys.readouterr().err == ""


def test_a_part_takes_less_time(announcer, capsys):
    caches = []
    ForgivingCache(Stored("code", {"f8": 1}), caches)
    with announcer.waiting():
        ForgivingCache(Stored(), caches).load_overload()
    assert capsys.readouterr().err == LINE.format(5)


def test_progress_waits_and_a_plain_fit_does_not(announcer, monkeypatch):
    waiting = []
    monkeypatch.setattr(
        "ncvpath.path.compute",
        lambda *arguments: waiting.append(announcer._waiting) or 1 / 0,
    )
    for progress in (True, False):
        with pytest.raises(ZeroDivisionError):
            ncvpath(*load_diabetes(), progress=progress)
    assert waiting == [1, 0] and announcer._waiting == 0


@pytest.mark.parametrize("command", ["fit", "predict", "demo"])
def test_commands_wait(command, monkeypatch):
    from ncvpath import __main__ as program

    waiting = []

    def noted(*_):
        waiting.append(program.ANNOUNCER._waiting)
        return 0

    monkeypatch.setitem(program.COMMANDS, command, noted)
    monkeypatch.setattr(program, "demo_command", noted)
    assert main([command] if command != "demo" else []) == 0
    assert waiting == [1]


def test_the_heading_comes_before_the_work(tmp_path):
    script = (
        "import sys\n"
        "import ncvpath.__main__ as program\n"
        "def stop(*_, **__): raise SystemExit('stopped')\n"
        "program.ncvpath = stop\n"
        "program.main([])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], cwd=tmp_path, text=True,
        capture_output=True, timeout=60,
    )
    assert done.stdout.startswith("The diabetes study") and "stopped" in done.stderr
