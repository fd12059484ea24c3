"""`holdfast schema`: print the JSON Schema of definitions."""

from __future__ import annotations

import click

from holdfast.cli.options import activities_option, output_option


@click.command(epilog="\b\nExample:\n  holdfast schema -o holdfast.schema.json")
@output_option
@activities_option
def schema(output: str | None, activity_modules: tuple[str, ...]) -> None:
    """Print the JSON Schema of Holdfast definitions, with the inputs and ports of all installed activity types.

    Editors complete and validate a document that references it as "$schema".
    """
    import json

    from holdfast.cli.documents import write_file
    from holdfast.cli.engines import make_engine
    from holdfast.cli.tables import show_json
    from holdfast.model.schema import definition_schema

    document = definition_schema(make_engine(activity_modules).documented.values())
    if output is None:
        show_json(document, indent=2)
    else:
        write_file(output, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
