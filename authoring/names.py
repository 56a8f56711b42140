"""The tree-sitter door: source text becomes the names, texts and code that stand on some of its lines.

Only this module imports tree-sitter, and only when a source is read. A source that does not parse is read as far as it
does: tree-sitter gives a tree for any bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Final

from tree_sitter import Language, Node, Parser

from authoring.grammars import GRAMMARS, NAME_NODES, Grammar

# Written by tools: nobody's names are looked for in a bundle, and a tree of it costs seconds.
LARGEST_SOURCE: Final = 2_000_000
_PROSE: Final = "\0"
_ASSIGNMENTS: Final = frozenset({"assignment_expression", "assignment_statement"})
_PASSED_OVER: Final = frozenset({"value", "type", "right", "default_value", "body", "return_type"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceNames:
    """What stands on some lines of a source, decoded as UTF-8 (undecodable bytes as ``\\xNN``).

    ``defined`` are functions, classes, methods, types, fields, module variables and attributes that are set; ``local``
    variables of functions; ``used`` names that are called or taken from an object; ``keywords`` those of arguments and
    of object literals; ``imported`` names and ``modules`` come from import statements. ``texts`` are string literals,
    each piece between placeholders by itself; adjacent literals are one. ``inside`` are the functions and classes that
    the lines lie in. ``hooks`` are what the body of a class that extends another sets; ``raised`` and ``awaited`` are
    the errors that are raised and that a test waits for. ``code`` is the lines themselves without comments, docstrings
    and strings of several words, tokens separated by one blank.
    """

    defined: frozenset[str]
    local: frozenset[str]
    parameters: frozenset[str]
    imported: frozenset[str]
    modules: frozenset[str]
    used: frozenset[str]
    keywords: frozenset[str]
    inside: frozenset[str]
    hooks: frozenset[str]
    raised: frozenset[str]
    awaited: frozenset[str]
    texts: tuple[str, ...]
    numbers: frozenset[str]
    code: tuple[str, ...]


def read_names(language: str, source: bytes, lines: Iterable[int] | None = None) -> SourceNames:
    """Return what stands on some lines (1-based; all when None) of a source in a language of ``grammars.GRAMMARS``."""
    if len(source) > LARGEST_SOURCE:
        source, lines = b"", ()
    chosen = range(1, source.count(b"\n") + 2) if lines is None else sorted(set(lines))
    walk = _Walk(grammar=GRAMMARS[language], lines=chosen)
    walk.through(_parser(language).parse(source).root_node)
    return walk.result()


@cache
def _parser(language: str) -> Parser:
    grammar = GRAMMARS[language]
    return Parser(Language(getattr(import_module(grammar.package), grammar.entry)()))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "backslashreplace")


@dataclass(kw_only=True, slots=True)
class _Walk:
    """One pass over a tree, with what has been met so far."""

    grammar: Grammar
    lines: range | list[int]
    defined: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    hooks: set[str] = field(default_factory=set)
    raised: set[str] = field(default_factory=set)
    awaited: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)
    tokens: dict[int, list[str]] = field(default_factory=dict)

    def result(self) -> SourceNames:
        return SourceNames(
            defined=frozenset(self.defined),
            local=frozenset(self.local - self.defined),
            parameters=frozenset(self.parameters),
            imported=frozenset(self.imported),
            modules=frozenset(self.modules),
            used=frozenset(self.used),
            keywords=frozenset(self.keywords),
            inside=frozenset(self.inside),
            hooks=frozenset(self.hooks),
            raised=frozenset(self.raised),
            awaited=frozenset(self.awaited),
            texts=tuple(self.texts),
            numbers=frozenset(self.numbers),
            code=tuple(
                piece for _, tokens in sorted(self.tokens.items()) for piece in " ".join(tokens).split(_PROSE) if piece
            ),
        )

    @property
    def _plain(self) -> tuple[tuple[Mapping[str, str], set[str]], ...]:
        """The fields of nodes that hold a name and nothing else, with where it is kept."""
        grammar = self.grammar
        return (
            (grammar.members, self.defined),
            (grammar.attributes, self.used),
            (grammar.keywords, self.keywords),
        )

    def through(self, root: Node) -> None:
        waiting: list[tuple[Node, bool, bool]] = [(root, False, False)]
        while waiting:
            node, in_function, in_string = waiting.pop()
            if not self._touches(node) or self._is_comment(node):
                continue
            string = node.type in self.grammar.strings
            if string or not node.children:
                self._leaf(node, in_string=in_string)
            self._named(node, in_function)
            below = (in_function or node.type in self.grammar.functions, in_string or string)
            waiting.extend((child, *below) for child in reversed(node.children))

    def _touches(self, node: Node) -> bool:
        """Say whether any of the lines is one of the node's."""
        place = bisect_left(self.lines, node.start_point[0] + 1)
        return place < len(self.lines) and self.lines[place] <= node.end_point[0] + 1

    def _on(self, node: Node) -> bool:
        """Say whether a node begins on one of the lines."""
        row = node.start_point[0] + 1
        place = bisect_left(self.lines, row)
        return place < len(self.lines) and self.lines[place] == row

    def _is_comment(self, node: Node) -> bool:
        if node.type in self.grammar.comments:
            return True
        # A string that is a statement by itself documents and does nothing.
        return (
            self.grammar.docstrings
            and node.type == "string"
            and node.parent is not None
            and node.parent.type in {"expression_statement", "module", "block"}
            and len(node.parent.children) == 1
        )

    def _leaf(self, node: Node, *, in_string: bool) -> None:
        """Keep a token of the code; a whole string is one, and its pieces are texts."""
        if node.type in self.grammar.strings:
            # Literals that stand side by side are read with the node that joins them.
            if node.parent is None or node.parent.type not in self.grammar.joined:
                self.texts += self._pieces([node])
        elif node.is_named and node.type in self.grammar.numbers and self._on(node):
            self.numbers.add(_text(node))
        if self._on(node) and not in_string:
            text = _text(node)
            # A message may be what a task has to give: what stands before and after it are two pieces of code.
            prose = node.type in self.grammar.strings and len(text.split()) > 1
            self.tokens.setdefault(node.start_point[0], []).append(_PROSE if prose else text)

    def _pieces(self, literals: Iterable[Node]) -> list[str]:
        """Return the texts of literals that follow each other: only a placeholder or a line left out parts them."""
        pieces: list[str] = []
        open_ended = False
        for literal in literals:
            for child in literal.named_children:
                if child.type in self.grammar.string_parts and self._touches(child):
                    if open_ended:
                        pieces[-1] += _text(child)
                    else:
                        pieces.append(_text(child))
                    open_ended = True
                elif child.type not in {"string_start", "string_end"}:
                    open_ended = False
        return pieces

    def _named(self, node: Node, in_function: bool) -> None:
        """Keep the names that a node is about; most nodes are about none."""
        grammar, kind = self.grammar, node.type
        for fields, where in self._plain:
            self._keep(where, node.children_by_field_name(fields[kind]) if kind in fields else ())
        self._around(node)
        if kind in grammar.imports:
            self._import(node)
        elif kind in grammar.definitions:
            self._define(node, grammar.definitions[kind])
        elif kind in grammar.variables:
            for target in node.children_by_field_name(grammar.variables[kind]):
                self._assign(target, in_function)
        elif kind in _ASSIGNMENTS:
            for target in node.children_by_field_name("left"):
                self._set_attribute(target)
        elif kind in grammar.parameter_lists:
            self._keep(self.parameters, _targets(node))
        elif kind in grammar.calls:
            self._call(node, grammar.calls[kind])
        else:
            self._bare(node)

    def _around(self, node: Node) -> None:
        """Keep what a node tells by what lies in it: literals side by side, a class's body, an error that is raised."""
        grammar, kind = self.grammar, node.type
        if kind in grammar.joined:
            self.texts += self._pieces(child for child in node.named_children if child.type in grammar.strings)
        elif kind in grammar.bodies:
            self._class_body(node)
        elif kind in grammar.raises:
            self._keep(self.raised, map(_last_name, node.named_children[:1]))
        elif kind in grammar.asserts and self._on(node):
            self.raised.add(grammar.asserts[kind])

    def _define(self, node: Node, part: str) -> None:
        name = node.child_by_field_name(part)
        if name is not None:
            self.inside.add(_text(name))
            self._keep(self.defined, [name])

    def _call(self, node: Node, part: str) -> None:
        called = node.child_by_field_name(part) if part else node.named_children[-1]
        if called is None:
            return
        self._keep(self.used, [called])
        if _text(_last_name(called)) in self.grammar.awaits:
            given = node.child_by_field_name("arguments")
            first = given.named_children[:1] if given is not None else []
            kinds = [one for part in first for one in (part.named_children if part.type == "tuple" else [part])]
            self._keep(self.awaited, map(_last_name, kinds))

    def _class_body(self, node: Node) -> None:
        """Keep what the body of a class that extends another sets: names that the other class may look for."""
        parent = node.parent
        if parent is None or all(child.type != self.grammar.bodies[node.type] for child in parent.children):
            return
        for member in node.named_children:
            plain = member.named_children[0] if member.type == "expression_statement" else member
            fields = ("left", "name", "property")
            self._keep(self.hooks, (found for part in fields for found in plain.children_by_field_name(part)))

    def _bare(self, node: Node) -> None:
        """Keep a name that says by itself what it is: ``{ name }`` of JavaScript, a token inside a macro of Rust."""
        if node.type == "shorthand_property_identifier":
            self._keep(self.keywords, [node])
        elif node.type == "identifier" and node.parent is not None and node.parent.type == "token_tree":
            self._keep(self.used, [node])

    def _keep(self, where: set[str], nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.type == "literal_element" and node.named_children:
                node = node.named_children[0]  # noqa: PLW2901 - Go wraps the keys of its literals
            if node.type in NAME_NODES and self._on(node):
                where.add(_text(node))

    def _assign(self, target: Node, in_function: bool) -> None:
        if self._set_attribute(target):
            return
        self._keep(self.local if in_function else self.defined, _targets(target))

    def _set_attribute(self, target: Node) -> bool:
        name = self.grammar.attributes.get(target.type)
        if name is None:
            return False
        self._keep(self.defined, target.children_by_field_name(name))
        return True

    def _import(self, node: Node) -> None:
        for part in ("module_name", "source", "path", "argument", "name"):
            for found in node.children_by_field_name(part):
                if self._on(found):
                    self.modules.add(_text(found).strip("\"'`"))
        self._keep(self.imported, (leaf for leaf in _leaves(node) if leaf.type in NAME_NODES))


def _last_name(node: Node) -> Node:
    """Return the node that names what is called or raised: of ``a.b(c)`` that of ``b``, else the node itself."""
    while True:
        for part in ("function", "constructor", "attribute", "property"):
            inner = node.child_by_field_name(part)
            if inner is not None:
                node = inner
                break
        else:
            return node


def _leaves(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.children:
            waiting.extend(one.children)
        else:
            yield one


def _targets(node: Node) -> Iterator[Node]:
    """Yield the names that a pattern or a list of parameters binds; types and default values bind none."""
    if node.type in NAME_NODES:
        yield node
        return
    waiting = [node]
    while waiting:
        one = waiting.pop()
        for position, child in enumerate(one.children):
            if one.field_name_for_child(position) in _PASSED_OVER and one.type != "pair_pattern":
                continue
            if child.type in NAME_NODES:
                yield child
            elif child.is_named:
                waiting.append(child)
