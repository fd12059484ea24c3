"""Pages of resume links, for people who open a link in a browser.

`GET` only shows a button, because programs open links too: scanners of mail, previews of chats, browsers that fetch ahead. The
button sends `POST`, which resumes the bookmark. The pages name nothing, since anyone may hold the link.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse

HEADERS = {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
"""The address contains the token."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem; }}
button {{ font: inherit; padding: .5rem 1.5rem; }}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""

# The form has no fields, so its body is empty; its action is the address of the page, with the token.
_FORM = """<p>Someone sent you this link to continue a workflow. It works once.</p>
<form method="post"><button type="submit">Continue</button></form>"""


def confirmation() -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title="Continue?", body=_FORM), headers=HEADERS)


def done() -> HTMLResponse:
    return HTMLResponse(
        _PAGE.format(title="Done", body="<p>The workflow continues. You can close this page.</p>"), headers=HEADERS
    )


def wants_page(headers: Headers) -> bool:
    """Whether a browser submitted the form, not a program."""
    return "text/html" in headers.get("accept", "")
