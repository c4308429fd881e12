"""Where f-strings with hints go: an analysis of the source of the package, without running it.

A `Hint` in an f-string is a mark until an `InputError` (or another `Message`) is made of the text. Every other text for
people must be made without hints: other exceptions, warnings, notes, documents, what is printed, and the longer texts
of options. The analysis follows marked texts through variables, and through arguments and results of functions that are
called by their names. It does not follow them through attributes of objects.
"""

import ast
from collections import defaultdict

SPELLED = {"Message", "of", "spelling", "len", "isinstance"}
"""Calls whose results are not marked, besides those of errors."""
TEXTS = {"Note", "after", "warn", "warning", "print", "Document", "Table", "table_of", "add_note"}
"""Calls that make texts for people of their arguments."""
OPTIONS = {"option", "same", "required"}
"""Calls that spell one argument, `doc`, and no other."""


def name_of(node):
    """The last name of an expression: `f` of f(), x.f() and partial(f, ...)."""
    if isinstance(node, ast.Call):
        return name_of(node.args[0]) if name_of(node.func) == "partial" and node.args else name_of(node.func)
    return getattr(node, "id", getattr(node, "attr", ""))


def leaks(trees):
    """The places "file:line" at which texts for people are made of hints; `trees` is file -> syntax tree."""
    return _Flow(trees).leaks()


class _Flow:
    """Names are (file, function or "", name). Those of `marked` are marked whoever calls their function."""

    def __init__(self, trees):
        self.functions, self.around, self.names = {}, {}, defaultdict(dict)
        self.assigned, self.results, self.calls, self.classes = [], [], [], []
        self.marked, self.given, self.errors = set(), set(), {"InputError"}
        for file, tree in trees.items():
            self.visit(tree, file, "")
        while more := {each.name for each in self.classes if self.errors & {*map(name_of, each.bases)}} - self.errors:
            self.errors |= more
        self.errors |= {name for (_, name), each in self.functions.items() if name_of(each.returns) in self.errors}

    def visit(self, node, file, function):
        """Collect what is imported, defined, assigned, returned and called in a function, or outside functions."""
        for child in ast.iter_child_nodes(node):
            inner = function
            match child:
                case ast.Call():
                    self.calls.append((file, function, child))
                    if getattr(child.func, "attr", "") in ("append", "extend") and isinstance(
                        child.func.value, ast.Name
                    ):
                        self.assigned += [(file, function, child.func.value, each) for each in child.args]
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr() if child.value:
                    for target in child.targets if isinstance(child, ast.Assign) else [child.target]:
                        tuples = isinstance(target, ast.Tuple) and isinstance(child.value, ast.Tuple)
                        pairs = zip(target.elts, child.value.elts, strict=False) if tuples else [(target, child.value)]
                        self.assigned += [(file, function, each, value) for each, value in pairs]
                case ast.For() | ast.comprehension():
                    self.assigned.append((file, function, child.target, child.iter))
                case ast.Return() | ast.Yield() if child.value:
                    self.results.append((file, function, child.value))
                case ast.ImportFrom() if child.module:
                    module = child.module.removeprefix("sigjax.").replace(".", "/") + ".py"
                    self.names[file] |= {each.asname or each.name: (module, each.name) for each in child.names}
                case ast.FunctionDef():
                    inner, self.functions[file, child.name] = child.name, child
                    if inner != function:
                        self.around[file, inner] = function
                case ast.ClassDef():
                    self.classes.append(child)
                case ast.Constant() | ast.Name():
                    continue
            self.visit(child, file, inner)

    def parts(self, node, file):
        """The names and calls that an expression is made of, and None for a hint."""
        if isinstance(node, ast.Call):
            name = name_of(node.func)
            if name == "Hint":
                yield None
                return
            if name in SPELLED | self.errors | OPTIONS:
                return
            if called := self.called(node, file):
                yield called
                if "str" not in ast.unparse(self.functions[called].returns or ast.Constant("")):
                    return  # no text is made of its arguments
            if isinstance(node.func, ast.Attribute) and hasattr(str, node.func.attr):
                yield from self.parts(node.func.value, file)
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute | ast.Compare | ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            yield from self.parts(child, file)

    def called(self, call, file):
        """The function of the package that a call names; None if it is another."""
        while name_of(call.func) == "partial" and call.args:
            call = ast.Call(call.args[0], [], [])
        if not isinstance(call.func, ast.Name):
            return None
        found = self.names[file].get(call.func.id, (file, call.func.id))
        return found if found in self.functions else None

    def holds(self, parts, file, function, *, given=False):
        """Whether any part is marked; if `given`, parameters count that some caller gives a marked text."""
        known = [self.marked, self.given] if given else [self.marked]
        scopes = [function]
        while scopes[-1]:
            scopes.append(self.around[file, scopes[-1]])
        for part in parts:
            names = [part]
            if isinstance(part, str):  # a variable of this function, of one around it, of the file, or of another file
                names = [(file, scope, part) for scope in scopes]
                if part in self.names[file]:
                    other, name = self.names[file][part]
                    names.append((other, "", name))
            if part is None or any(name in some for name in names for some in known):
                return True
        return False

    def leaks(self):
        """Follow marks until nothing new is marked; then look at what texts are made of."""
        parts_of = {}

        def parts(node, file):
            if node not in parts_of:
                parts_of[node] = [*self.parts(node, file)]
            return parts_of[node]

        size = -1
        while len(self.marked) + len(self.given) > size:
            size = len(self.marked) + len(self.given)
            for file, function, target, value in self.assigned:
                names = {(file, function, each.id) for each in ast.walk(target) if isinstance(each, ast.Name)}
                if self.holds(parts(value, file), file, function):
                    self.marked |= names
                elif self.holds(parts(value, file), file, function, given=True):
                    self.given |= names
            for file, function, value in self.results:
                if self.holds(parts(value, file), file, function):
                    self.marked.add((file, function))
            for file, function, call in self.calls:
                if called := self.called(call, file):
                    inner = self.functions[called].args
                    values = call.args[1:] if name_of(call.func) == "partial" else call.args
                    named = zip([each.arg for each in (*inner.posonlyargs, *inner.args)], values, strict=False)
                    for name, value in [*named, *((each.arg, each.value) for each in call.keywords)]:
                        if self.holds(parts(value, file), file, function, given=True):
                            self.given.add((*called, name))
        found = set()
        for file, function, call in self.calls:
            name, values = name_of(call.func), [*call.args, *(each.value for each in call.keywords)]
            if name in OPTIONS:
                first = call.args[:1] if name == "required" else call.args[1:2]
                doc = [*first, *(each.value for each in call.keywords if each.arg == "doc")]
                values = [each for each in values if each not in doc]
            is_error = name.endswith(("Error", "Exception", "Warning")) or name.startswith("Not")
            if name in TEXTS | OPTIONS or (is_error and name not in self.errors):
                if any(self.holds(parts(each, file), file, function, given=True) for each in values):
                    found.add(f"{file}:{call.lineno}")
        return found
