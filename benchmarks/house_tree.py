"""The modules of a package as their source shows them: what they import, and the classes that they define.

Nothing is imported or run, so that the tree of another version can be read beside this one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

AT_ONCE, LAZY, FOR_TYPES = "at once", "lazy", "for types"
"""When an import happens: with its module, in a function that is called later, or never but for the type checker."""


@dataclass(frozen=True)
class Import:
    """An import of a module, or of a name from it.

    target  module of the package
    name    what is taken from it; None for the module itself
    local   what it is called here
    when    AT_ONCE, LAZY or FOR_TYPES
    line    where it stands
    """

    target: str
    name: str | None
    local: str
    when: str
    line: int


@dataclass(frozen=True, eq=False)
class Module:
    """A module of the package.

    name      semascope.models.lda
    path      its file, below the package's folder
    source    its text
    tree      its syntax
    """

    name: str
    path: Path
    source: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder or module at the top of the package that it belongs to."""
        return (*self.name.split("."), "")[1]

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing but a docstring."""
        return not self.tree.body[ast.get_docstring(self.tree) is not None :]

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Its classes by name, wherever they stand."""
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}

    @cached_property
    def functions(self) -> list[Function]:
        """Its functions, methods and the functions in these."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


@dataclass(frozen=True, eq=False)
class Package:
    """All modules of a package by name."""

    modules: Mapping[str, Module]
    _imports: dict[str, list[Import]] = field(default_factory=dict)

    @classmethod
    def read(cls, source: Path, name: str = "semascope") -> Package:
        """Read the package of a name in a ``src`` folder."""
        modules = {}
        for path in sorted((source / name).rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            modules[dotted] = Module(dotted, path.relative_to(source / name), text, ast.parse(text))
        if name not in modules:
            msg = f"{source} holds no package {name}; name the src folder of a checkout."
            raise FileNotFoundError(msg)
        return cls(modules)

    @property
    def name(self) -> str:
        return next(iter(self.modules)).split(".")[0]

    @property
    def filled(self) -> list[Module]:
        """Modules that hold more than a docstring."""
        return [module for module in self.modules.values() if not module.is_empty]

    def imports(self, module: Module) -> list[Import]:
        """Imports of modules of the package by one of them."""
        if module.name not in self._imports:
            self._imports[module.name] = list(self._imports_in(module.tree.body, AT_ONCE))
        return self._imports[module.name]

    def _imports_in(self, body: Sequence[ast.AST], when: str) -> Iterator[Import]:
        for node in body:
            if isinstance(node, ast.Import):
                known = [alias for alias in node.names if alias.name in self.modules]
                yield from (Import(one.name, None, one.asname or one.name, when, node.lineno) for one in known)
            elif isinstance(node, ast.ImportFrom):
                yield from self._names_from(node, when)
            elif (target := _imported_by_call(node)) in self.modules:
                assert isinstance(node, ast.Call)
                yield Import(target, None, "", when, node.lineno)
            elif isinstance(node, ast.If) and _is_for_types(node.test):
                yield from self._imports_in(node.body, FOR_TYPES)
                yield from self._imports_in(node.orelse, when)
            else:
                inside = LAZY if isinstance(node, Function | ast.Lambda) else when
                yield from self._imports_in(list(ast.iter_child_nodes(node)), inside)

    def _names_from(self, node: ast.ImportFrom, when: str) -> Iterator[Import]:
        for alias in node.names:
            below, local = f"{node.module}.{alias.name}", alias.asname or alias.name
            if below in self.modules:
                yield Import(below, None, local, when, node.lineno)
            elif node.module in self.modules:
                yield Import(node.module, alias.name, local, when, node.lineno)

    def graph(self, *whens: str) -> dict[str, set[str]]:
        """For each module those that it imports at these times, itself left out."""
        found = {}
        for name, module in self.modules.items():
            found[name] = {one.target for one in self.imports(module) if one.when in whens} - {name}
        return found

    # --- classes -------------------------------------------------------------------------------------------------------------

    def resolve(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Find the module of the package that defines a name which another one uses, through imports of imports."""
        seen = set()
        while (module.name, name) not in seen:
            seen.add((module.name, name))
            if name in module.classes:
                return module, name
            taken = next((one for one in self.imports(module) if one.local == name and one.name), None)
            if taken is None or taken.name is None:
                return None
            module, name = self.modules[taken.target], taken.name
        return None

    def ancestors(self, module: Module, name: str) -> tuple[list[tuple[Module, str]], set[str]]:
        """A class and its bases that are the package's own, each once; and the names of bases of others."""
        own, foreign, waiting = [], set(), [(module, name)]
        while waiting:
            here, called = waiting.pop(0)
            if (here, called) in own:
                continue
            own.append((here, called))
            for base in here.classes[called].bases:
                found = self._class_of(here, base)
                if found:
                    waiting.append(found)
                else:
                    foreign.add(ast.unparse(base).split("[")[0].split(".")[-1])
        return own, foreign

    def _class_of(self, module: Module, base: ast.expr) -> tuple[Module, str] | None:
        if isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            return self.resolve(module, base.id)
        if isinstance(base, ast.Attribute):
            there = self.module_called(module, ast.unparse(base.value))
            return self.resolve(there, base.attr) if there else None
        return None

    def module_called(self, module: Module, local: str) -> Module | None:
        """The module of the package that is called so in another one."""
        found = next((one for one in self.imports(module) if one.local == local and one.name is None), None)
        return self.modules[found.target] if found else None


def _is_for_types(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _imported_by_call(node: ast.AST) -> str:
    """The module that ``import_module("...")`` names, or nothing."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] != "import_module" or not node.args:
        return ""
    return node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
