"""The layout: imports point one way only, and the public surface is a list."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import semascope

ROOT = Path(semascope.__file__).parent
LAYERS = [
    "errors", "legacy", "resources", "html", "kernels", "storage", "corpus", "engines", "training", "inference", "evaluation",
    "models", "model_selection", "retrieval", "streaming", "workflow", "explorer", "cli",
]  # fmt: skip
"""Each may import those before it."""


def layer_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def nodes_of(tree, *, typing=True):
    """All nodes of a tree; those for type checkers may be left out."""
    for node in ast.iter_child_nodes(tree):
        if typing or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from nodes_of(node, typing=typing)


def imports_of(path, *, typing=True):
    """Modules of the package that a file imports, wherever in the file; those for type checking too."""
    for node in nodes_of(ast.parse(path.read_text()), typing=typing):
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


# --- private names ---------------------------------------------------------------------------------------------------------


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def room_of(path, root=ROOT):
    return path.relative_to(root).with_suffix("").parts[0]


def members_of(tree):
    """Private names that the classes of a file give to their instances or to themselves."""
    for of_class in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in of_class.body:
            names = [getattr(node, "name", None), *(target.id for target in _targets(node) if isinstance(target, ast.Name))]
            yield from (name for name in names if name and is_private(name))
        for node in ast.walk(of_class):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
                yield from (name for name in [node.attr] if is_private(name))


def _targets(node):
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def _is_own(receiver):
    return isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")


def foreign_accesses(tree, room, members):
    """Accesses to private members of objects that belong to another room, and imports of private names from there."""
    known = set().union(*members.values())
    types = dict(_imported_names(tree))
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)):
        theirs = {a.arg for a in _arguments(function) if _room_of_type(a.annotation, types) not in (None, room)}
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr in known and getattr(node.value, "id", None) in theirs:
                yield node.lineno, ast.unparse(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not _is_own(node.value):
            if node.attr in known - members[room]:
                yield node.lineno, ast.unparse(node)
        elif (
            isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semascope.") and layer_of(node.module) != room
        ):
            yield from ((node.lineno, f"{node.module}.{a.name}") for a in node.names if is_private(a.name))


def _imported_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("semascope."):
            yield from ((alias.asname or alias.name, layer_of(node.module)) for alias in node.names)


def _arguments(function):
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _room_of_type(annotation, types):
    """The room of the class that a parameter is annotated with, optional or not; None for what is not of the package."""
    names = [node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)] if annotation is not None else []
    rooms = {types[name] for name in names if name in types}
    return rooms.pop() if len(rooms) == 1 and not {"list", "dict", "Sequence", "Mapping"} & {*names} else None


def trees_and_members(root=ROOT):
    trees = {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}
    members = {room_of(path, root): set() for path in trees}
    for path, tree in trees.items():
        members[room_of(path, root)].update(members_of(tree))
    return trees, members


def test_no_private_member_is_used_from_another_room():
    trees, members = trees_and_members()
    wrong = {
        f"{path.relative_to(ROOT)}:{line} uses {what}"
        for path, tree in trees.items()
        for line, what in foreign_accesses(tree, room_of(path), members)
    }
    assert not wrong


@pytest.mark.parametrize(
    "code",
    [
        "def f(model): return model._words",
        "def f(one): return one.model._settle()",
        "from semascope.models.base import _SEED",
        "from semascope.models.lsa import LSA\nclass A:\n    def __init__(self, space: LSA): self._words = space._words",
        "from semascope.models.lsa import LSA\nclass A:\n    _words = 1\n    def f(self, x: LSA | None): return x._words",
    ],
)
def test_private_access_across_rooms_is_noticed(code):
    tree = ast.parse(code)
    members = {"models": {"_words", "_settle"}, "cli": set(members_of(tree))}
    assert len({*foreign_accesses(tree, "cli", members)}) == 1


@pytest.mark.parametrize("code", ["class A:\n    _words = 1\ndef f(a: A): return a._words", "def f(row): return row._asdict()"])
def test_private_access_at_home_is_fine(code):
    tree = ast.parse(code)
    assert not [*foreign_accesses(tree, "cli", {"models": {"_words"}, "cli": set(members_of(tree))})]


# --- what is imported ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ["cli", "explorer"])
def test_the_product_calls_no_kernel(room):
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for module in imports_of(path)
        if layer_of(module) == "kernels"
    ]
    assert not wrong


def module_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_module_imports_itself_by_way_of_others():
    """Imports in functions count too; those for type checkers do not."""
    imported = {module_of(path): set() for path in ROOT.rglob("*.py")}
    for path in ROOT.rglob("*.py"):
        for node in nodes_of(ast.parse(path.read_text()), typing=False):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "semascope":
                parts = {f"{node.module}.{alias.name}" for alias in node.names} & imported.keys()
                imported[module_of(path)] |= parts or {node.module}
            elif isinstance(node, ast.Import):
                imported[module_of(path)] |= {alias.name for alias in node.names} & imported.keys()
    del imported["semascope"]  # it has the version, and else what is asked of it
    try:
        TopologicalSorter({name: imports - {"semascope"} for name, imports in imported.items()}).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_only_one_module_imports_scikit_learn_when_it_is_imported():
    found = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*.py"))
        for node in nodes_of(ast.parse(path.read_text()), typing=False)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn"
    ]
    assert {*found} == {"corpus/text/languages.py", "models/sklearn_imports.py"}


def test_importing_the_package_loads_nothing_heavy():
    script = "import semascope, sys; print([m for m in ('numpy', 'numba', 'polars', 'sklearn', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"
