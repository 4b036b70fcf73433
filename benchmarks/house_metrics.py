"""Numbers of a source tree, each counted by one small function: see `benchmarks.house`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from benchmarks.house_tree import AT_ONCE, DOCUMENTED, FOR_TYPES, LAZY, Function, Module, Package

MAX_LINES = 50
"""Lines of a function that fits a screen."""
MAX_COMPLEXITY = 10
"""Above it, a function has grade C."""
WINDOW = 6
"""Equal lines of code that are a repetition."""
OVERRIDE = re.compile(r"type:\s*ignore\[[^\]]*\boverride\b")
NAMED_TUPLE = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
"""Public methods of named tuples, in spite of their names."""
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

# --- lines -------------------------------------------------------------------------------------------------------------------


def lines_of_modules(package: Package) -> list[int]:
    """Lines of each module, empty ones left out."""
    return [len(module.source.splitlines()) for module in package.filled]


def lines_of_functions(package: Package) -> list[tuple[int, str]]:
    """Lines of each function without its docstring, with where it stands."""
    return [(lines(one), place(module, one)) for module in package.modules.values() for one in module.functions]


def lines(function: Function) -> int:
    """Lines of a function from ``def`` to its end, its docstring left out."""
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1 - len(_lines_of_docstring(function))


def _lines_of_docstring(node: ast.AST) -> range:
    if not isinstance(node, DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
        return range(0)
    return _lines_of(node.body[0])


def _lines_of(node: ast.stmt) -> range:
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def place(module: Module, node: ast.stmt | ast.expr) -> str:
    """Where something stands: path, line, and the name of a function."""
    return " ".join(filter(None, (f"{module.path.as_posix()}:{node.lineno}", getattr(node, "name", ""))))


# --- imports -----------------------------------------------------------------------------------------------------------------


def with_one_importer(package: Package) -> list[str]:
    """Modules that one other module imports, at whatever time."""
    importers = Counter(target for targets in package.graph(AT_ONCE, LAZY, FOR_TYPES).values() for target in targets)
    return [module.name for module in package.filled if importers[module.name] == 1]


def longest_chain(package: Package) -> list[str]:
    """The longest chain of modules each of which imports the next one at once."""
    graph, known = package.graph(AT_ONCE), dict[str, list[str]]()

    def chain(name: str, above: frozenset[str]) -> list[str]:
        if name not in known:
            below = [chain(one, above | {name}) for one in sorted(graph[name] - above)]
            known[name] = [name, *max(below, key=len, default=[])]
        return known[name]

    return max((chain(name, frozenset()) for name in graph), key=len)


def cycles(package: Package) -> list[list[str]]:
    """Sets of modules that import each other, at once or lazily: strongly connected parts of the graph (Tarjan, 1972)."""
    graph = package.graph(AT_ONCE, LAZY)
    number, lowest = dict[str, int](), dict[str, int]()
    stack, found = list[str](), list[list[str]]()

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in number:
                visit(target)
            if target in stack:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == number[name]:
            first = stack.index(name)
            found.append(sorted(stack[first:]))
            del stack[first:]

    for name in graph:
        if name not in number:
            visit(name)
    return [part for part in found if len(part) > 1]


def kernels_imported(package: Package, rooms: tuple[str, ...] = ("explorer", "cli")) -> list[str]:
    """Imports of kernels by rooms that should know none."""
    return [
        f"{module.path.as_posix()}:{one.line} {one.name or one.target}"
        for module in package.modules.values()
        if module.room in rooms
        for one in package.imports(module)
        if package.modules[one.target].room == "kernels"
    ]


# --- classes -----------------------------------------------------------------------------------------------------------------


def own_classes(package: Package) -> dict[str, list[str]]:
    """For each estimator among the public names, itself and its bases that are classes of the package."""
    root, found = package.modules[package.name], {}
    for one in package.imports(root):
        home = package.resolve(root, one.local)
        own, foreign = package.ancestors(*home) if home else ([], set())
        if "BaseEstimator" in foreign:
            found[one.local] = [name for _, name in own]
    return found


def overrides(package: Package) -> list[str]:
    """Comments that have the type checker pass over an override."""
    found = []
    for module in package.modules.values():
        lines_with = [number for number, line in enumerate(module.source.splitlines(), 1) if OVERRIDE.search(line)]
        found += [f"{module.path.as_posix()}:{number}" for number in lines_with]
    return found


# --- private names -----------------------------------------------------------------------------------------------------------


def private_accesses(package: Package) -> list[str]:
    """Uses of names with an underscore that another room defines: imports, and attributes of others than self and cls.

    The room of an attribute is that of the class or module which its receiver is seen to be, by an import, an annotation or a
    call of the class. Where this is not seen, the name tells: it is another room's if only other rooms define it.
    """
    definers = _definers(package)
    found = []
    for module in package.modules.values():
        found += [
            f"{module.path.as_posix()}:{one.line} {one.name}"
            for one in package.imports(module)
            if one.name and _is_private(one.name) and package.modules[one.target].room != module.room
        ]
        found += [
            f"{module.path.as_posix()}:{node.lineno} {ast.unparse(node)}"
            for scope, node in _attributes(module.tree, None)
            if _is_private(node.attr) and _is_foreign(package, module, scope, node, definers)
        ]
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__")) and name not in {"_", *NAMED_TUPLE}


def _definers(package: Package) -> dict[str, set[str]]:
    """The rooms that define each private name: as function, class, variable or attribute."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in package.modules.values():
        for name in _defined(module.tree):
            found[name].add(module.room)
    return found


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in ("self", "cls"):
            yield node.attr


