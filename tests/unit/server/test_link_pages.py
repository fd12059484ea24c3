"""Pages of resume links."""

from __future__ import annotations

from starlette.datastructures import Headers

from holdfast.server.link_pages import confirmation, done, wants_page


def test_the_button_posts_to_the_address_of_the_page_without_a_body() -> None:
    page = bytes(confirmation().body)

    assert b'<form method="post"><button' in page
    assert b"<input" not in page
    assert b"<script" not in page
    assert b"<form" not in bytes(done().body)


def test_browsers_get_pages_and_programs_get_json() -> None:
    assert wants_page(Headers({"accept": "text/html,application/xhtml+xml"}))
    assert not wants_page(Headers({"accept": "application/json"}))
    assert not wants_page(Headers({"accept": "*/*"}))
    assert not wants_page(Headers({}))
