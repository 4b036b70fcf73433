"""What is released: the wheel, the source distribution, and what they say of themselves."""

import email
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import semascope

ROOT = Path(__file__).resolve().parents[2]
NAME = f"semascope-{semascope.__version__}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    (path,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("sdist")), versions=["standard"])
    with tarfile.open(path) as archive:
        yield {name.removeprefix(f"{NAME}/") for name in archive.getnames()}


@pytest.fixture(scope="module")
def metadata(wheel):
    return email.message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    package = {f"semascope/{name}" for name in files_in(ROOT / "src" / "semascope") if "__pycache__" not in name}
    assert {"semascope/py.typed", "semascope/explorer/static/index.html"} <= package
    assert {name for name in wheel.namelist() if not name.startswith(f"{NAME}.dist-info/")} == package


def test_the_wheel_brings_the_command_and_the_licence(wheel):
    assert "semascope = semascope.cli.main:main" in wheel.read(f"{NAME}.dist-info/entry_points.txt").decode()
    assert wheel.read(f"{NAME}.dist-info/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_the_source_distribution_has_what_building_testing_and_reading_need(sdist):
    pages = [path.name for path in ROOT.glob("*.md")]
    asked_for = ["LICENSE", "Makefile", "pyproject.toml", "mkdocs.yml", "CITATION.cff", *pages]
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"} <= {*asked_for}
    assert {name for name in asked_for if (ROOT / name).exists()} <= sdist
    for folder in ("src", "tests", "docs"):
        there = {f"{folder}/{name}" for name in files_in(ROOT / folder) if "__pycache__" not in name}
        assert there <= sdist, sorted(there - sdist)[:5]
    assert not [name for name in sdist if re.match(r"site/|benchmarks/(results|\.environments)/|\.venv", name)]


def test_what_the_distributions_say_of_themselves_is_so(metadata):
    assert metadata["Version"] == semascope.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    classifiers = metadata.get_all("Classifier")
    assert [one.rsplit(" ", 1)[1] for one in classifiers if "Python :: 3." in one] == ["3.11", "3.12", "3.13"]
    assert "Typing :: Typed" in classifiers
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()


def test_the_changelog_has_a_section_for_the_version():
    assert re.search(rf"^## {re.escape(semascope.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