def _attributes(node: ast.AST, scope: Function | None) -> Iterator[tuple[Function | None, ast.Attribute]]:
    """All attributes of others than self and cls, with the function in which they stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Attribute) and ast.unparse(child.value) not in ("self", "cls", "super()"):
            yield scope, child
        yield from _attributes(child, child if isinstance(child, Function) else scope)


def _is_foreign(
    package: Package, module: Module, scope: Function | None, node: ast.Attribute, definers: Mapping[str, set[str]]
) -> bool:
    receiver = node.value
    there = package.module_called(module, ast.unparse(receiver))
    if there is not None:
        return there.room != module.room
    name = _class_of_receiver(receiver, scope)
    found = package.resolve(module, name) if name else None
    if found is not None:
        homes = {one.room for one, called in package.ancestors(*found)[0] if node.attr in _defined(one.classes[called])}
        if homes:
            return module.room not in homes
    rooms = definers.get(node.attr, set())
    return bool(rooms) and module.room not in rooms


def _class_of_receiver(receiver: ast.expr, scope: Function | None) -> str | None:
    """The name of the class that a receiver is or has, as far as its function shows it."""
    if isinstance(receiver, ast.Call):
        return _class_called(receiver.func)
    if not isinstance(receiver, ast.Name):
        return None
    if scope is None:
        return receiver.id
    arguments = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
    for argument in arguments:
        if argument.arg == receiver.id and argument.annotation is not None:
            return _class_named(argument.annotation)
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and receiver.id in map(ast.unparse, node.targets):
            return _class_called(node.value.func)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == receiver.id:
            return _class_named(node.annotation)
    return receiver.id


def _class_named(annotation: ast.expr) -> str:
    """The class of an annotation, the first where there are several."""
    return re.split(r"[\[| ]", ast.unparse(annotation).strip("'\""))[0]


def _class_called(function: ast.expr) -> str | None:
    """The class of ``Class(...)`` and ``Class.of(...)``."""
    if isinstance(function, ast.Attribute):
        function = function.value
    return function.id if isinstance(function, ast.Name) else None


# --- complexity --------------------------------------------------------------------------------------------------------------


def complexity(function: Function) -> int:
    """Cyclomatic complexity (McCabe, 1976) as radon counts it: one for a function, inner ones too, and for each decision."""
    return sum(map(_decisions, ast.walk(function)))  # the function itself is the one


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.If | ast.IfExp | ast.Assert | ast.Lambda | Function):
        return 1
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return 1 + bool(node.orelse)
    if isinstance(node, ast.Try | ast.TryStar):
        return len(node.handlers) + bool(node.orelse)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return len(node.cases) if isinstance(node, ast.Match) else 0


def complex_functions(package: Package) -> list[tuple[int, str]]:
    """Functions of grade C or worse, the worst first."""
    found = [(complexity(one), place(module, one)) for module in package.modules.values() for one in module.functions]
    return sorted((one for one in found if one[0] > MAX_COMPLEXITY), reverse=True)


# --- repetition --------------------------------------------------------------------------------------------------------------


def repeated(package: Package) -> list[tuple[str, str, int]]:
    """Pairs of places with the same code of at least six lines, and how many lines; each as long as it goes."""
    code = {name: code_lines(module) for name, module in package.modules.items()}
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, listed in code.items():
        for first in range(len(listed) - WINDOW + 1):
            places[tuple(text for _, text in listed[first : first + WINDOW])].append((name, first))
    pairs = {pair for same in places.values() for pair in combinations(same, 2) if not _overlap(*pair)}
    found = []
    for one, other in sorted(pairs):
        if ((one[0], one[1] - 1), (other[0], other[1] - 1)) in pairs:
            continue
        length = 0
        while ((one[0], one[1] + length), (other[0], other[1] + length)) in pairs:
            length += 1
        at = [f"{package.modules[name].path.as_posix()}:{code[name][first][0]}" for name, first in (one, other)]
        found.append((at[0], at[1], length - 1 + WINDOW))
    return found


def _overlap(one: tuple[str, int], other: tuple[str, int]) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < WINDOW


def code_lines(module: Module) -> list[tuple[int, str]]:
    """Lines of code by number, spaces made alike: no blank lines, comments, docstrings, imports or lone punctuation."""
    passed_over = set()
    for node in ast.walk(module.tree):
        passed_over.update(_lines_of_docstring(node))
        if isinstance(node, ast.Import | ast.ImportFrom):
            passed_over.update(_lines_of(node))
    pieces: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type not in NOT_CODE and token.start[0] not in passed_over:
            pieces[token.start[0]].append(token.string)
    texts = {number: " ".join(strings) for number, strings in pieces.items()}
    return [(number, text) for number, text in sorted(texts.items()) if re.search(r"\w", text)]


# --- language ----------------------------------------------------------------------------------------------------------------


def openings(package: Package) -> Counter[str]:
    """First words of all docstrings."""
    nodes = [node for module in package.modules.values() for node in ast.walk(module.tree)]
    docstrings = [ast.get_docstring(node) for node in nodes if isinstance(node, DOCUMENTED)]
    return Counter(re.split(r"[\s,.:]", text.strip())[0] for text in docstrings if text and text.strip())
