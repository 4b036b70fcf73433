"""make release-check: what is in dist/ installs in an environment of its own, works there, and is what this tree makes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(dist: Path) -> None:
    """Check the one wheel and the one source distribution in a folder; the first thing that is wrong ends it."""
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "again", ROOT)
        (again,) = (folder / "again").glob("*.whl")
        compare(wheel, again)
        _run(sys.executable, "-m", "venv", folder / "venv")
        python, semascope = folder / "venv" / "bin" / "python", folder / "venv" / "bin" / "semascope"
        _run(python, "-m", "pip", "install", "--quiet", wheel)
        version = _run(semascope, "--version").strip().removeprefix("semascope ")
        if f"-{version}-" not in wheel.name or sdist.name != f"semascope-{version}.tar.gz":
            sys.exit(f"{wheel.name} and {sdist.name} are not of version {version}, which the program says it is.")
        shown = _run(semascope, "demo", folder / "demo", "--topics", 5, where=folder)
        if "5 topics" not in shown:
            sys.exit(f"the demo shows no topics: {shown}")
        _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", sdist)
        _run(semascope, "topics", folder / "demo" / "model", where=folder)
    print(f"{wheel.name} and {sdist.name} install and work, and the wheel is what this tree makes.")


def compare(wheel: Path, again: Path) -> None:
    """See that two wheels hold the same files."""
    ours, theirs = _contents(wheel), _contents(again)
    unlike = sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))
    if unlike:
        sys.exit(f"{wheel.name}: not what this tree makes: {', '.join(unlike[:10])}; make it anew with make dist.")


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _run(*arguments: object, where: Path | None = None) -> str:
    ran = subprocess.run([*map(str, arguments)], cwd=where, check=False, text=True, stdout=subprocess.PIPE)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, arguments))} ended with {ran.returncode}.")
    return ran.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
