#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate_result.py SCHEMA DOCUMENT...: says where results depart from docs/result.schema.json.

Exit 1 when any does, or when a field of the schema has no description; 77 (skip) without jsonschema."""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)


def undescribed(schema, path):
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}"
        if "description" not in field and "$ref" not in field:
            yield here
        yield from undescribed(field, here)
    for name, field in schema.get("$defs", {}).items():
        if "description" not in field:
            yield name
        yield from undescribed(field, name)


def narrowed(schema, document):
    """The schema of the document's own kind: a complaint then names the field, not the alternative."""
    kind = document.get("schema", "").split("/")[0].removeprefix("joust-")
    if kind not in schema["$defs"]:
        return schema
    return {"$schema": schema["$schema"], "$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}


def main():
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    complaints = [f"{path}: no description" for path in undescribed(schema, "schema")]
    for name in sys.argv[2:]:
        with open(name) as file:
            document = json.load(file)
        for error in jsonschema.Draft202012Validator(narrowed(schema, document)).iter_errors(document):
            complaints.append(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
