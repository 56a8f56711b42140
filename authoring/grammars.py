"""Which nodes of a tree-sitter grammar define, take, use or import names: one table for each language. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Grammar:
    """A language's nodes. Where a mapping has a value, it names the field of the node that holds the name.

    ``package`` and ``entry`` are the distribution's module and its function that gives the language. ``variables`` make
    a local name inside a function and a defined one outside; ``members`` always define. ``joined`` nodes make one text
    of several literals; ``bodies`` are those of classes, each with the node by which a class says what it extends;
    ``raises`` are statements that raise an error, ``asserts`` those that raise one and the same; ``awaits`` are the
    functions of test runners whose arguments name one.
    """

    package: str
    entry: str = "language"
    comments: frozenset[str] = frozenset({"comment"})
    strings: frozenset[str]
    string_parts: frozenset[str]
    numbers: frozenset[str]
    definitions: Mapping[str, str]
    functions: frozenset[str]
    variables: Mapping[str, str]
    members: Mapping[str, str]
    parameter_lists: frozenset[str]
    attributes: Mapping[str, str]
    calls: Mapping[str, str]
    keywords: Mapping[str, str]
    imports: frozenset[str]
    joined: frozenset[str] = frozenset()
    bodies: Mapping[str, str] = field(default_factory=dict)
    raises: frozenset[str] = frozenset()
    asserts: Mapping[str, str] = field(default_factory=dict)
    awaits: frozenset[str] = frozenset()
    docstrings: bool = field(default=False)


NAME_NODES: Final = frozenset(
    {"identifier", "property_identifier", "private_property_identifier", "type_identifier", "field_identifier",
     "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)  # fmt: skip

_PYTHON: Final = Grammar(
    package="tree_sitter_python",
    strings=frozenset({"string"}),
    string_parts=frozenset({"string_content"}),
    numbers=frozenset({"integer", "float"}),
    definitions={"function_definition": "name", "class_definition": "name"},
    functions=frozenset({"function_definition", "lambda"}),
    variables={"assignment": "left", "named_expression": "name", "for_statement": "left", "for_in_clause": "left"},
    members={},
    parameter_lists=frozenset({"parameters", "lambda_parameters"}),
    attributes={"attribute": "attribute"},
    calls={"call": "function", "decorator": ""},
    keywords={"keyword_argument": "name"},
    imports=frozenset({"import_statement", "import_from_statement"}),
    joined=frozenset({"concatenated_string"}),
    bodies={"block": "argument_list"},
    raises=frozenset({"raise_statement"}),
    asserts={"assert_statement": "AssertionError"},
    awaits=frozenset({"raises", "assertRaises", "assertRaisesRegex"}),
    docstrings=True,
)
_JAVASCRIPT: Final = Grammar(
    package="tree_sitter_javascript",
    strings=frozenset({"string", "template_string"}),
    string_parts=frozenset({"string_fragment"}),
    numbers=frozenset({"number"}),
    definitions={
        "function_declaration": "name",
        "generator_function_declaration": "name",
        "class_declaration": "name",
        "method_definition": "name",
    },
    functions=frozenset(
        {"function_declaration", "generator_function_declaration", "method_definition", "arrow_function",
         "function_expression", "generator_function"}
    ),
    variables={"variable_declarator": "name"},
    members={"field_definition": "property"},
    parameter_lists=frozenset({"formal_parameters"}),
    attributes={"member_expression": "property"},
    calls={"call_expression": "function", "new_expression": "constructor"},
    keywords={"pair": "key"},
    imports=frozenset({"import_statement"}),
    bodies={"class_body": "class_heritage"},
    raises=frozenset({"throw_statement"}),
    awaits=frozenset({"toThrow", "toThrowError", "throws"}),
)  # fmt: skip


def _typescript(entry: str) -> Grammar:
    return Grammar(
        package="tree_sitter_typescript",
        entry=entry,
        strings=_JAVASCRIPT.strings,
        string_parts=_JAVASCRIPT.string_parts,
        numbers=_JAVASCRIPT.numbers,
        definitions={
            **_JAVASCRIPT.definitions,
            "abstract_class_declaration": "name",
            "interface_declaration": "name",
            "type_alias_declaration": "name",
            "enum_declaration": "name",
            "function_signature": "name",
        },
        functions=_JAVASCRIPT.functions,
        variables=_JAVASCRIPT.variables,
        members={
            "public_field_definition": "name",
            "property_signature": "name",
            "method_signature": "name",
            "enum_assignment": "name",
            "enum_body": "name",
        },
        parameter_lists=_JAVASCRIPT.parameter_lists,
        attributes=_JAVASCRIPT.attributes,
        calls=_JAVASCRIPT.calls,
        keywords=_JAVASCRIPT.keywords,
        imports=_JAVASCRIPT.imports,
        bodies=_JAVASCRIPT.bodies,
        raises=_JAVASCRIPT.raises,
        awaits=_JAVASCRIPT.awaits,
    )


_GO: Final = Grammar(
    package="tree_sitter_go",
    strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
    string_parts=frozenset({"interpreted_string_literal_content", "raw_string_literal_content"}),
    numbers=frozenset({"int_literal", "float_literal"}),
    definitions={
        "function_declaration": "name",
        "method_declaration": "name",
        "type_spec": "name",
        "type_alias": "name",
        "method_elem": "name",
    },
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    variables={"const_spec": "name", "var_spec": "name", "short_var_declaration": "left", "range_clause": "left"},
    members={"field_declaration": "name"},
    parameter_lists=frozenset({"parameter_list"}),
    attributes={"selector_expression": "field", "qualified_type": "name"},
    calls={"call_expression": "function"},
    keywords={"keyed_element": "key"},
    imports=frozenset({"import_spec"}),
)
_RUST: Final = Grammar(
    package="tree_sitter_rust",
    comments=frozenset({"line_comment", "block_comment"}),
    strings=frozenset({"string_literal", "raw_string_literal"}),
    string_parts=frozenset({"string_content"}),
    numbers=frozenset({"integer_literal", "float_literal"}),
    definitions={
        "function_item": "name",
        "function_signature_item": "name",
        "struct_item": "name",
        "enum_item": "name",
        "union_item": "name",
        "trait_item": "name",
        "type_item": "name",
        "mod_item": "name",
        "macro_definition": "name",
    },
    functions=frozenset({"function_item", "closure_expression"}),
    variables={"const_item": "name", "static_item": "name", "let_declaration": "pattern", "for_expression": "pattern"},
    members={"field_declaration": "name", "enum_variant": "name"},
    parameter_lists=frozenset({"parameters", "closure_parameters"}),
    attributes={"field_expression": "field", "scoped_identifier": "name", "scoped_type_identifier": "name"},
    calls={"call_expression": "function", "macro_invocation": "macro"},
    keywords={"field_initializer": "field"},
    imports=frozenset({"use_declaration"}),
)
GRAMMARS: Final[Mapping[str, Grammar]] = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _typescript("language_typescript"),
    "tsx": _typescript("language_tsx"),
    "go": _GO,
    "rust": _RUST,
}
