"""The layout: imports point one way only, and the public surface is a list."""

import ast
import subprocess
import sys
from pathlib import Path

import semascope

ROOT = Path(semascope.__file__).parent
LAYERS = [
    "errors", "machine", "markup", "storage", "kernels", "corpus", "engines", "training", "inference", "evaluation", "models",
    "judging", "retrieval", "streaming", "workflow", "explorer", "cli",
]  # fmt: skip
"""Each may import those before it."""


def layer_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path):
    """Modules of the package that a file imports, wherever in the file; those for type checking too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "semascope":
            yield from ((f"semascope.{a.name}" for a in node.names) if node.module == "semascope" else [node.module])
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "semascope")


def test_imports_point_upwards_only():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        if here in ("__init__", "__main__"):
            continue
        for module in imports_of(path):
            there = layer_of(module)
            if there != "__version__" and LAYERS.index(there) > LAYERS.index(here):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_every_folder_has_its_layer():
    found = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()} - {
        "__init__",
        "__main__",
        "__pycache__",
    }
    assert found == set(LAYERS)


def test_kernels_import_numpy_and_numba_only():
    allowed = {"numpy", "numba", "semascope", *sys.stdlib_module_names}
    for path in (ROOT / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in allowed for name in names), path


def test_importing_the_package_loads_nothing_heavy():
    script = "import semascope, sys; print([m for m in ('numpy', 'numba', 'polars', 'sklearn', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"
